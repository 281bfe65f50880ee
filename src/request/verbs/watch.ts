import { toStatus } from '../../api/errors.ts'
import type { ApiResponse } from '../../api/request.ts'
import type { WatchOptions } from '../../storage/cache/open-watch.ts'
import type { ObjectReader } from '../../storage/cache/reader.ts'
import { TIMER_MS_MAX } from '../../lib/time/timers.ts'
import { negotiate, negotiateStream } from '../../objects/codec/negotiate.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { StorageError } from '../../storage/errors.ts'
import type { KeyRange } from '../../storage/keys.ts'
import type { WatchAccess } from './access.ts'
import { type ListOptions, parseListOptions, parseVersion, validateListOptions } from './options.ts'
import { framingOf, marksWithList } from './represent/framing.ts'
import { choose, parseSelectors } from './selection.ts'
import { fromStorage, type StorageOperation } from './storage-errors.ts'
import { WatchFrames } from './watch-frames.ts'
import { asksForWebSocket, overWebSocket } from './websocket-watch.ts'

export async function watch(request: ResourceRequest, access: WatchAccess): Promise<ApiResponse> {
  const { resource, http } = request
  const { reader, allowsWatchList } = access
  // As in kube-apiserver, a media type that is supported but cannot be streamed is rejected last.
  const refuseFirst = (): void => {
    parseSelectors(parseListOptions(http.query), resource.release)
    validateListOptions(http.query, 'watch', { allowsWatchList })
  }
  negotiate(http, { onCollection: true, isCustom: resource.isCustom, refuseFirst })
  const options = parseListOptions(http.query)
  const selectors = parseSelectors(options, resource.release)
  validateListOptions(http.query, 'watch', { allowsWatchList })
  const { range, matches, by } = choose(request, selectors, access.keys)
  const askedVersion =
    options.resourceVersion === '' ? 0 : parseVersion(options.resourceVersion, 'watch')
  const hasTable = !(allowsWatchList && isMarked(options) && marksWithList(resource))
  const form = negotiateStream(http, { isCustom: resource.isCustom, hasTable })
  // In two cases, each frame must be a single buffer whose memory is not reused. Messages of a
  // WebSocket wait in a Node.js stream until they are sent. The server's own components read frames
  // one by one.
  const keepsFrames = asksForWebSocket(http) || http.connection === undefined
  const framing = framingOf(form, access.forms, { query: http.query, keepsFrames })
  const { headers } = framing
  const operation: StorageOperation = { resource, name: '', verb: 'watch', askedVersion }
  const timeoutMs = timeoutOf(options, access)
  const onEnd = access.heldSelectors.hold(
    request.user.name,
    options.labelSelector.length + options.fieldSelector.length,
  )
  try {
    const start = await startOf(options, { askedVersion, range, reader, allowsWatchList })
    const watcher = await reader.watch({ range, start, matches, by, client: request.user.name })
    const sendsBookmarks = options.allowWatchBookmarks
    const frames = new WatchFrames(watcher, {
      framing,
      timeoutMs,
      sendsBookmarks,
      onFrames: access.onFrames,
      holdUnsent: (bytes) => http.holdUnsent?.(bytes) ?? true,
      onEnd,
    })
    const socketForm = form.type === 'json' || form.type === 'protobuf' ? form.type : undefined
    if (socketForm !== undefined && asksForWebSocket(http))
      return overWebSocket(http, frames, socketForm)
    return { status: 200, headers, frames }
  } catch (error) {
    onEnd()
    if (!(error instanceof StorageError)) throw error
    // From here on, errors are sent as events in the stream, even before the first event.
    return {
      status: 200,
      headers,
      stream: single(framing.error(toStatus(fromStorage(error, operation)))),
    }
  }
}

/**
 * Whether a bookmark marks the end of the initial events. If the bookmark contains an empty list,
 * the watch cannot have the form of a Table.
 */
const isMarked = ({
  sendInitialEvents,
  resourceVersion,
  allowWatchBookmarks,
}: ListOptions): boolean =>
  allowWatchBookmarks && (sendInitialEvents ?? (resourceVersion === '' || resourceVersion === '0'))

/** Returns the duration of the watch. If the duration is negative, the watch ends immediately. */
function timeoutOf(
  { timeoutSeconds = 0 }: ListOptions,
  { random, watchMsMin }: Pick<WatchAccess, 'random' | 'watchMsMin'>,
): number {
  const wantedMs = timeoutSeconds === 0 ? watchMsMin * (1 + random()) : timeoutSeconds * 1000
  return Math.min(wantedMs, TIMER_MS_MAX)
}

type WatchStartOptions = {
  readonly askedVersion: number
  readonly range: KeyRange
  readonly reader: ObjectReader
  readonly allowsWatchList: boolean
}

/**
 * Determines the start of the watch. Without a resourceVersion, a watch starts at the most recent
 * state. With version 0, it starts at any cached state. If the gate WatchList is on, a bookmark can
 * mark the end of the initial events in both cases.
 */
async function startOf(
  options: ListOptions,
  starting: WatchStartOptions,
): Promise<WatchOptions['start']> {
  const { askedVersion, range, reader, allowsWatchList } = starting
  const { sendInitialEvents, resourceVersion, allowWatchBookmarks: markEnd } = options
  const initial =
    resourceVersion === '' ? 'latest' : askedVersion === 0 ? 'any' : { atLeast: askedVersion }
  if (sendInitialEvents === undefined) {
    return askedVersion === 0
      ? { initial, markEnd: markEnd && allowsWatchList }
      : { after: askedVersion }
  }
  if (sendInitialEvents) return { initial, markEnd }
  if (askedVersion !== 0) return { after: askedVersion }
  const { revision } = await reader.list({ from: range.from, to: range.from }, initial)
  return { after: revision }
}

async function* single(frame: Buffer): AsyncGenerator<readonly Buffer[], void, void> {
  yield [frame]
}
