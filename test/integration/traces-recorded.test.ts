/**
 * Compares the spans of requests with those of kube-apiserver, which test/recorded/traces/record.ts
 * has recorded.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../recorded/compat/client.ts'
import { startReceiver } from './observe/receiver.ts'
import { exercise, type SpanShape, tracingFlag } from '../recorded/traces/exercise.ts'
import recorded from '../recorded/traces/recorded.json' with { type: 'json' }
import { adminToken, startTestServer } from './support.ts'

/** Patterns for spans and attributes that Keelson's traces may lack, each with the reason. */
const differences: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/ http\.target: [^ ]*\?/, 'a query may contain secrets, such as a command that is executed'],
  [/ type: \*core\./, "Go's name of a type"],
  [/ encoder: /, "Go's description of an encoder"],
  [/etcd3 audit-id: /, 'its parent span has it'],
  [
    /cacher\.Get > etcdserverpb\.KV\/Range$/,
    'memory serves it, and one check that it is current serves many requests',
  ],
  [/List\(recursive=false\) etcd3$/, 'memory serves it'],
  [/Delete > cacher\.Get$/, 'the object is in memory; etcd compares its revision'],
  [/missing .*SerializeObject$/, 'errors are encoded when the handler has ended'],
  [/^apply .*GuaranteedUpdate etcd3$/, 'an apply that creates has a Create etcd3'],
]

test('requests have the same spans and attributes as in kube-apiserver', {
  timeout: 300_000,
}, async () => {
  await using receiver = await startReceiver()
  using tracing = tracingFlag(receiver.endpoint)
  await using server = await startTestServer([tracing.flag])
  using client = createClient({ server: server.url, token: adminToken })
  const ours = await exercise(client, receiver)
  const missing = Object.entries(recorded).flatMap(([name, theirs]) =>
    compare(theirs, ours[name] ?? [], name),
  )
  assert.deepEqual(
    missing.filter((one) => !differences.some(([pattern]) => pattern.test(one))),
    [],
  )
})

function compare(theirs: readonly SpanShape[], ours: readonly SpanShape[], path: string): string[] {
  return theirs.flatMap((span) => {
    const at = `${path} > ${span.name}`
    const own = ours.find(({ name }) => name === span.name)
    if (own === undefined) return [at]
    const attributes = Object.entries(span.attributes).flatMap(([name, value]) =>
      own.attributes[name] === value
        ? []
        : [`${at} ${name}: ${String(value)} != ${String(own.attributes[name])}`],
    )
    const kind = own.kind === span.kind ? [] : [`${at} kind ${span.kind}`]
    return [...kind, ...attributes, ...compare(span.below, own.below, at)]
  })
}
