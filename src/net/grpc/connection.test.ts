import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { systemClock } from '../../lib/time/clock.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { Endpoints } from './endpoints.ts'

/**
 * A multicast address. TCP cannot connect to such an address, so the kernel refuses the connection
 * immediately.
 */
const REFUSED_AT_ONCE = 'http://224.0.0.1:2379'

test('a connection that fails immediately does not crash the process', async (context) => {
  const uncaught: unknown[] = []
  const note = (error: unknown): void => void uncaught.push(error)
  process.on('uncaughtException', note)
  context.after(() => process.off('uncaughtException', note))
  const endpoints = new Endpoints({
    urls: [REFUSED_AT_ONCE],
    tls: undefined,
    clock: systemClock,
    log: silent,
  })
  const failure = await failureOf(endpoints)
  assert.match(String(failure), /224\.0\.0\.1/)
  assert.deepEqual(uncaught, [])
  endpoints.close()
})

test('a tunnel that breaks immediately does not crash the process', async (context) => {
  const uncaught: unknown[] = []
  const note = (error: unknown): void => void uncaught.push(error)
  process.on('uncaughtException', note)
  context.after(() => process.off('uncaughtException', note))
  const endpoints = new Endpoints({
    urls: ['http://127.0.0.1:1'],
    tls: undefined,
    dial: brokenTunnel,
    clock: systemClock,
    log: silent,
  })
  const failure = await failureOf(endpoints)
  assert.match(String(failure), /127\.0\.0\.1:1/)
  assert.deepEqual(uncaught, [])
  endpoints.close()
})

/**
 * Connects in a timer callback. Node then emits the error of the socket before it runs promise
 * callbacks.
 */
const failureOf = (endpoints: Endpoints): Promise<unknown> =>
  new Promise((resolve) => {
    setTimeout(() => void endpoints.connect().catch(resolve), 1)
  })

async function brokenTunnel(): Promise<PassThrough> {
  const tunnel = new PassThrough()
  // Real dialers return sockets that have an error listener, so that an error does not end the
  // process. This tunnel does the same.
  tunnel.on('error', () => undefined)
  process.nextTick(() => tunnel.destroy(new Error('broken')))
  return tunnel
}
