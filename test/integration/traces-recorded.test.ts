/** Spans of requests, compared with those of the reference as recorded by test/traces/record.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../compat/client.ts'
import { startReceiver } from '../observe/receiver.ts'
import { exercise, type SpanShape, tracingFlag } from '../traces/exercise.ts'
import recorded from '../traces/recorded.json' with { type: 'json' }
import { adminToken, startTestServer } from './support.ts'

/** What is missing here, and why. */
const differences: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  { pattern: / http\.target: [^ ]*\?/, why: 'a query may have secrets, as a command that is executed' },
  { pattern: / type: \*core\./, why: "Go's name of a type" },
  { pattern: / encoder: /, why: "Go's description of an encoder" },
  { pattern: /etcd3 audit-id: /, why: 'the span above it has it' },
  {
    pattern: /cacher\.Get > etcdserverpb\.KV\/Range$/,
    why: 'memory answers; that it is current is asked once for many requests',
  },
  { pattern: /List\(recursive=false\) etcd3$/, why: 'the same' },
  { pattern: /Delete > cacher\.Get$/, why: 'the object is in memory; etcd compares its revision' },
  { pattern: /missing .*SerializeObject$/, why: 'errors are printed when the handler has ended' },
  { pattern: /^apply .*GuaranteedUpdate etcd3$/, why: 'what an apply creates is a Create etcd3' },
]

test('requests have the spans of the reference, with their attributes', { timeout: 300_000 }, async () => {
  await using receiver = await startReceiver()
  using tracing = tracingFlag(receiver.endpoint)
  await using server = await startTestServer([tracing.flag])
  using client = createClient({ server: server.url, token: adminToken })
  const ours = await exercise(client, receiver)
  const missing = Object.entries(recorded).flatMap(([name, theirs]) => compare(theirs, ours[name] ?? [], name))
  assert.deepEqual(
    missing.filter((one) => !differences.some(({ pattern }) => pattern.test(one))),
    [],
  )
  for (const { pattern, why } of differences)
    assert.ok(
      missing.some((one) => pattern.test(one)),
      `no longer: ${why}`,
    )
})

function compare(theirs: readonly SpanShape[], ours: readonly SpanShape[], path: string): string[] {
  return theirs.flatMap((span) => {
    const at = `${path} > ${span.name}`
    const own = ours.find(({ name }) => name === span.name)
    if (own === undefined) return [at]
    const attributes = Object.entries(span.attributes).flatMap(([name, value]) =>
      own.attributes[name] === value ? [] : [`${at} ${name}: ${String(value)} != ${String(own.attributes[name])}`],
    )
    const kind = own.kind === span.kind ? [] : [`${at} kind ${span.kind}`]
    return [...kind, ...attributes, ...compare(span.below, own.below, at)]
  })
}
