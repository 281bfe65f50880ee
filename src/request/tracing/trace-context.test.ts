import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectorUrl } from './exporter.ts'
import { printTraceContext, readTraceContext } from './trace-context.ts'

const id = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'

test('a traceparent is parsed and formatted as W3C Trace Context specifies', () => {
  const read = readTraceContext(`00-${id}-${parent}-01`, 'a=1,b=2') ?? assert.fail()
  assert.deepEqual(
    [read.traceId.toString('hex'), read.spanId.toString('hex'), read.isSampled],
    [id, parent, true],
  )
  assert.deepEqual(printTraceContext(read), {
    traceparent: `00-${id}-${parent}-01`,
    tracestate: 'a=1,b=2',
  })
  assert.equal(readTraceContext(`00-${id}-${parent}-02`, undefined)?.isSampled, false)
  assert.equal(readTraceContext(`cc-${id}-${parent}-01-what-comes`, undefined)?.isSampled, true)
})

for (const text of [
  undefined,
  '',
  'x',
  `00-${id}-${parent}`,
  `00-${id}-${parent}-01-more`,
  `ff-${id}-${parent}-01`,
  `00-${'0'.repeat(32)}-${parent}-01`,
  `00-${id}-${'0'.repeat(16)}-01`,
  `00-${id.toUpperCase()}-${parent}-01`,
])
  test(`"${text}" is not a valid traceparent`, () =>
    assert.equal(readTraceContext(text, undefined), undefined))

test('the endpoint of a collector is parsed as a gRPC target', () => {
  assert.equal(collectorUrl('localhost:4317'), 'http://localhost:4317')
  assert.equal(collectorUrl('dns://8.8.8.8/collector:4317'), 'http://collector:4317')
  assert.equal(collectorUrl('dns:///collector:4317'), 'http://collector:4317')
  assert.equal(collectorUrl('unix:///run/collector.sock'), 'unix:/run/collector.sock')
  assert.equal(collectorUrl('unix-abstract://collector'), 'unix:@collector')
  assert.equal(collectorUrl('[::1]:4317'), 'http://[::1]:4317')
})
