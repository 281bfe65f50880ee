/**
 * Checks whether a closed component has released its resources: handles that keep the process
 * alive, open file descriptors (which also reveal unref'ed handles), and memory that a garbage
 * collection cannot free.
 */
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export type Footprint = {
  readonly handles: ReadonlyMap<string, number>
  /**
   * Number of open file descriptors. The key is the path of the file, or the type of the resource.
   */
  readonly descriptors: ReadonlyMap<string, number>
  /** Memory that JavaScript objects and buffers use. */
  readonly memoryBytes: number
}

/**
 * Types of resources that come and go all the time. One of them is the timer of this check. They
 * are leaks only if their number grows.
 */
const TRANSIENT = new Set(['Immediate', 'TickObject', 'FSReqPromise', 'FSReqCallback', 'CloseReq'])

export function measureFootprint(): Footprint {
  collectGarbage()
  const handles = process.getActiveResourcesInfo().filter((kind) => !TRANSIENT.has(kind))
  const memory = process.memoryUsage()
  return {
    handles: count(handles),
    descriptors: count(listDescriptors()),
    memoryBytes: memory.heapUsed + memory.external,
  }
}

/**
 * Waits until all resources that were not in the earlier footprint are released, but not longer
 * than the timeout. Returns the resources that are still in use, or an empty list if nothing leaks.
 */
export async function findLeaks(
  before: Footprint,
  {
    memoryBytesMax,
    timeoutMs = 5_000,
  }: { readonly memoryBytesMax: number; readonly timeoutMs?: number },
): Promise<string[]> {
  const until = performance.now() + timeoutMs
  for (;;) {
    const leaks = compare(before, measureFootprint(), memoryBytesMax)
    if (leaks.length === 0 || performance.now() > until) return leaks
    await sleep(100)
  }
}

function compare(before: Footprint, now: Footprint, memoryBytesMax: number): string[] {
  const leaks = [...more(before.handles, now.handles), ...more(before.descriptors, now.descriptors)]
  const grown = now.memoryBytes - before.memoryBytes
  if (grown > memoryBytesMax)
    leaks.push(`memory has grown by ${grown} bytes; at most ${memoryBytesMax} are allowed`)
  return leaks
}

function more(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): string[] {
  const grown = [...now].filter(([kind, open]) => open > (before.get(kind) ?? 0))
  return grown.map(
    ([kind, open]) => `${open} ${kind} are open, ${before.get(kind) ?? 0} were before`,
  )
}

function count(kinds: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('this Node has no gc()')
  collect()
}

/** Path of a file that Node keeps open for child processes. Its file descriptors are ignored. */
const NOWHERE = '/dev/null'

/**
 * Lists the open file descriptors. On systems without /proc, the list is empty, and only handles
 * are compared.
 */
function listDescriptors(): string[] {
  const folder = '/proc/self/fd'
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    try {
      const target = readlinkSync(`${folder}/${name}`).replace(/:\[\d+\]$/, '')
      return target === NOWHERE ? [] : [target]
    } catch {
      return [] // The descriptor of the listing itself is already closed.
    }
  })
}
