/**
 * Limits on the resources that a client can use. Most of them apply to one connection or one
 * request. Tests use smaller limits.
 */
export type Limits = {
  readonly headerBytesMax: number
  readonly headersMax: number
  readonly bodyBytesMax: number
  readonly bodyMsMax: number
  readonly headMsMax: number
  readonly handshakeMsMax: number
  readonly stallMsMax: number
  readonly takenBytesPerSecondMin: number
  readonly unauthenticatedStallMsMax: number
  readonly idleMsMax: number
  readonly streamsMax: number
  readonly connectionsMax: number
  readonly connectionsPerClientMax: number
  readonly resetsBurst: number
  readonly resetsPerSecond: number
  readonly controlsBurst: number
  readonly controlsPerSecond: number
}

export const defaultLimits: Limits = {
  /**
   * Maximum size of a request's headers, as in kube-apiserver (Go's default). Node's default of 16
   * KB is too small for the longest URLs and for the headers that some proxies add.
   */
  headerBytesMax: 1024 * 1024,
  /**
   * Maximum number of headers, far more than any client sends. Each header uses memory in addition
   * to its bytes.
   */
  headersMax: 1000,
  /**
   * Maximum size of a body, as in kube-apiserver: twice the size of the largest object that etcd
   * accepts, plus some room for the encoding.
   */
  bodyBytesMax: 3 * 1024 * 1024,
  /**
   * Time limit for a body to arrive, which equals kube-apiserver's request timeout. A client that
   * has not sent its body by then never will.
   */
  bodyMsMax: 60_000,
  /** Time limit for the headers of a request to arrive, as in kube-apiserver. */
  headMsMax: 32_000,
  /**
   * Time limit for a TLS handshake. A handshake takes two round trips, so this is enough for any
   * network.
   */
  handshakeMsMax: 30_000,
  /**
   * Maximum time for which a client can leave its response unread. An unread response occupies a
   * stream and a block of memory.
   */
  stallMsMax: 60_000,
  /**
   * A client that reads more slowly than this is treated as if it did not read at all. Otherwise it
   * could keep a response open forever by reading one byte at a time. A client with 250 open
   * responses must read 64 KB/s.
   */
  takenBytesPerSecondMin: 256,
  /**
   * Time limit for a client to read the response to an unauthenticated request. Such a response is
   * short, so only a closed window can delay it.
   */
  unauthenticatedStallMsMax: 5_000,
  /**
   * How long an idle connection stays open, as in kube-apiserver. Node's default of 5 s is too
   * short, because many clients pause longer between two requests.
   */
  idleMsMax: 90_000,
  /**
   * Maximum number of concurrent streams of a connection, as in Go's server. A client with more
   * watches opens another connection.
   */
  streamsMax: 250,
  /**
   * Maximum number of connections. This many idle connections use about a gigabyte for TLS. A
   * cluster of 5,000 nodes needs two connections for each node.
   */
  connectionsMax: 10_000,
  /**
   * Maximum number of connections from one address. The limit is per address because the user is
   * not known when a connection is opened. It is half of all connections, because whole clusters
   * may connect through one gateway.
   */
  connectionsPerClientMax: 5_000,
  /**
   * Number of stream resets allowed at once. It is twice the number of streams of a connection,
   * because a controller that restarts may reset all its streams.
   */
  resetsBurst: 500,
  /**
   * Number of further stream resets per second. A client that exceeds it is probably attacking: a
   * reset costs the client almost nothing, but the server has already worked on the request.
   */
  resetsPerSecond: 50,
  /**
   * Number of PING, SETTINGS and similar frames allowed at once. Well-behaved clients send one
   * every few seconds; attackers send thousands.
   */
  controlsBurst: 1000,
  controlsPerSecond: 100,
}

/** Returns the time after which a stalled response or connection is closed. */
export function stallMsMaxOf(
  { stallMsMax, unauthenticatedStallMsMax }: Limits,
  { isUnauthenticated }: { readonly isUnauthenticated: boolean },
): number {
  return isUnauthenticated ? Math.min(stallMsMax, unauthenticatedStallMsMax) : stallMsMax
}
