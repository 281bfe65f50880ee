/**
 * What a client may use of the server. Each limit is for one connection or one request; tests make
 * them smaller.
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
   * As kube-apiserver (Go's default); Node's own 16 KB is less than the longest URLs and what some
   * proxies add.
   */
  headerBytesMax: 1024 * 1024,
  /** Far more than any client sends; each costs memory beyond its bytes. */
  headersMax: 1000,
  /**
   * As kube-apiserver: twice the size of the largest object that etcd takes, with room for
   * encoding.
   */
  bodyBytesMax: 3 * 1024 * 1024,
  /**
   * A client that does not send its body in this time is not going to. As long as kube-apiserver's
   * request timeout.
   */
  bodyMsMax: 60_000,
  /** As kube-apiserver: the headers of a request have 32 seconds to come. */
  headMsMax: 32_000,
  /** A handshake is two round trips; some networks are slow, none is that slow. */
  handshakeMsMax: 30_000,
  /**
   * A client that takes nothing of its answer for this long holds a stream and a block of memory
   * for nothing.
   */
  stallMsMax: 60_000,
  /**
   * A client that reads less counts as stalled: a byte now and then would keep an answer for ever.
   * 250 answers at once need 64 KB/s.
   */
  takenBytesPerSecondMin: 256,
  /**
   * For an answer to a request that is not authenticated: it is short, and only a window of 0 can
   * delay it.
   */
  unauthenticatedStallMsMax: 5_000,
  /**
   * As kube-apiserver. Node's own 5 s is less than the pause between two requests of many clients.
   */
  idleMsMax: 90_000,
  /** As Go's server. A client with more watches opens another connection. */
  streamsMax: 250,
  /** About a gigabyte of idle TLS connections; a cluster of 5,000 nodes needs two for each. */
  connectionsMax: 10_000,
  /**
   * By address, before it is known who it is: half of all, since whole clusters may come through
   * one gateway.
   */
  connectionsPerClientMax: 5_000,
  /**
   * All streams of a connection may be reset twice over at once, as a restarting controller does, …
   */
  resetsBurst: 500,
  /**
   * … and then this many a second. More is an attack: a reset costs the client nothing and us the
   * work.
   */
  resetsPerSecond: 50,
  /** Pings and settings, which clients send every few seconds and floods send by the thousand. */
  controlsBurst: 1000,
  controlsPerSecond: 100,
}

/** How long an answer, or a whole connection, may stall. */
export function stallMsMaxOf(
  { stallMsMax, unauthenticatedStallMsMax }: Limits,
  { isUnauthenticated }: { readonly isUnauthenticated: boolean },
): number {
  return isUnauthenticated ? Math.min(stallMsMax, unauthenticatedStallMsMax) : stallMsMax
}
