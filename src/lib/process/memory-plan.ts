/** Decides how much of the process memory requests, the cache and connections may use. */
export type MemoryPlan = {
  readonly requestBytes: number
  /** Requests that need more memory than this are rejected. */
  readonly neededBytesMax: number
  /** Maximum bytes of the cache; Infinity means no limit. */
  readonly cacheBytes: number
  readonly connections: number
}

export type MemoryLimits = {
  /**
   * The configured limits for requests and for the cache. If a limit is null, it is derived from
   * the memory of the machine or container.
   */
  readonly requestBytesMax: number | null
  readonly cacheBytesMax: number | null
  /**
   * Memory of the machine in bytes. `constrainedBytes` is the memory limit of the container in
   * which the process runs, or 0 without a limit.
   */
  readonly totalBytes: number
  readonly constrainedBytes: number
  /** Maximum size of the JavaScript heap. */
  readonly heapBytes: number
  /** Maximum number of files and sockets that the process can open. */
  readonly filesMax: number
}

const REQUEST_SHARE = 1 / 4
const REQUEST_BYTES_MIN = 64 << 20
const REQUEST_BYTES_MAX = 1 << 30
/**
 * Memory for the program, its heap, its connections, and buffers that are not collected yet. Under
 * attack, these use about 200 MB in addition to the budgets for requests and for the cache
 * (test/chaos/hostile/memory.ts).
 */
const OWN_BYTES = 192 << 20
/**
 * Maximum share of the heap for one request. The program itself needs about 60 MiB, and a heap that
 * is nearly full spends most time on garbage collection.
 */
const HEAP_SHARE = 2 / 5
const CACHE_SHARE = 2 / 5
const CACHE_BYTES_MIN = 16 << 20
/** The memory of an idle TLS connection, including its buffers. */
const CONNECTION_BYTES = 100 << 10
const CONNECTION_SHARE = 1 / 4
const CONNECTIONS_MIN = 200
const CONNECTIONS_MAX = 10_000
/**
 * Number of file descriptors that are reserved for etcd, webhooks, remote servers and logs. If the
 * limit is low, half of the descriptors are reserved.
 */
const FILES_RESERVED = 512

const within = (value: number, min: number, max: number): number =>
  Math.floor(Math.max(min, Math.min(max, value)))

export function planMemory(given: MemoryLimits): MemoryPlan {
  const { requestBytesMax, cacheBytesMax, totalBytes, constrainedBytes, heapBytes, filesMax } =
    given
  const isConstrained = constrainedBytes > 0 && constrainedBytes < totalBytes
  const usable = isConstrained ? constrainedBytes : totalBytes
  const left = Math.max(CACHE_BYTES_MIN, Math.floor((usable - OWN_BYTES) * CACHE_SHARE))
  return {
    requestBytes:
      requestBytesMax ?? within(usable * REQUEST_SHARE, REQUEST_BYTES_MIN, REQUEST_BYTES_MAX),
    neededBytesMax: heapBytes * HEAP_SHARE,
    cacheBytes: cacheBytesMax ?? (isConstrained ? left : Infinity),
    connections: Math.min(
      within((usable * CONNECTION_SHARE) / CONNECTION_BYTES, CONNECTIONS_MIN, CONNECTIONS_MAX),
      Math.floor(Math.max(filesMax - FILES_RESERVED, filesMax / 2)),
    ),
  }
}

/**
 * How the memory of a cache is divided. Objects get most of it. Each kind of data that can be
 * computed again from the objects gets at most an eighth.
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
 * Divides the cache memory of the process between `caches` caches. `usual` contains the sizes that
 * each cache has if memory is not limited. The rest of the memory is for the objects of all caches.
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
