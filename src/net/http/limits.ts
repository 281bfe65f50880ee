/**
 * How much of the server a client may use. Each limit applies to one connection or one request.
 * Tests use smaller limits.
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
   * Maximum size of a request's headers, as in kube-apiserver (Go's default). Node's own 16 KB is
   * less than the longest URLs and the headers that some proxies add.
   */
  headerBytesMax: 1024 * 1024,
  /**
   * Maximum number of headers, far more than any client sends. Each costs memory beyond its bytes.
   */
  headersMax: 1000,
  /**
   * Maximum size of a body, as in kube-apiserver: twice the size of the largest object that etcd
   * accepts, with room for encoding.
   */
  bodyBytesMax: 3 * 1024 * 1024,
  /**
   * Time limit for a body, the same as kube-apiserver's request timeout. A client that has not sent
   * its body by then is not going to.
   */
  bodyMsMax: 60_000,
  /** Time limit for the headers of a request to arrive, as in kube-apiserver. */
  headMsMax: 32_000,
  /**
   * Time limit for a TLS handshake. It takes two round trips, for which no network needs this long.
   */
  handshakeMsMax: 30_000,
  /**
   * How long a client may read nothing of its response. Meanwhile it occupies a stream and a block
   * of memory for nothing.
   */
  stallMsMax: 60_000,
  /**
   * A client that reads more slowly counts as stalled. Otherwise it could keep a response forever
   * by reading a byte now and then. 250 concurrent responses need 64 KB/s.
   */
  takenBytesPerSecondMin: 256,
  /**
   * Limit for the response to an unauthenticated request. Such a response is short, so only a
   * window of 0 can delay it.
   */
  unauthenticatedStallMsMax: 5_000,
  /**
   * How long an idle connection stays open, as in kube-apiserver. Node's own 5 s is shorter than
   * the pause between two requests of many clients.
   */
  idleMsMax: 90_000,
  /**
   * Maximum number of streams of a connection, as in Go's server. A client with more watches opens
   * another connection.
   */
  streamsMax: 250,
  /**
   * Maximum number of connections. When idle, they take about a gigabyte for TLS. A cluster of
   * 5,000 nodes needs two connections for each node.
   */
  connectionsMax: 10_000,
  /**
   * Maximum number of connections from one address, because the user is not known yet. It is half
   * of all connections, because whole clusters may connect through one gateway.
   */
  connectionsPerClientMax: 5_000,
  /**
   * Resets allowed at once: all streams of a connection, twice over, as a restarting controller may
   * do.
   */
  resetsBurst: 500,
  /**
   * Further resets allowed per second. More is an attack, because a reset costs the client nothing
   * and the server the work.
   */
  resetsPerSecond: 50,
  /**
   * PING, SETTINGS and similar frames allowed at once. Clients send them every few seconds, floods
   * by the thousand.
   */
  controlsBurst: 1000,
  controlsPerSecond: 100,
}

/** Returns how long a response, or a whole connection, may stall. */
export function stallMsMaxOf(
  { stallMsMax, unauthenticatedStallMsMax }: Limits,
  { isUnauthenticated }: { readonly isUnauthenticated: boolean },
): number {
  return isUnauthenticated ? Math.min(stallMsMax, unauthenticatedStallMsMax) : stallMsMax
}
