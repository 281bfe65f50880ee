import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Form } from '../../codec/negotiate.ts'
import { styled, styledList } from './json.ts'

const forms: readonly Form[] = [
  { type: 'json', isIndented: true },
  { type: 'yaml', isIndented: false },
]
/** The key of a list may stand anywhere among the others, which YAML sorts. */
const heads = [
  '{"kind":"Table","metadata":{},"columnDefinitions":[{"name":"a","description":"rows: null\\nrows: null\\n"}],"rows":',
  '{"kind":"L","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":',
  '{"z":1,"a":',
]
const itemOf = (at: number): string =>
  JSON.stringify({ cells: [at, 'x', null], object: { metadata: { name: `n${at}`, labels: { '10': 'a', '9': '' } } } })

test('a list that is made item by item is the same as one that is made at once', async () => {
  for (const form of forms) {
    for (const head of heads) {
      for (const items of [[], [itemOf(0)], [itemOf(1), '{}', '[]', '"x"', itemOf(2)]]) {
        const whole = styled(Buffer.from(`${head}[${items.join()}]}\n`), form)
        const made = await styledList(head, items, { form, jsonOf: (item) => item })
        assert.equal(Buffer.concat(made).toString(), whole.toString())
      }
    }
  }
})

test('others have their turn while a long list is made', async () => {
  const items = Array.from({ length: 5_000 }, (_, at) => itemOf(at))
  for (const form of forms) {
    let turns = 0
    const count = (): void => {
      turns++
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    await styledList('{"kind":"Table","rows":', items, { form, jsonOf: (item) => item })
    clearImmediate(counting)
    assert.ok(turns > 3, `${turns} turns`)
  }
})
