/** Copies bytes in both directions between two connections. */
import type { Duplex } from 'node:stream'
import { throttle } from './throttle.ts'

/**
 * How long what an end sent before it closed may take to reach the other: a client that does not
 * read must not keep its connection.
 */
const CLOSING_MS_MAX = 60_000
/**
 * How long an end that has got everything may take to close, too: to close it at once could lose
 * what the network still has.
 */
const LINGER_MS = 2_000

/**
 * Until one end closes. An error at one end closes both: it cannot be reported to anyone. What an
 * end has sent before it ended is still delivered. `bytesPerSecondMax`: for each direction; 0:
 * unlimited.
 */
export function join(client: Duplex, server: Duplex, bytesPerSecondMax: number): void {
  // A connection that is closed already has no events any more.
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

/** When everything has been written to it, for which its writing side is ended. */
function closeLater(stream: Duplex): void {
  let timer = setTimeout(() => stream.destroy(), CLOSING_MS_MAX).unref()
  stream.once('close', () => clearTimeout(timer))
  // What it sends is for nobody.
  stream.resume()
  const linger = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => stream.destroy(), LINGER_MS).unref()
  }
  if (stream.writableFinished) linger()
  else stream.once('finish', linger)
}
