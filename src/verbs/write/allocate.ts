/** The step that gives an object what it needs of finite pools: addresses and node ports of Services. */
import { ApiError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Belongings, Taken, Taking } from '../../registry/belongings.ts'
import { type ResourceRequest, viewOf } from '../../registry/resource.ts'
import type { Current } from '../../storage/store.ts'
import { StorageError } from '../../storage/errors.ts'
import type { WriteAccess } from '../access.ts'

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
  return allocation.take({ object, before: current?.object, namespace, isDryRun: options.isDryRun })
}

/** Undefined where objects of the resource need none. */
export const heldAllocation = ({ belongings }: Pick<WriteAccess, 'belongings'>): HeldAllocation | undefined =>
  belongings && new HeldAllocation(belongings)

/** What a write was given. It stays with the object if the write succeeds; what earlier attempts were given goes back. */
export class HeldAllocation {
  readonly #belongings: Belongings
  #taken: Taken | undefined

  constructor(belongings: Belongings) {
    this.#belongings = belongings
  }

  /** The object with what it needs. The next call begins by giving back what the one before took. */
  async take(taking: Taking): Promise<KubeObject> {
    await this.#undo()
    this.#taken = await this.#belongings.take(taking)
    return this.#taken.object
  }

  /** The write was made. */
  async keep(): Promise<void> {
    await this.#taken?.keep()
    this.#taken = undefined
  }

  /** The write failed. One that may have been made all the same keeps it: a repair finds out what nobody has. */
  async giveBack(error: unknown): Promise<void> {
    if (mayBeDone(error)) this.#taken = undefined
    else await this.#undo()
  }

  async #undo(): Promise<void> {
    const taken = this.#taken
    this.#taken = undefined
    await taken?.undo()
  }
}

function mayBeDone(error: unknown): boolean {
  const cause = error instanceof ApiError ? error.cause : error
  return cause instanceof StorageError && cause.ambiguous
}
