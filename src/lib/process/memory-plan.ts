/** How the memory of the process is divided between what clients hold, and what is cached. */
export type MemoryPlan = {
  readonly requestBytes: number
  /** Infinity: no ceiling. */
  readonly cacheBytes: number
  readonly connections: number
}

export type MemoryLimits = {
  /** As configured; null: by what the process has. */
  readonly requestBytesMax: number | null
  readonly cacheBytesMax: number | null
  /** Of the machine, and what a container allows; 0: it allows any. */
  readonly totalBytes: number
  readonly constrainedBytes: number
  /** Files and sockets that the process may have open. */
  readonly filesMax: number
}

const REQUEST_SHARE = 1 / 4
const REQUEST_BYTES_MIN = 64 << 20
const REQUEST_BYTES_MAX = 1 << 30
/**
 * The program, its heap, connections, and buffers that wait for the collector: under hostile loads
 * some 200 MB beyond the two budgets (test/chaos/hostile/memory.ts).
 */
const OWN_BYTES = 192 << 20
const CACHE_SHARE = 2 / 5
const CACHE_BYTES_MIN = 16 << 20
/** An idle TLS connection, with its buffers. */
const CONNECTION_BYTES = 100 << 10
const CONNECTION_SHARE = 1 / 4
const CONNECTIONS_MIN = 200
const CONNECTIONS_MAX = 10_000
/**
 * Of the files that may be open, for what is not a client's connection: etcd, webhooks, remote
 * servers, logs. Half of them where there are few.
 */
const FILES_RESERVED = 512

const within = (value: number, min: number, max: number): number =>
  Math.floor(Math.max(min, Math.min(max, value)))

export function planMemory(given: MemoryLimits): MemoryPlan {
  const { requestBytesMax, cacheBytesMax, totalBytes, constrainedBytes, filesMax } = given
  const isConstrained = constrainedBytes > 0 && constrainedBytes < totalBytes
  const usable = isConstrained ? constrainedBytes : totalBytes
  const left = Math.max(CACHE_BYTES_MIN, Math.floor((usable - OWN_BYTES) * CACHE_SHARE))
  return {
    requestBytes:
      requestBytesMax ?? within(usable * REQUEST_SHARE, REQUEST_BYTES_MIN, REQUEST_BYTES_MAX),
    cacheBytes: cacheBytesMax ?? (isConstrained ? left : Infinity),
    connections: Math.min(
      within((usable * CONNECTION_SHARE) / CONNECTION_BYTES, CONNECTIONS_MIN, CONNECTIONS_MAX),
      Math.floor(Math.max(filesMax - FILES_RESERVED, filesMax / 2)),
    ),
  }
}

/**
 * The parts of a cache: each of those that can be made again gets an eighth at most, the objects
 * the rest.
 */
export type CacheBudgets = {
  readonly pastBytes: number
  readonly historiesBytes: number
  readonly decodedBytes: number
  readonly memoBytes: number
  readonly objectBytes: number
}

const PART_SHARE = 1 / 8

/**
 * `usual`: what each has where there is no ceiling. `caches`: how many share the memory; each has
 * such parts, and the objects of all together what is left.
 */
export function planCache(
  cacheBytes: number,
  usual: Omit<CacheBudgets, 'objectBytes'>,
  caches = 1,
): CacheBudgets {
  const part = (bytes: number): number =>
    Math.floor(Math.min(bytes, (cacheBytes * PART_SHARE) / caches))
  const parts = {
    pastBytes: part(usual.pastBytes),
    historiesBytes: part(usual.historiesBytes),
    decodedBytes: part(usual.decodedBytes),
    memoBytes: part(usual.memoBytes),
  }
  const others = parts.pastBytes + parts.historiesBytes + parts.decodedBytes + parts.memoBytes
  return { ...parts, objectBytes: cacheBytes - caches * others }
}
