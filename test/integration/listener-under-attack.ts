/**
 * A listener with a handler, as the target of attacks. The test fails if the listener logs an
 * error.
 */
import assert from 'node:assert/strict'
import type { Handler } from '../../src/api/request.ts'
import type { Limits } from '../../src/net/http/limits.ts'
import { Listener } from '../../src/net/http/listener.ts'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import { until } from '../support/harness/until.ts'

const certificate = createSelfSigned('attacked', ['127.0.0.1'], Date.now())

export type AttackedListener = AsyncDisposable & {
  readonly listener: Listener
  readonly port: number
  /** Waits until this number of connections is open. */
  readonly connections: (count: number) => Promise<void>
  /** Errors that were logged at the end of connections. Each has the form `CODE message`. */
  readonly connectionErrors: readonly string[]
}

export async function startListener(
  handler: Handler,
  limits: Partial<Limits> = {},
): Promise<AttackedListener> {
  const complaints: string[] = []
  const connectionErrors: string[] = []
  const listener = new Listener({
    handler,
    tls: certificate,
    limits,
    log: (level, message, fields) => {
      if (level === 'error') complaints.push(`${message} ${JSON.stringify(fields)}`)
      if (message === 'HTTP/2 connection error')
        connectionErrors.push(`${String(fields?.['code'])} ${String(fields?.['error'])}`)
    },
  })
  await listener.listen(0, '127.0.0.1')
  return {
    listener,
    port: listener.port,
    connections: async (count) => {
      await until(() => listener.openConnections === count, `${count} connections are open`)
    },
    connectionErrors,
    [Symbol.asyncDispose]: async () => {
      await listener[Symbol.asyncDispose]()
      assert.deepEqual(complaints, [])
    },
  }
}
