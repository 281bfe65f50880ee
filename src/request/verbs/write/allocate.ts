/** The step that allocates from finite pools: cluster IPs and node ports of Services. */
import { ApiError } from '../../../api/errors.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Allocator, Allocation, AllocationRequest } from '../../../registry/allocations.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { Current } from '../../../storage/store.ts'
import { StorageError } from '../../../storage/errors.ts'

type AllocateOptions = {
  readonly request: ResourceRequest
  readonly options: { readonly isDryRun: boolean }
  readonly allocation: HeldAllocation | undefined
}

/**
 * Allocates IPs and ports for a write to the object itself, or to a subresource such as scale. A
 * write to /status allocates nothing.
 */
export async function allocate(
  { request, options, allocation }: AllocateOptions,
  object: KubeObject,
  current: Current<KubeObject> | undefined,
): Promise<KubeObject> {
  if (allocation === undefined || (request.subresource !== '' && request.view === undefined))
    return object
  const { namespace, context } = request
  return allocation.allocate({
    object,
    before: current?.object,
    namespace,
    isDryRun: options.isDryRun,
    ...(context.isLarge ? { inParts: (work) => context.inParts(work) } : {}),
  })
}

/**
 * The allocations of a write. If the write succeeds, its allocations belong to the stored object.
 * The allocations of earlier attempts are released.
 */
export class HeldAllocation {
  readonly #allocator: Allocator
  #allocation: Allocation | undefined
  #isOffered = false

  constructor(allocator: Allocator) {
    this.#allocator = allocator
  }

  /**
   * Returns the object with its allocations. The allocations of the previous call are released
   * first.
   */
  async allocate(wanted: AllocationRequest): Promise<KubeObject> {
    await this.#undo()
    this.withdraw()
    this.#allocation = await this.#allocator.allocate(wanted)
    return this.#allocation.object
  }

  /**
   * Must be called just before the object is stored. If a write before this call has an unknown
   * outcome, it is a write by an admission plugin, and the object itself has not been stored.
   */
  offer(): void {
    this.#isOffered = true
  }

  /** Must be called if the object was not stored because another writer was first. */
  withdraw(): void {
    this.#isOffered = false
  }

  /** Must be called if the write succeeded. */
  async keep(): Promise<void> {
    await this.#allocation?.keep()
    this.#allocation = undefined
  }

  /**
   * Must be called if the write failed. If its outcome is unknown, the allocations are retained,
   * and the repair loop releases those that are not used.
   */
  async giveBack(error: unknown): Promise<void> {
    if (this.#isOffered && mayBeDone(error)) this.#allocation = undefined
    else await this.#undo()
  }

  async #undo(): Promise<void> {
    const allocation = this.#allocation
    this.#allocation = undefined
    await allocation?.undo()
  }
}

function mayBeDone(error: unknown): boolean {
  const cause = error instanceof ApiError ? error.cause : error
  return cause instanceof StorageError && cause.ambiguous
}
