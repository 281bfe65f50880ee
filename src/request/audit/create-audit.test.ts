import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { createAudit } from './create-audit.ts'
import type { AuditEvent } from './event.ts'

test('batches of audit events are divided by size even if events are not truncated', async (t) => {
  const lengths: number[] = []
  const hook = createServer((request, response) => {
    lengths.push(Number(request.headers['content-length']))
    request.resume().on('end', () => void response.end('{}'))
  })
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  t.after(() => hook.close())
  const address = hook.address()
  assert.ok(typeof address === 'object' && address !== null)
  const kubeconfig = {
    server: `http://127.0.0.1:${address.port}/`,
    tlsServerName: '',
    isInsecure: false,
    certificateAuthority: '',
    proxyUrl: '',
    credentials: { kind: 'none' },
    clientCertificate: null,
    impersonate: null,
  } as const
  const mode = {
    kind: 'batch',
    bufferEventsMax: 9,
    batchEventsMax: 3,
    waitMs: 60_000,
    throttle: null,
  } as const
  const audit = await createAudit(
    {
      policy: { rules: [], omitStages: [], omitsManagedFields: false },
      log: null,
      webhook: { mode, truncate: null, kubeconfig, initialBackoffMs: 1 },
    },
    {
      metrics: new Metrics(),
      clock: systemTime,
      random: () => 0,
      log: assert.fail,
      requestBytes: 1 << 30,
    },
  )
  const json = JSON.stringify({ a: 'ä'.repeat(3 << 20) })
  for (let at = 0; at < 3; at++) {
    const event: AuditEvent = {
      level: 'Request',
      printedBytes: 0,
      json,
      print: (into) => into.text(json),
      pieces: () => [Buffer.from(json)],
      truncated: () => json,
      line: () => '',
    }
    assert.equal(audit?.store(event), true)
  }
  await audit?.[Symbol.asyncDispose]()
  assert.equal(lengths.length, 3)
  assert.ok(lengths.every((length) => length > 6 << 20 && length < 10 << 20))
})
