import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemTime } from '../../lib/time/timers.ts'
import { FLUSH_MS_MAX } from './backend.ts'
import { BatchBackend } from './batch.ts'
import { BlockingBackend } from './blocking.ts'
import type { AuditEvent } from './event.ts'
import type { ReportLost } from './lost.ts'
import { WebhookSink } from './webhook-sink.ts'

const event = (json: string): AuditEvent => ({
  level: 'Metadata',
  printedBytes: 0,
  json,
  print: (into) => into.text(json),
  pieces: () => [Buffer.from(json)],
  truncated: () => json,
  line: () => json,
})

/** A webhook that does not respond until it is released. */
function hanging({ charactersMax = Infinity } = {}) {
  const waits: number[] = []
  const lost: string[] = []
  const answers: PromiseWithResolvers<void>[] = []
  const late: (() => void)[] = []
  let isDisposed = false
  const reportLost: ReportLost = (plugin, events, why) =>
    void lost.push(`${plugin} ${events.map(({ json }) => json).join(',')}: ${why}`)
  const after = (ms: number, run: () => void) => {
    waits.push(ms)
    late.push(run)
    return { close: () => undefined }
  }
  const client = {
    deliver: (_: string, signal?: AbortSignal) => {
      const answer = Promise.withResolvers<void>()
      answers.push(answer)
      signal?.addEventListener('abort', () => answer.reject(new Error('context canceled')))
      return answer.promise
    },
    [Symbol.dispose]: () => void (isDisposed = true),
  }
  const time = { ...systemTime, after }
  const sink = new WebhookSink(client, {
    initialBackoffMs: 1,
    timers: time,
    random: () => 0,
    reportLost,
    charactersMax,
  })
  return { sink, lost, waits, answers, late, time, reportLost, isDisposed: () => isDisposed }
}

const turn = () => new Promise(setImmediate)

test('audit events are lost when the pending events of a slow webhook reach the limit', async () => {
  const { sink, lost, answers } = hanging({ charactersMax: 5 })
  const first = sink.store([event('aaa')])
  const second = sink.store([event('b'), event('cc')])
  assert.equal(await sink.store([event('d')]), false)
  assert.deepEqual(lost, ['webhook d: the webhook is too slow: too many events are being sent'])
  answers[0]?.resolve()
  assert.equal(await first, true)
  const third = sink.store([event('e')])
  answers[1]?.resolve()
  answers[2]?.resolve()
  assert.deepEqual(await Promise.all([second, third]), [true, true])
})

test('shutdown waits for audit events that are being sent', async () => {
  const { sink, lost, waits, answers, reportLost, isDisposed } = hanging()
  const backend = new BlockingBackend(sink, { isStrict: true, eventBytesMax: Infinity, reportLost })
  const stored = backend.process(event('a'), 'now')
  const stopping = backend[Symbol.asyncDispose]()
  await turn()
  assert.deepEqual(waits, [FLUSH_MS_MAX])
  assert.equal(await sink.store([event('b')]), false)
  assert.ok(!isDisposed())
  answers[0]?.resolve()
  assert.equal(await stored, true)
  await stopping
  assert.ok(isDisposed())
  assert.deepEqual(lost, ['webhook b: audit backend shut down'])
})

test('audit events that are still being sent when the shutdown timeout expires are lost', async () => {
  const { sink, lost, late, isDisposed } = hanging()
  const stored = sink.store([event('a')])
  const stopping = sink.close(FLUSH_MS_MAX)
  late[0]?.()
  assert.equal(await stored, false)
  await stopping
  assert.ok(isDisposed())
  assert.deepEqual(lost, ['webhook a: context canceled'])
})

test('even if audit events are buffered, shutdown waits for the audit webhook only until one timeout expires', async () => {
  const { sink, lost, waits, late, time, reportLost } = hanging()
  const backend = new BatchBackend(sink, {
    mode: { kind: 'batch', bufferEventsMax: 9, batchEventsMax: 2, waitMs: 60_000, throttle: null },
    batchesMax: 1,
    eventBytesMax: Infinity,
    batchBytesMax: Infinity,
    bufferBytes: Infinity,
    time,
    reportLost,
  })
  for (const json of ['a', 'b', 'c', 'd']) backend.process(event(json))
  await turn()
  const stopping = backend[Symbol.asyncDispose]()
  late.at(-1)?.()
  await turn()
  late.at(-1)?.()
  await stopping
  assert.deepEqual(waits.slice(-2), [FLUSH_MS_MAX, 0])
  assert.deepEqual(lost, ['webhook a,b: context canceled', 'webhook c,d: audit backend shut down'])
})
