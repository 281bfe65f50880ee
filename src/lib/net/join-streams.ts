/** Copies bytes in both directions between two connections. */
import type { Duplex } from 'node:stream'
import { throttle } from './throttle.ts'

/**
 * Time limit for delivering what an end sent before it closed, so that a client that does not read
 * cannot keep its connection open.
 */
const CLOSING_MS_MAX = 60_000
/**
 * How long an end has to close after it has received everything. Closing it immediately could lose
 * bytes that are still in transit.
 */
const LINGER_MS = 2_000

/**
 * Copies data between two connections until one of them closes. An error of either connection
 * closes both. Data that one end sent before it closed is still delivered to the other end.
 * `bytesPerSecondMax` applies to each direction; 0 means no limit.
 */
export function join(client: Duplex, server: Duplex, bytesPerSecondMax: number): void {
  // A connection that is already closed emits no more events, so the other connection must be
  // closed here.
  if (client.destroyed || server.destroyed) {
    client.destroy()
    server.destroy()
    return
  }
  copy(client, server, bytesPerSecondMax)
  copy(server, client, bytesPerSecondMax)
}

function copy(one: Duplex, other: Duplex, bytesPerSecondMax: number): void {
  const slowed = bytesPerSecondMax === 0 ? undefined : throttle(bytesPerSecondMax)
  one.on('error', () => other.destroy())
  one.on('close', () => {
    if (one.readableEnded) return closeLater(other)
    slowed?.destroy()
    other.destroy()
  })
  other.on('close', () => slowed?.destroy())
  if (slowed === undefined) one.pipe(other)
  else one.pipe(slowed).pipe(other)
}

/**
 * Destroys a stream when everything is written to it, or after a timeout. The caller has already
 * ended the writable side.
 */
function closeLater(stream: Duplex): void {
  let timer = setTimeout(() => stream.destroy(), CLOSING_MS_MAX).unref()
  stream.once('close', () => clearTimeout(timer))
  // Data that the stream still receives is discarded.
  stream.resume()
  const linger = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => stream.destroy(), LINGER_MS).unref()
  }
  if (stream.writableFinished) linger()
  else stream.once('finish', linger)
}
