/** Copies bytes in both directions between two connections. */
import { type Duplex, pipeline } from 'node:stream'
import { throttle } from './throttle.ts'

/** Until one end closes. An error at one end closes both: it cannot be reported to anyone. `bytesPerSecondMax`: for each direction; 0: unlimited. */
export function join(client: Duplex, server: Duplex, bytesPerSecondMax: number): void {
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
    if (bytesPerSecondMax === 0) one.pipe(other)
    else pipeline(one, throttle(bytesPerSecondMax), other, () => undefined)
  }
}
