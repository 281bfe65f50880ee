import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../lib/time/clock.ts'
import { type EndedSpan, Tracer } from './tracer.ts'

/** Creates a tracer whose trace IDs end with the given eight bytes. */
function tracerOf(
  samplingRatePerMillion: number,
  lower: string,
): { readonly tracer: Tracer; readonly ended: EndedSpan[] } {
  const ended: EndedSpan[] = []
  const tracer = new Tracer({
    samplingRatePerMillion,
    clock: systemClock,
    fillRandom: (bytes) => void bytes.fill(Buffer.from(`1111111111111111${lower}`, 'hex')),
    onEnd: (span) => ended.push(span),
    run: (_, work) => work(),
  })
  return { tracer, ended }
}

const nobody = { remote: undefined, isTrusted: false }
const described = { name: 'GET', startMs: 0, attributes: {} }
const parent = { traceId: Buffer.alloc(16, 2), spanId: Buffer.alloc(8, 3), state: '' }

for (const [rate, lower, isSampled] of [
  [0, '0000000000000000', false],
  [10_000, '0000000000000000', true],
  // One percent of 2 ** 63 is 0x147ae147ae147ae. The last bit of the ID is ignored.
  [10_000, '028f5c28f5c28f5b', true],
  [10_000, '028f5c28f5c28f5c', false],
  [10_000, '028f5c28ffffffff', false],
  [10_000, 'ffffffffffffffff', false],
  [1_000_000, 'ffffffffffffffff', true],
] as const) {
  test(`at a rate of ${rate} per million, the trace whose ID ends with ${lower} is ${isSampled ? '' : 'not '}sampled`, () => {
    const { tracer, ended } = tracerOf(rate, lower)
    const span = tracer.begin(nobody, () =>
      isSampled ? described : assert.fail('only traced requests are described'),
    )
    span?.end()
    const ids = ended.map(({ context }) => context.traceId.toString('hex'))
    assert.deepEqual(ids, isSampled ? [`1111111111111111${lower}`] : [])
  })
}

test('a trusted client decides whether its request is traced, and the trace of any other client is only linked', () => {
  const { tracer, ended } = tracerOf(0, '0000000000000000')
  const remote = { ...parent, isSampled: true }
  tracer.begin({ remote, isTrusted: true }, () => described)?.end()
  assert.equal(
    tracer.begin({ remote, isTrusted: false }, () => described),
    undefined,
  )
  const all = tracerOf(1_000_000, '0000000000000000')
  assert.equal(
    all.tracer.begin({ remote: { ...parent, isSampled: false }, isTrusted: true }, () => described),
    undefined,
  )
  all.tracer.begin({ remote, isTrusted: false }, () => described)?.end()
  const [own, other] = [ended[0], all.ended[0]]
  assert.deepEqual(
    [own?.parentId, own?.context.traceId, own?.link],
    [parent.spanId, parent.traceId, undefined],
  )
  assert.deepEqual([other?.parentId, other?.link], [undefined, remote])
})

test('the IDs of traces and spans are unique, although their random bytes are generated in batches', () => {
  let seed = 0
  const seen = new Set<string>()
  const tracer = new Tracer({
    samplingRatePerMillion: 1_000_000,
    clock: systemClock,
    fillRandom: (bytes) => {
      for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32BE(seed++, at)
    },
    onEnd: ({ context }) =>
      seen.add(context.traceId.toString('hex')).add(context.spanId.toString('hex')),
    run: (_, work) => work(),
  })
  for (let count = 0; count < 1000; count++) tracer.begin(nobody, () => described)?.end()
  assert.equal(seen.size, 2000)
})

test('all strings of a span are limited in length', () => {
  const { tracer, ended } = tracerOf(1_000_000, '0000000000000000')
  const long = 'a'.repeat(100_000)
  const span = tracer.begin(nobody, () => ({
    ...described,
    name: long,
    attributes: { 'http.target': long, size: 1 },
  }))
  // The child span is that of an etcd call. Its error contains the name of the object.
  span?.child('List', { attributes: { key: long } }).end({ error: `pods "${long}" not found` })
  span?.set({ more: long })
  span?.end()
  const texts = ended.flatMap(({ name, error = '', attributes }) => [
    name,
    error,
    ...Object.values(attributes),
  ])
  assert.equal(texts.length, 8)
  for (const text of texts) assert.ok(String(text).length <= 1024, String(text).slice(0, 20))
})
