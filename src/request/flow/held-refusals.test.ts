import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes, partOfMegabyte } from '../../../test/support/harness/held-bytes.ts'
import { HeldRefusals } from './held-refusals.ts'

const refuse = (held: HeldRefusals, flow: string, times: number, atMs = 5_000): number[] =>
  Array.from({ length: times }, () => held.holdMs(flow, atMs))

test('the first rejections of a flow in each second are sent immediately, and later rejections are delayed', () => {
  const held = new HeldRefusals()
  const [last, ...late] = refuse(held, 'a', 22).slice(-3)
  assert.equal(last, 0)
  assert.ok(late.every((ms) => ms >= 1000 && ms < 2000) && late[0] !== late[1], late.join())
  assert.deepEqual(refuse(held, 'b', 1), [0], 'another flow')
  assert.deepEqual(refuse(held, 'a', 1, 6_000), [0], 'another second')
  assert.equal(held.held, 2)
  held.end()
  held.end()
  assert.equal(held.held, 0)
})

test('the number of delayed rejections is limited', () => {
  const held = new HeldRefusals()
  const all = refuse(held, 'a', 20_000)
  assert.equal(held.held, 4_000)
  assert.equal(all.at(-1), 0)
})

const names: { is: string; name: (at: number) => string }[] = [
  { is: 'long', name: (at) => `${at}${'a'.repeat(1 << 20)}` },
  { is: 'a slice of a longer string', name: (at) => partOfMegabyte(`user-of-request-${at}`) },
]
for (const { is, name } of names) {
  test(`counting the rejections of a flow whose name is ${is} takes little memory`, async () => {
    const refusals = new HeldRefusals()
    const held = await heldBytes(() => {
      for (let at = 0; at < 50; at++) refusals.holdMs(`schema/${name(at)}`, 5_000)
    })
    assert.ok(held < 10 << 20, `${held} bytes are held`)
    assert.equal(refuse(refusals, `schema/${name(0)}`, 20).filter((ms) => ms > 0).length, 1)
  })
}
