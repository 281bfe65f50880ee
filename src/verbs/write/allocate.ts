/** The step that gives an object what it needs of finite pools: addresses and node ports of Services. */
import { ApiError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Allocator, Allocation, AllocationRequest } from '../../registry/allocations.ts'
import { type ResourceRequest, viewOf } from '../../registry/resource.ts'
import type { Current } from '../../storage/store.ts'
import { StorageError } from '../../storage/errors.ts'

type Allocating = {
  readonly request: ResourceRequest
  readonly options: { readonly isDryRun: boolean }
  readonly allocation: HeldAllocation | undefined
}

/** Only a write of the object itself allocates, or one that changes it through a view: one through /status does not. */
export async function allocate(
  { request, options, allocation }: Allocating,
  object: KubeObject,
  current: Current<KubeObject> | undefined,
): Promise<KubeObject> {
  if (allocation === undefined || (request.subresource !== '' && viewOf(request) === undefined)) return object
  const { namespace } = request
  return allocation.allocate({ object, before: current?.object, namespace, isDryRun: options.isDryRun })
}

/** What a write was given. It stays with the object if the write succeeds; what earlier attempts were given goes back. */
export class HeldAllocation {
  readonly #allocator: Allocator
  #allocation: Allocation | undefined
  #isOffered = false

  constructor(allocator: Allocator) {
    this.#allocator = allocator
  }

  /** The object with what it needs. The next call begins by giving back what the one before took. */
  async allocate(wanted: AllocationRequest): Promise<KubeObject> {
    await this.#undo()
    this.withdraw()
    this.#allocation = await this.#allocator.allocate(wanted)
    return this.#allocation.object
  }

  /** The object is about to be stored. A write that admission makes may fail without an answer before that, and it is none of the object. */
  offer(): void {
    this.#isOffered = true
  }

  /** It was not stored: somebody else was first. */
  withdraw(): void {
    this.#isOffered = false
  }

  /** The write was made. */
  async keep(): Promise<void> {
    await this.#allocation?.keep()
    this.#allocation = undefined
  }

  /** The write failed. One that may have been made all the same keeps it: a repair finds out what nobody has. */
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
