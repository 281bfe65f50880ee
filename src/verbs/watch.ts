import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, internalError, toStatus } from '../api/errors.ts'
import type { KubeObject } from '../api/object.ts'
import { type ApiResponse, firstHeader } from '../api/request.ts'
import type { WatchEvent } from '../cache/event.ts'
import type { WatchOptions } from '../cache/reader.ts'
import type { Watcher } from '../cache/watch.ts'
import { printOrdered } from '../codec/json.ts'
import { negotiateJson } from '../codec/negotiate.ts'
import { printWire } from '../codec/object.ts'
import { apiVersionOf, type Resource, type ResourceRequest } from '../registry/resource.ts'
import { StorageError } from '../storage/errors.ts'
import type { WatchAccess } from './access.ts'
import { jsonHeaders } from './answer.ts'
import { parseListOptions, parseVersion, validateListOptions } from './options.ts'
import { choose } from './selection.ts'
import { fromStorage, type Operation } from './storage-errors.ts'

/** A watch without a time of its own ends by chance between this and twice this, so that not all come back at once. */
const WATCH_MS_MIN = 1_800_000
/** The longest time that a timer of Node's can wait: 24 days. */
const TIMER_MS_MAX = 2 ** 31 - 1
/** Time between bookmarks; as upstream. */
const BOOKMARK_MS = 60_000
/** A last bookmark comes this long before the end, so that the client can go on from there. */
const LAST_BOOKMARK_MS = 2_000

export async function watch(request: ResourceRequest, { keys, reader, random }: WatchAccess): Promise<ApiResponse> {
  const { resource, http } = request
  negotiateJson(firstHeader(http.headers, 'accept'), { isStream: true })
  const options = parseListOptions(http.query)
  const { range, matches } = choose(request, options, keys)
  validateListOptions(http.query, 'watch')
  const askedVersion = options.resourceVersion === '' ? 0 : parseVersion(options.resourceVersion, 'watch')
  const start: WatchOptions['start'] = askedVersion === 0 ? { initial: 'any' } : { after: askedVersion }
  const operation: Operation = { resource, name: '', verb: 'watch', askedVersion }
  const { timeoutSeconds = 0, allowWatchBookmarks: sendsBookmarks } = options
  const wantedMs = timeoutSeconds === 0 ? WATCH_MS_MIN * (1 + random()) : timeoutSeconds * 1000
  const timeoutMs = Math.min(wantedMs, TIMER_MS_MAX)
  try {
    const watcher = await reader.watch({ range, start, matches })
    const stream = frames(watcher, { operation, resource, timeoutMs, sendsBookmarks, signal: http.signal })
    return { status: 200, headers: jsonHeaders, stream }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    // What goes wrong from here on is told inside the stream, even before its first event.
    return { status: 200, headers: jsonHeaders, stream: single(errorFrame(error, operation)) }
  }
}

type Framing = {
  readonly operation: Operation
  readonly resource: Resource
  readonly timeoutMs: number
  readonly sendsBookmarks: boolean
  readonly signal: AbortSignal
}

/** The watcher is closed when the client goes away or the time is up: then what it yields comes to an end. */
function frames(watcher: Watcher, framing: Framing): AsyncIterable<readonly Buffer[]> {
  const { signal, timeoutMs } = framing
  const end = new AbortController()
  const close = (): void => {
    watcher.close()
    end.abort()
  }
  signal.addEventListener('abort', close, { once: true })
  const timer = setTimeout(close, Math.max(timeoutMs, 0))
  if (signal.aborted || timeoutMs < 0) close()
  if (framing.sendsBookmarks) void requestBookmarks(watcher, timeoutMs, end.signal)
  return (async function* () {
    try {
      for await (const events of watcher) {
        yield events.map((event) => frameOf(event, framing))
      }
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', close)
      close()
    }
  })()
}

/** Never fails: it ends when the watch does. */
async function requestBookmarks(watcher: Watcher, timeoutMs: number, signal: AbortSignal): Promise<void> {
  let leftMs = timeoutMs
  while (leftMs > LAST_BOOKMARK_MS && !signal.aborted) {
    const waitMs = Math.min(BOOKMARK_MS, leftMs - LAST_BOOKMARK_MS)
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    leftMs -= waitMs
    if (!signal.aborted) watcher.requestBookmark()
  }
}

function frameOf(event: WatchEvent, { operation, resource }: Framing): Buffer {
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return event.frame()
    case 'BOOKMARK':
      return bookmarkFrame(resource, event.revision)
    case 'ERROR':
      return errorFrame(event.error, operation)
  }
}

/** An object of the kind with nothing in it but the version that the client may go on from. */
function bookmarkFrame(resource: Resource, revision: number): Buffer {
  const object: KubeObject = {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { resourceVersion: `${revision}` },
  }
  const { bytes } = printWire(object, resource.shape)
  return Buffer.concat([Buffer.from('{"type":"BOOKMARK","object":'), bytes.subarray(0, -1), Buffer.from('}\n')])
}

function errorFrame(error: unknown, operation: Operation): Buffer {
  const told =
    error instanceof ApiError
      ? error
      : error instanceof StorageError
        ? fromStorage(error, operation)
        : internalError('the watch failed', error)
  return Buffer.from(`{"type":"ERROR","object":${printOrdered(toStatus(told))}}\n`)
}

async function* single(frame: Buffer): AsyncGenerator<readonly Buffer[], void, void> {
  yield [frame]
}
