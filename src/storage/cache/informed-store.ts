/**
 * A store whose writes resolve only after an informer of the server has received them. It is used
 * for objects that affect requests (roles, bindings, admission webhooks and policies), so that a
 * write applies to the client's next request.
 */
import { ApiError } from '../../api/errors.ts'
import type { Revision } from '../engine.ts'
import { isCode } from '../errors.ts'
import type { ObjectStore } from '../store.ts'
import type { Informer } from './informer.ts'

export type InformedResource = Pick<Informer<unknown>, 'revision' | 'reach' | 'latest'>

/** Wraps a store. `informer` returns undefined if no informer follows the resource. */
export function informedStore(
  store: ObjectStore,
  informer: () => InformedResource | undefined,
): ObjectStore {
  const write = <T>(change: Change<T>): Promise<T> => informedWrite(informer(), change)
  return {
    get: (key, options) => store.get(key, options),
    create: (key, value, options) =>
      write({
        run: () => store.create(key, value, options),
        revisionOf: (revision) => revision,
        signal: options?.signal,
      }),
    update: (key, options, decide) =>
      write({
        run: () => store.update(key, options, decide),
        // If the object did not exist and nothing was written, `revision` is that of the database
        // and not of a change of this resource.
        revisionOf: ({ outcome, revision, previous }) =>
          outcome === 'unchanged' && previous === undefined ? undefined : revision,
        signal: options.signal,
      }),
    deleteUnreadable: (key, decode, options) =>
      write({
        run: () => store.deleteUnreadable(key, decode, options),
        revisionOf: () => 0,
        signal: options?.signal,
      }),
  }
}

type Change<T> = {
  readonly run: () => Promise<T>
  /** Returns the revision of the change, or undefined if nothing was changed. */
  readonly revisionOf: (result: T) => Revision | undefined
  readonly signal: AbortSignal | undefined
}

async function informedWrite<T>(
  informer: InformedResource | undefined,
  { run, revisionOf, signal }: Change<T>,
): Promise<T> {
  if (informer === undefined) return run()
  const before = informer.revision
  try {
    const result = await run()
    const revision = revisionOf(result)
    // If the revision is above the informer's revision before the write, wait for this revision.
    // Otherwise nothing had to be written, or etcd was restored from a backup, so wait for the
    // latest revision.
    if (revision !== undefined)
      await (revision > before ? informer.reach(revision, signal) : informer.latest(signal))
    return result
  } catch (error) {
    // The write failed because the object already exists or has already been deleted. An earlier
    // write of this client, which timed out, may have done this, so also wait for that write.
    if (isOutdatedWrite(error)) await informer.latest(signal).catch(() => undefined)
    throw error
  }
}

const isOutdatedWrite = (error: unknown): boolean =>
  isCode(error, 'exists') ||
  isCode(error, 'missing') ||
  (error instanceof ApiError && error.reason === 'NotFound')
