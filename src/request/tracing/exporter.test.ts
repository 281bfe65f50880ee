import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createGrpcService } from '../../../test/support/harness/grpc-service.ts'
import { portOf } from '../../../test/support/harness/port-of.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { type Log, silent } from '../../lib/telemetry/log.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { Exporter } from './exporter.ts'

const span = {
  context: { traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 1), isSampled: true, state: '' },
  parentId: undefined,
  name: 'GET',
  kind: 'server',
  startNs: 0n,
  endNs: 1n,
  // Strings of the maximum length, in which each character takes two bytes.
  attributes: Object.fromEntries(
    Array.from({ length: 16 }, (_, at) => [`a${at}`, 'ü'.repeat(1024)]),
  ),
  link: undefined,
  error: undefined,
} as const

test('no message to a trace collector exceeds the size limit, and all spans are sent', async () => {
  const lengths: number[] = []
  const collector = createGrpcService(({ message }) => {
    lengths.push(message.length)
    // The default size limit of gRPC servers.
    if (message.length > 4 << 20) throw new Error('message larger than max')
    return Buffer.alloc(0)
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const metrics = new Metrics()
  const parts = { clock: systemClock, log: silent, metrics, resource: {} }
  const exporter = new Exporter(`127.0.0.1:${portOf(collector)}`, parts)
  for (let count = 0; count < 250; count++) exporter.add(span)
  await exporter.flush()
  assert.ok(lengths.length > 1, String(lengths))
  assert.match(metrics.print(), /^keelson_spans_exported_total 250$/m)
  assert.match(metrics.print(), /^keelson_spans_failed_total 0$/m)
  await exporter[Symbol.asyncDispose]()
  collector.close()
})

test('a span that cannot be encoded is dropped and logged once', async () => {
  let calls = 0
  const collector = createGrpcService(() => {
    calls++
    return Buffer.alloc(0)
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const metrics = new Metrics()
  const reported: string[] = []
  const log = (_level: string, message: string): void => void reported.push(message)
  const exporter = new Exporter(`127.0.0.1:${portOf(collector)}`, {
    clock: systemClock,
    log,
    metrics,
    resource: {},
  })
  // A time before 1970, which cannot be encoded.
  const odd = { ...span, startNs: -1n }
  for (const one of [odd, span, odd, span]) exporter.add(one)
  await exporter.flush()
  exporter.add(odd)
  await exporter.flush()
  assert.equal(calls, 1)
  assert.match(metrics.print(), /^keelson_spans_exported_total 2$/m)
  assert.match(metrics.print(), /^keelson_spans_failed_total 3$/m)
  assert.deepEqual(reported, [
    'a span cannot be encoded and is dropped; further encoding failures are not logged',
  ])
  await exporter[Symbol.asyncDispose]()
  collector.close()
})

test('an error response of the collector is logged with its message, and is not logged as an etcd error', async () => {
  await using stack = new AsyncDisposableStack()
  const collector = createGrpcService(() => {
    throw new Error('no room for spans')
  }).listen(0, '127.0.0.1')
  stack.defer(() => void collector.close())
  await once(collector, 'listening')
  const errors: unknown[] = []
  const log: Log = (_level, _message, fields) => errors.push(fields?.['error'])
  const parts = { clock: systemClock, log, metrics: new Metrics(), resource: {} }
  const exporter = stack.use(new Exporter(`127.0.0.1:${portOf(collector)}`, parts))
  exporter.add(span)
  await exporter.flush()
  assert.deepEqual(errors, ['no room for spans'])
})

test('the queue of spans for an unresponsive collector is limited, and accepts spans again when there is space', async () => {
  const held = Promise.withResolvers<void>()
  const collector = createGrpcService(async () => {
    await held.promise
    return Buffer.alloc(0)
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const metrics = new Metrics()
  const exporter = new Exporter(`127.0.0.1:${portOf(collector)}`, {
    clock: systemClock,
    log: silent,
    metrics,
    resource: {},
  })
  const count = (what: string): number =>
    Number(new RegExp(`^keelson_spans_${what}_total (\\d+)$`, 'm').exec(metrics.print())?.[1])
  for (let added = 0; added < 2000; added++) exporter.add(span)
  const dropped = count('dropped')
  held.resolve()
  await exporter.flush()
  exporter.add(span)
  await exporter[Symbol.asyncDispose]()
  collector.close()
  // Each span takes 33 KB.
  assert.ok(dropped > 1500, `${dropped}`)
  assert.deepEqual([count('dropped'), count('exported')], [dropped, 2001 - dropped])
})
