/**
 * Deletes the objects of a remote API server in a namespace, by requests that this server forwards.
 */
import type { Fields } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import { messageOf } from '../../lib/errors.ts'
import { systemTimers } from '../../lib/time/timers.ts'
import {
  askRemote,
  failureText,
  FAILURE,
  NOT_ALLOWED,
  NOT_FOUND,
  type RemoteAnswer,
} from '../remote/ask-remote.ts'
import type { RemoteResource } from '../remote/remote-content.ts'
import { readPage, type RemoteHead } from '../remote/remote-heads.ts'

/** Number of objects that are processed in one pass. */
const PAGE_ITEMS = 500

export type RemoteLeft = {
  readonly count: number
  readonly finalizers: ReadonlyMap<string, number>
  readonly fault?: string
}

type DeletedResource = Pick<RemoteResource, 'group' | 'version' | 'plural' | 'verbs'>
type DeleteRemoteOptions = {
  readonly handle: Handler
  /** Whether the namespace is still being deleted, and was not replaced by a new one. */
  readonly isEnding: () => Promise<boolean>
  readonly signal: AbortSignal
}

const nothing: RemoteLeft = { count: 0, finalizers: new Map() }
const inBackground = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' }

/** Deletes the objects of one resource. Never rejects: errors are part of the result. */
export async function deleteRemote(
  resource: DeletedResource,
  namespace: string,
  options: DeleteRemoteOptions,
): Promise<RemoteLeft> {
  const { group, version, plural, verbs } = resource
  const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}`
  const send = (
    method: string,
    to: string,
    more: { readonly body?: Fields; readonly query?: Query } = {},
  ): Promise<RemoteAnswer> =>
    askRemote(options.handle, {
      method,
      path: to,
      signal: options.signal,
      timers: systemTimers,
      ...more,
    })
  const list = async (): Promise<RemoteList> => {
    const response = await send('GET', path, { query: { limit: `${PAGE_ITEMS}` } })
    // The resource or its server was removed in the meantime, so no object is left.
    if (response.status === NOT_FOUND || response.status === NOT_ALLOWED)
      return { items: [], count: 0 }
    if (response.status >= FAILURE) throw new Error(failureText(path, response))
    const items: RemoteHead[] = []
    const { remaining } = await readPage(response.bytes, (head) => items.push(head))
    return { items, count: items.length + remaining }
  }
  try {
    const before = await list()
    if (before.count === 0) return nothing
    const deletes = verbs.includes('deletecollection')
      ? [path]
      : before.items.map(({ name }) => `${path}/${name}`)
    for (const one of deletes) {
      // Check after the list has been read and before each write, because a slow remote server can
      // delay the writes for a long time.
      const isEnding = await options.isEnding()
      options.signal.throwIfAborted()
      if (!isEnding) return { ...nothing, fault: 'the namespace is no longer being deleted' }
      const response = await send('DELETE', one, { body: inBackground })
      if (response.status < FAILURE || response.status === NOT_FOUND) continue
      return { ...nothing, fault: failureText(one, response) }
    }
    const { items, count } = await list()
    if (count === 0) return nothing
    const finalizers = finalizersOf(items)
    const fault = `unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${plural}`
    return finalizers.size > 0 ? { count, finalizers } : { count, finalizers, fault }
  } catch (error) {
    return { ...nothing, fault: messageOf(error) }
  }
}

type Query = { readonly [name: string]: string }
type RemoteList = { readonly items: readonly RemoteHead[]; readonly count: number }

function finalizersOf(items: readonly RemoteHead[]): Map<string, number> {
  const finalizers = new Map<string, number>()
  for (const { finalizers: own } of items)
    for (const finalizer of own) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
  return finalizers
}
