/**
 * A client that maintains a local copy of objects with a watch. It starts with the existing
 * objects, follows changes, and loses its connection from time to time. It then resumes from the
 * last revision that it received. As behind a load balancer, it can resume on any replica. If the
 * server cannot resume the watch, the client starts again.
 */
import type { WatchEvent } from '../../../src/storage/cache/event.ts'
import type { Watcher } from '../../../src/storage/cache/watch.ts'
import { sleep, type Timers } from '../../../src/lib/time/timers.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import type { KeyRange } from '../../../src/storage/keys.ts'
import { oddValues, oddSelector, readFrame, readWire } from './form.ts'
import type { Model } from './model.ts'
import type { Random } from './random.ts'
import type { Replay } from './replay.ts'
import type { Replica } from './replica.ts'

/** Maximum time that a client stays connected. */
const STAY_MS_MAX = 4_000
/**
 * Numbers of events. A client picks one of them and disconnects after at most this many events,
 * usually in the middle of a batch.
 */
const STAY_EVENTS_MAX = [20, 100, 1000]
/** Interval at which the server sends bookmarks to a connected client. */
const BOOKMARK_MS = 250
/** Pause between two attempts to watch. */
const RETRY_MS = 50

export type WatchingClient = {
  readonly replicas: readonly Pick<Replica, 'name' | 'reader'>[]
  readonly replay: Replay
  readonly range: KeyRange
  /** Whether the client selects only objects with odd tags. */
  readonly isFiltered: boolean
  /** Returns the model, in which the client records faults. */
  readonly model: () => Model
  readonly random: Random
  readonly time: Timers
}

/** Watches until the signal is aborted. */
export async function keepWatching(client: WatchingClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const watcher = await begin(client, signal)
      await follow(client, watcher, signal)
    } catch (error) {
      if (!(error instanceof StorageError)) {
        client
          .model()
          .noteFault(
            `watcher ${client.replay.name}: ${error instanceof Error ? error.stack : String(error)}`,
          )
      } else if (error.code === 'compacted') client.replay.forget()
      else if (error.code !== 'unavailable' && error.code !== 'too-new') {
        client
          .model()
          .noteFault(
            `watcher ${client.replay.name} failed unforeseen: ${error.code}: ${error.message}`,
          )
      }
      await sleep(client.time, RETRY_MS)
    }
  }
}

async function begin(
  { replicas, replay, range, isFiltered, random }: WatchingClient,
  signal: AbortSignal,
): Promise<Watcher> {
  const { name, reader } = random.pick(replicas)
  const matches = isFiltered ? oddSelector(random.chance(0.5) ? 'label' : 'field') : undefined
  const by = isFiltered && random.chance(0.5) ? random.pick(oddValues) : undefined
  if (replay.canResume) {
    replay.note(`resumes on ${name} after ${replay.revision}`)
    return reader.watch({ range, start: { after: replay.revision }, matches, by })
  }
  replay.note(`starts again on ${name}`)
  if (random.chance(0.5)) {
    const watcher = await reader.watch({
      range,
      start: { initial: 'latest', markEnd: true },
      matches,
      by,
    })
    // If the client disconnects at this point, it has received nothing, so its copy stays
    // unchanged.
    if (!signal.aborted) replay.restart()
    return watcher
  }
  const { revision, items } = await reader.list(range, 'latest', { matches, by })
  replay.reset(
    items.map((item) => readWire(item.key, item.wire())),
    revision,
  )
  return reader.watch({ range, start: { after: revision }, matches, by })
}

async function follow(
  client: WatchingClient,
  watcher: Watcher,
  signal: AbortSignal,
): Promise<void> {
  const { random, replay, time } = client
  const close = (): void => watcher.close()
  const leaving = time.after(random.between(0, STAY_MS_MAX), close)
  const bookmarks = time.every(BOOKMARK_MS, () => watcher.requestBookmark())
  signal.addEventListener('abort', close)
  if (signal.aborted) close()
  const isSlow = random.chance(0.1)
  let left = random.between(1, random.pick(STAY_EVENTS_MAX))
  try {
    for await (const events of watcher) {
      for (const event of events.slice(0, left)) apply(event, replay)
      left -= events.length
      if (left <= 0) break
      if (isSlow) await sleep(time, random.between(0, 300))
    }
  } finally {
    leaving.close()
    bookmarks.close()
    signal.removeEventListener('abort', close)
  }
}

/**
 * Applies an event with the fields that a client reads from the frame. The other fields of the
 * event must agree with the frame.
 */
function apply(event: WatchEvent, replay: Replay): void {
  if (event.type === 'BOOKMARK') {
    replay.apply({ type: 'BOOKMARK', revision: event.revision })
    return
  }
  const { type, item } = readFrame(event.item.key, event.frame())
  if (type !== event.type || item.revision !== event.revision) {
    replay.fault(
      `a frame has ${type} of ${item.revision}, but the event ${event.type} of ${event.revision}`,
    )
  }
  replay.apply({ type: event.type, item })
}
