import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { systemTime, type Timer } from '../../lib/time/timers.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { Audit } from './audit.ts'
import type { AuditBackend, EventSink } from './backend.ts'
import { BatchBackend, type BatchOptions } from './batch.ts'
import { BlockingBackend } from './blocking.ts'
import type { AuditEvent } from './event.ts'
import { LogFile } from './log-file.ts'
import { type Lines, LogSink } from './log-sink.ts'
import type { ReportLost } from './lost.ts'
import { addAuditMetrics } from './metrics.ts'

const event = (json: string, level: AuditEvent['level'] = 'Request'): AuditEvent => ({
  level,
  printedBytes: 0,
  json,
  print: (into) => into.text(json),
  pieces: () => [Buffer.from(json)],
  truncated: () => `short of ${json.length}`,
  line: () => `line of ${json}`,
})

function collector() {
  const lost: string[] = []
  const reportLost: ReportLost = (plugin, events, why) =>
    void lost.push(`${plugin} ${events.map(({ json }) => json.slice(0, 9)).join(',')}: ${why}`)
  return { lost, reportLost }
}

/** A sink that does not finish writing batches until a test releases them. */
class HeldSink implements EventSink {
  readonly isOrdered = true
  readonly batches: string[][] = []
  readonly #letGo: (() => void)[] = []
  isClosed = false

  store(events: readonly AuditEvent[]): Promise<boolean> {
    this.batches.push(events.map(({ json }) => json))
    return new Promise((resolve) => this.#letGo.push(() => resolve(true)))
  }

  letGo(): void {
    this.#letGo.shift()?.()
  }

  async close(): Promise<void> {
    this.isClosed = true
    while (this.#letGo.length > 0) this.letGo()
  }
}

const linesIn = (bytes: Buffer): string[] => {
  const text = bytes.toString()
  assert.ok(text.endsWith('\n'))
  return text.slice(0, -1).split('\n')
}

/** Resolves when the condition holds. If it never holds, the timeout of the test applies. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(1)
}

test('audit events that arrive during a write are written together by the next write, in order', async () => {
  const written: string[][] = []
  const begun: PromiseWithResolvers<void>[] = []
  const lines: Lines = {
    append: (batch) => {
      written.push(linesIn(batch))
      const writing = Promise.withResolvers<void>()
      begun.push(writing)
      return writing.promise
    },
    appendLong: () => assert.fail(),
    close: () => Promise.resolve(),
  }
  const { lost, reportLost } = collector()
  const sink = new LogSink(lines, {
    format: 'json',
    reportLost,
    timers: systemTime,
    waitingBytesMax: Infinity,
  })
  const store = (json: string): Promise<boolean> => sink.store([event(json)], 'now')
  const results = [store('a'), store('b')]
  await until(() => written.length === 1)
  assert.deepEqual(written, [['a', 'b']])
  results.push(store('c'), store('d'))
  begun[0]?.resolve()
  assert.equal(await results[0], true)
  await until(() => written.length === 2)
  assert.deepEqual(written, [
    ['a', 'b'],
    ['c', 'd'],
  ])
  begun[1]?.reject(new Error('ENOSPC: no space left on device, write'))
  assert.deepEqual(await Promise.all(results), [true, true, false, false])
  assert.deepEqual(lost, ['log c,d: ENOSPC: no space left on device, write'])
  const legacy = new LogSink(
    { ...lines, append: async (batch) => void written.push(linesIn(batch)) },
    { format: 'legacy', reportLost, timers: systemTime, waitingBytesMax: Infinity },
  )
  await legacy.store([event('d')], 'soon')
  assert.deepEqual(written.at(-1), ['line of d'])
})

test('writing an empty batch of audit events ends immediately, and later batches are written as usual', async () => {
  const written: string[][] = []
  const lines: Lines = {
    append: async (batch) => void written.push(linesIn(batch)),
    appendLong: () => assert.fail(),
    close: async () => undefined,
  }
  const sink = new LogSink(lines, {
    format: 'json',
    reportLost: assert.fail,
    timers: systemTime,
    waitingBytesMax: Infinity,
  })
  assert.equal(await sink.store([], 'now'), true)
  assert.equal(
    await Promise.race([sink.store([event('a')], 'now'), sleep(2_000, 'it hangs')]),
    true,
  )
  assert.deepEqual(written, [['a']])
})

test('a line that exceeds the maximum size of a log file is lost, and other lines are written', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-audit-sink-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'audit.log')
  const { lost, reportLost } = collector()
  const old = { filesMax: 0, daysMax: 0, isCompressed: false, wallMs: Date.now, log: assert.fail }
  const file = await LogFile.create({
    path,
    megabytesMax: 1,
    wallMs: Date.now,
    monotonicMs: systemTime.monotonicMs,
    old,
  })
  const sink = new LogSink(file, {
    format: 'json',
    reportLost,
    timers: systemTime,
    waitingBytesMax: Infinity,
  })
  const long = 'ä'.repeat((1 << 20) / 2)
  const results = ['a', long, 'b', 'c'].map((json) => sink.store([event(json)], 'now'))
  assert.deepEqual(await Promise.all(results), [true, false, true, true])
  assert.equal(await sink.store([event('d'), event(long), event('e')], 'now'), false)
  await sink.close()
  assert.equal(readFileSync(path, 'utf8'), 'a\nb\nc\nd\ne\n')
  const why = 'log äääääääää: write length 1048577 exceeds maximum file size 1048576'
  assert.deepEqual(lost, [why, why])
})

test('many audit events are divided into several writes', async () => {
  const written: number[] = []
  const append = async (bytes: Buffer): Promise<void> => void written.push(bytes.length)
  const { lost, reportLost } = collector()
  const lines = { append, appendLong: () => assert.fail(), close: () => Promise.resolve() }
  const sink = new LogSink(lines, {
    format: 'json',
    reportLost,
    timers: systemTime,
    waitingBytesMax: Infinity,
  })
  const long = 'x'.repeat(1 << 16)
  const results = Array.from({ length: 101 }, () => sink.store([event(long)], 'now'))
  assert.ok((await Promise.all(results)).every(Boolean))
  assert.equal(written.length, 51)
  assert.ok(written.every((length) => length <= 2 * (long.length + 1)))
  assert.deepEqual(lost, [])
})

test('the objects of a long audit event are written without being copied, and all events are written in order', async () => {
  const written: (string | readonly Buffer[])[] = []
  const lines: Lines = {
    append: async (batch) => void written.push(...linesIn(batch)),
    appendLong: async (pieces) => void written.push(pieces),
    close: () => Promise.resolve(),
  }
  const sink = new LogSink(lines, {
    format: 'json',
    reportLost: assert.fail,
    timers: systemTime,
    waitingBytesMax: Infinity,
  })
  const object = Buffer.alloc(1 << 20, 'x')
  const long: AuditEvent = {
    ...event(''),
    printedBytes: object.length,
    print: () => assert.fail(),
    pieces: () => [Buffer.from('{"requestObject":'), object, Buffer.from('}')],
  }
  const results = [event('a'), long, event('b')].map((one) => sink.store([one], 'now'))
  assert.ok((await Promise.all(results)).every(Boolean))
  const [first, pieces, last] = written
  assert.deepEqual([first, last, written.length], ['a', 'b', 3])
  assert.ok(Array.isArray(pieces) && pieces[1] === object)
  assert.equal(Buffer.concat(pieces).toString(), `{"requestObject":${object.toString()}}\n`)
})

test('an audit event whose objects are too large is truncated before it is serialized', () => {
  const sink = new HeldSink()
  const backend = new BlockingBackend(sink, {
    isStrict: false,
    eventBytesMax: 100,
    reportLost: assert.fail,
  })
  void backend.process({ ...event('x'), printedBytes: 100, pieces: () => assert.fail() }, 'now')
  assert.deepEqual(sink.batches, [['short of 1']])
})

test('audit events are buffered until their total size reaches `fullBytes`', async () => {
  const written: string[][] = []
  const lines: Lines = {
    append: async (batch) => void written.push(linesIn(batch)),
    appendLong: () => assert.fail(),
    close: () => Promise.resolve(),
    fullBytes: 6,
  }
  const { lost, reportLost } = collector()
  const waits: (() => void)[] = []
  const after = (_: number, run: () => void): Timer => {
    waits.push(run)
    return { close: () => undefined }
  }
  const sink = new LogSink(lines, {
    format: 'json',
    reportLost,
    timers: { ...systemTime, after },
    waitingBytesMax: Infinity,
  })
  const results = ['a', 'b', 'c', 'd'].map((json) => sink.store([event(json)], 'soon'))
  assert.deepEqual(await Promise.all(results.slice(0, 3)), [true, true, true])
  assert.deepEqual([written, waits.length], [[['a', 'b', 'c']], 1])
  // No request waits for event e. Therefore, the sink collects further events before it writes.
  results.push(sink.store([event('e')], 'soon'))
  await new Promise((resolve) => void setTimeout(resolve, 20))
  assert.equal(written.length, 1)
  waits[0]?.()
  assert.ok((await Promise.all(results)).every(Boolean))
  assert.deepEqual(written.at(-1), ['d', 'e'])
  // An event for which a request waits is written immediately, together with the events before it.
  results.push(sink.store([event('f')], 'soon'), sink.store([event('g')], 'now'))
  assert.ok((await Promise.all(results)).every(Boolean))
  assert.deepEqual(written.at(-1), ['f', 'g'])
  await sink.close()
  assert.deepEqual(lost, [])
})

test('a closed audit log rejects audit events', async () => {
  const calls: string[] = []
  const { lost, reportLost } = collector()
  const lines: Lines = {
    append: async (bytes) => void calls.push(...linesIn(bytes)),
    appendLong: () => assert.fail(),
    close: async () => void calls.push('close'),
  }
  const sink = new LogSink(lines, {
    format: 'json',
    reportLost,
    timers: systemTime,
    waitingBytesMax: Infinity,
  })
  const early = sink.store([event('a')], 'soon')
  const closed = sink.close()
  assert.equal(await sink.store([event('b')], 'now'), false)
  await closed
  assert.equal(await early, true)
  assert.equal(await sink.store([event('c')], 'now'), false)
  assert.deepEqual(calls, ['a', 'close'])
  assert.deepEqual(lost, ['log b: audit backend shut down', 'log c: audit backend shut down'])
})

const sinkOf = (isStored: boolean): EventSink => ({
  isOrdered: true,
  store: () => Promise.resolve(isStored),
  close: () => Promise.resolve(),
})

const storedBy = (...backends: AuditBackend[]): MaybePromise<boolean> =>
  new Audit({
    evaluate: () => assert.fail('no request comes'),
    backends,
    metrics: addAuditMetrics(new Metrics()),
    clock: systemTime,
  }).store(event('a'))

test('if there are several audit backends, an event counts as stored if every strict backend has stored it', async () => {
  const { reportLost } = collector()
  const backend = (isStrict: boolean, isStored: boolean): AuditBackend =>
    new BlockingBackend(sinkOf(isStored), { isStrict, eventBytesMax: Infinity, reportLost })
  assert.equal(await storedBy(backend(true, true), backend(false, false)), true)
  assert.equal(await storedBy(backend(true, false), backend(false, true)), false)
})

test('objects are removed from large audit events, and events that are still too large are lost', async () => {
  const { lost, reportLost } = collector()
  const stored: string[] = []
  const sink: EventSink = {
    isOrdered: true,
    store: async (events) => {
      stored.push(...events.map(({ json }) => json))
      return true
    },
    close: () => Promise.resolve(),
  }
  const backend = new BlockingBackend(sink, { isStrict: true, eventBytesMax: 20, reportLost })
  await backend.process(event('x'.repeat(19)), 'now')
  await backend.process(event('x'.repeat(20)), 'now')
  await backend.process(event('ä'.repeat(10)), 'now')
  assert.equal(backend.process(event('y'.repeat(20), 'Metadata'), 'now'), true)
  assert.deepEqual(stored, ['x'.repeat(19), 'short of 20', 'short of 10'])
  assert.deepEqual(lost, ['truncate yyyyyyyyy: event is too large even after truncating'])
})

function batchOf(
  sink: EventSink,
  more: Partial<BatchOptions['mode']> = {},
  options: Partial<BatchOptions> = {},
) {
  const { lost, reportLost } = collector()
  const backend = new BatchBackend(sink, {
    mode: {
      kind: 'batch',
      bufferEventsMax: 3,
      batchEventsMax: 2,
      waitMs: 60_000,
      throttle: null,
      ...more,
    },
    batchesMax: 1,
    eventBytesMax: Infinity,
    batchBytesMax: Infinity,
    bufferBytes: Infinity,
    time: systemTime,
    reportLost,
    ...options,
  })
  return { backend, lost }
}

test('a batch of audit events is sent when it is full, and events that do not fit into the buffer are lost', async () => {
  const sink = new HeldSink()
  const { backend, lost } = batchOf(sink)
  for (const json of ['a', 'b', 'c', 'd']) assert.equal(backend.process(event(json)), true)
  assert.deepEqual(lost, ['buffered d: audit buffer queue blocked'])
  await until(() => sink.batches.length === 1)
  assert.deepEqual(sink.batches, [['a', 'b']])
  sink.letGo()
  const stopping = backend[Symbol.asyncDispose]()
  await until(() => sink.batches.length === 2)
  assert.deepEqual(sink.batches, [['a', 'b'], ['c']])
  sink.letGo()
  await stopping
  assert.ok(sink.isClosed)
  backend.process(event('e'))
  assert.equal(lost.at(-1), 'buffered e: audit backend shut down')
})

test('a batch of events that is not full is sent when its maximum wait has passed', async () => {
  const sink = new HeldSink()
  const { backend } = batchOf(sink, { waitMs: 10 })
  backend.process(event('a'))
  assert.deepEqual(sink.batches, [])
  await until(() => sink.batches.length === 1)
  assert.deepEqual(sink.batches, [['a']])
  sink.letGo()
  await backend[Symbol.asyncDispose]()
})

test('the size and the rate of batches of events are limited', async () => {
  const sink = new HeldSink()
  const throttle = { batchesPerSecond: 20, burst: 1 }
  const { backend } = batchOf(
    sink,
    { throttle, batchEventsMax: 3 },
    { batchesMax: 9, batchBytesMax: 10 },
  )
  for (const json of ['aaaa', 'bbbb', 'cccc']) backend.process(event(json))
  await until(() => sink.batches.length === 1)
  assert.deepEqual(sink.batches, [['aaaa', 'bbbb']])
  await backend[Symbol.asyncDispose]()
  assert.deepEqual(sink.batches, [['aaaa', 'bbbb'], ['cccc']])
})

test('batches with only one audit event are combined, and are written immediately when the buffer is half full', async () => {
  const stored = Promise.withResolvers<boolean>()
  const urgencies: string[] = []
  const sink: EventSink = {
    isOrdered: true,
    store: (_events, urgency) => {
      urgencies.push(urgency)
      return stored.promise
    },
    close: () => Promise.resolve(),
  }
  const { backend, lost } = batchOf(sink, { batchEventsMax: 1, bufferEventsMax: 4 })
  for (const json of ['a', 'b', 'c', 'd', 'e']) backend.process(event(json))
  assert.deepEqual(urgencies, ['soon', 'now', 'now', 'now'])
  assert.deepEqual(lost, ['buffered e: audit buffer queue blocked'])
  stored.resolve(true)
  await sleep(1)
  backend.process(event('f'))
  assert.equal(urgencies.at(-1), 'soon', 'stored events have left the buffer')
  await backend[Symbol.asyncDispose]()
})

test('during shutdown, pending batches of events are sent without waiting for the rate limit', async () => {
  const sink: EventSink & { readonly stored: string[] } = {
    isOrdered: true,
    stored: [],
    store: async (events) => {
      sink.stored.push(...events.map(({ json }) => json))
      return true
    },
    close: () => Promise.resolve(),
  }
  const throttle = { batchesPerSecond: 0.01, burst: 1 }
  const { backend, lost } = batchOf(sink, { throttle, batchEventsMax: 1 })
  for (const json of ['a', 'b', 'c']) backend.process(event(json))
  await until(() => sink.stored.length === 1)
  const startMs = systemTime.monotonicMs()
  await backend[Symbol.asyncDispose]()
  assert.ok(systemTime.monotonicMs() - startMs < 50_000)
  assert.deepEqual(sink.stored, ['a', 'b', 'c'])
  assert.deepEqual(lost, [])
})
