import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bestLongestTurnMs, turnsDuring } from '../../../../test/support/harness/turns.ts'
import { parseJson } from '../../../api/json-value.ts'
import type { LazyBody } from '../../../api/request.ts'
import type { Form } from '../../../objects/codec/negotiate.ts'
import { convertYaml } from '../../../objects/codec/yaml.ts'
import { jsonToYaml } from '../../../objects/codec/yaml-print.ts'
import { inParts } from '../../../lib/scheduling/parts.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import { systemTime } from '../../../lib/time/timers.ts'
import { styled, styledList } from './styled.ts'

const forms: readonly Form[] = [
  { type: 'json', isIndented: true },
  { type: 'yaml', isIndented: false },
]
/**
 * Heads of lists. In the JSON, the key of the items can be at any position among the other keys,
 * which YAML sorts.
 */
const heads = [
  '{"kind":"Table","metadata":{},"columnDefinitions":[{"name":"a","description":"rows: null\\nrows: null\\n"}],"rows":',
  '{"kind":"L","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":',
  '{"z":1,"a":',
]
const itemOf = (at: number): string =>
  JSON.stringify({
    cells: [at, 'x', null],
    object: { metadata: { name: `n${at}`, labels: { '10': 'a', '9': '' } } },
  })

const jsonOf = (item: string): Buffer => Buffer.from(item)

async function textOf(body: Buffer | Promise<Buffer | LazyBody>): Promise<string> {
  const made = await body
  if (Buffer.isBuffer(made)) return made.toString()
  const chunks: Buffer[] = []
  for await (const parts of made.chunks) for (const part of parts) chunks.push(Buffer.from(part))
  const whole = Buffer.concat(chunks)
  assert.equal(whole.length, made.length, 'the length that was announced')
  return whole.toString()
}

test('a list has the same bytes whether it is formatted item by item or in one step', async () => {
  for (const form of forms) {
    for (const head of heads) {
      for (const items of [[], [itemOf(0)], [itemOf(1), '{}', '[]', '"x"', itemOf(2)]]) {
        const whole = styled(Buffer.from(`${head}[${items.join()}]}\n`), { form })
        const made = await textOf(styledList(head, items, { form, jsonOf }))
        assert.equal(made, await textOf(whole))
      }
    }
  }
})

test('a long object has the same bytes whether it is formatted in chunks or in one step', async () => {
  const value = {
    items: Array.from({ length: 3_000 }, (_, at) => JSON.parse(itemOf(at))),
    text: 'é '.repeat(100_000),
  }
  const json = Buffer.from(`${JSON.stringify(value)}\n`)
  const [indented, yaml] = forms
  assert.ok(indented !== undefined && yaml !== undefined)
  assert.equal(await textOf(styled(json, { form: indented })), JSON.stringify(value, null, 2))
  assert.equal(await textOf(styled(json, { form: yaml })), jsonToYaml(value))
})

test('the event loop performs other work while a long list is formatted', async () => {
  const items = Array.from({ length: 5_000 }, (_, at) => itemOf(at))
  for (const form of forms) {
    const turns = await turnsDuring(async () => {
      await textOf(styledList('{"kind":"Table","rows":', items, { form, jsonOf }))
    })
    assert.ok(turns > 3, `${turns} turns`)
  }
})

const nested = (depth: number, values: number): string =>
  `${'['.repeat(depth)}${Array.from({ length: values }, () => '0').join()}${']'.repeat(depth)}`

test('an object whose YAML or indented JSON would be many times as long is sent as compact JSON', async () => {
  const item = `{"a":${nested(980, 60_000)}}`
  for (const form of forms) {
    const text = await textOf(styled(Buffer.from(`${item}\n`), { form }))
    assert.equal(text.trimEnd(), item)
    const list = await textOf(
      styledList('{"kind":"L","items":', [item, itemOf(0)], { form, jsonOf }),
    )
    assert.ok(list.length < 2 * item.length, `${list.length} bytes`)
    const read = form.type === 'yaml' ? convertYaml(Buffer.from(list)).json : Buffer.from(list)
    assert.deepEqual(parseJson(read), JSON.parse(`{"kind":"L","items":[${item},${itemOf(0)}]}`))
  }
})

test('an object is sent as compact JSON if there is not enough memory for its YAML or indented JSON', async () => {
  const item = JSON.stringify({ a: Array.from({ length: 10_000 }, (_, at) => `n${at}`) })
  for (const form of forms) {
    assert.equal(
      (await textOf(styled(Buffer.from(`${item}\n`), { form, hold: () => false }))).trimEnd(),
      item,
    )
  }
})

const hostile: { readonly [name: string]: string } = {
  'empty objects': `{"a":[${Array.from({ length: 400_000 }, () => '{}').join()}]}`,
  numbers: `{"a":[${Array.from({ length: 600_000 }, () => '0').join()}]}`,
  'many keys': JSON.stringify(
    Object.fromEntries(
      Array.from({ length: 60_000 }, (_, at) => [`k${(at * 7919) % 60_000}a`, '']),
    ),
  ),
  'long digits in keys': JSON.stringify(
    Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [`${'1'.repeat(100)}${(at * 7919) % 10_000}`, '']),
    ),
  ),
  'two keys of digits': JSON.stringify({
    [`${'1'.repeat(600_000)}2`]: '',
    [`${'1'.repeat(600_000)}3`]: '',
  }),
  'control characters': JSON.stringify({ a: '\u007f'.repeat(1_200_000) }),
  'spaces before a next line': JSON.stringify({ a: `${' '.repeat(1_200_000)}a\u0085` }),
  'numbers of base 60': JSON.stringify({ a: '1:1'.repeat(400_000) }),
  'short lines': JSON.stringify({ a: 'a\n'.repeat(400_000) }),
}
for (const [name, json] of Object.entries(hostile)) {
  for (const form of forms) {
    test(`formatting ${name} as ${form.type} does not block the event loop`, async () => {
      const ms = await bestLongestTurnMs(async () => {
        const body = await styled(Buffer.from(json), { form })
        if (!Buffer.isBuffer(body)) for await (const _ of body.chunks);
      })
      assert.ok(ms < 50, `${ms} ms`)
    })
  }
}

test('property: a YAML list has the same bytes whether it is formatted item by item or in one step', async () => {
  const [, form] = forms
  assert.ok(form !== undefined)
  const property = fc.asyncProperty(
    fc.array(fc.dictionary(fc.string(), fc.string()), { maxLength: 20 }),
    async (items) => {
      const texts = items.map((item) => JSON.stringify(item))
      const made = await textOf(styledList('{"kind":"L","items":', texts, { form, jsonOf }))
      const whole = await textOf(
        styled(Buffer.from(`{"kind":"L","items":[${texts.join()}]}`), { form }),
      )
      assert.equal(made, whole)
    },
  )
  await fc.assert(property, { numRuns: 100 })
})

test('a long string has the same bytes whether its response is formatted in slices or in one step', async () => {
  const json = Buffer.from(`${JSON.stringify({ data: { long: 'a"\n\t'.repeat(150_000) } })}\n`)
  for (const form of forms) {
    const whole = await textOf(styled(json, { form }))
    const slices = new Slices(systemTime, { isExpensive: true })
    const divided = async (): Promise<Buffer | LazyBody> =>
      inParts(() => styled(json, { form }), slices)
    assert.ok((await textOf(divided())) === whole)
  }
})
