/**
 * Tests remote documents that are expensive to process. The server must reject each of them without
 * blocking the event loop.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes } from '../../../../test/support/harness/held-bytes.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import { longestTurnMs } from '../../../../test/support/harness/turns.ts'
import { mergeOlder } from './merge-older.ts'
import { readOlderSpec } from './older-spec.ts'
import { readAggregated, readPlain } from './remote-resources.ts'

const MB = 1 << 20
/**
 * Maximum time for which the event loop can be blocked, including garbage collection. Without
 * slices, it would be blocked for seconds.
 */
const TURN_MS_MAX = 300
const fill = (text: string, length: number): string =>
  text.repeat(Math.ceil(length / text.length)).slice(0, -1)
const list = (items: string): string =>
  `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[${items}]}`
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const aggregated = (text: string) => (): Promise<unknown> =>
  readAggregated(Buffer.from(text), () => true)
const older = (text: string) => (): Promise<unknown> => readOlderSpec(Buffer.from(text))

const hostile: readonly (readonly [string, () => Promise<unknown>])[] = [
  [
    'many resources',
    aggregated(list(`{"metadata":{"name":"g"},"versions":[{"resources":[${fill('{},', MB)}]}]}`)),
  ],
  ['many groups', aggregated(list(fill('{},', 8 * MB)))],
  ['many fields', aggregated(`{${fill('"a":1,', 8 * MB)}}`)],
  ['a large resource', aggregated(list(`{"versions":[{"resources":[[${fill('[],', 8 * MB)}]]}]}`))],
  ['a deep resource', aggregated(list(`{"versions":[{"resources":[${deep(500)}]}]}`))],
  ['a list as its root', aggregated(`[${fill('{},', 8 * MB)}]`)],
  ['many plain resources', () => readPlain(Buffer.from(`{"resources":[${fill('{},', 8 * MB)}]}`))],
  [
    'many paths',
    older(`{"paths":{${Array.from({ length: 20_000 }, (_, at) => `"${at}":{}`).join(',')}}}`),
  ],
  ['a large path', older(`{"paths":{"a":[${fill('[],', 8 * MB)}]}}`)],
  ['a path of many values', older(`{"paths":{"a":[${fill('1,', MB / 8)}]}}`)],
  ['a deep definition', older(`{"definitions":{"a":${deep(101)}}}`)],
  ['many other fields', older(`{${fill('"a":{},', 8 * MB)}}`)],
]

for (const [what, read] of hostile)
  test(`a remote OpenAPI document with ${what} is rejected`, async () => {
    const turnMs = await longestTurnMs(() => assert.rejects(read()))
    assert.ok(turnMs < TURN_MS_MAX, `${turnMs} ms in one turn`)
  })

test('unknown fields of any length in a remote document are skipped without blocking the event loop', async () => {
  const text = `{"x":[${fill('[],', 8 * MB)}],"paths":{"/a":{}}}`
  const turnMs = await longestTurnMs(async () => void (await readOlderSpec(Buffer.from(text))))
  assert.ok(turnMs < TURN_MS_MAX, `${turnMs} ms in one turn`)
})

test('a remote OpenAPI document is rejected if one of its names is already used by too many different definitions', async () => {
  const definitions = new Map(
    Array.from({ length: 200 }, (_, at) => [at === 0 ? 'A' : `A_v${at + 1}`, `{"maximum":${at}}`]),
  )
  const whole = {
    paths: new Map<string, string>(),
    definitions,
    parameters: new Map<string, string>(),
  }
  const spec = await readOlderSpec(
    Buffer.from('{"paths":{"/a":{}},"definitions":{"A":{"maximum":-1}}}'),
  )
  await assert.rejects(mergeOlder(whole, spec, new Slices()), /more than 100/)
  assert.equal(whole.paths.size, 0)
})

test('the retained parts of a remote OpenAPI document do not keep the whole document in memory', async () => {
  const specs: unknown[] = []
  const held = await heldBytes(async () => {
    for (let at = 0; at < 10; at++) {
      const definitions = { [`io.example.v1.Kind-${at}`]: { type: 'object' } }
      const document = { definitions, 'x-others': 'a'.repeat(5 << 20) }
      specs.push(await readOlderSpec(Buffer.from(JSON.stringify(document))))
    }
  })
  assert.equal(specs.length, 10)
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})
