import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Shelf, Shelved, ShelvedBytes, TURNS_KEPT } from './made.ts'
import { Slabs } from './slabs.ts'

test('a shelf keeps the newest within its budget', () => {
  const dropped: number[] = []
  const shelf = new Shelf(100)
  for (const at of [0, 1, 2, 3]) shelf.add({ drop: () => dropped.push(at) }, 40)
  assert.deepEqual(dropped, [0, 1])
  shelf.add({ drop: () => dropped.push(4) }, 1_000)
  assert.deepEqual(dropped, [0, 1, 2, 3, 4], 'what is too large stays for nobody')
})

test('what nobody adds to empties itself after some turns', () => {
  const dropped: number[] = []
  const shelf = new Shelf(100)
  shelf.add({ drop: () => dropped.push(0) }, 1)
  shelf.tidy()
  shelf.add({ drop: () => dropped.push(1) }, 1)
  for (let turn = 1; turn < TURNS_KEPT; turn++) shelf.tidy()
  assert.deepEqual(dropped, [])
  shelf.tidy()
  assert.deepEqual(dropped, [0])
  shelf.tidy()
  assert.deepEqual(dropped, [0, 1])
  shelf.tidy()
  assert.deepEqual(dropped, [0, 1])
})

test('a form that was dropped is made again', () => {
  let made = 0
  // Room for one, with what an entry takes.
  const shelf = new Shelf(300)
  const forms = new Shelved<object, number>(
    shelf,
    () => ++made,
    () => 6,
  )
  const [one, other] = [{}, {}]
  assert.deepEqual([forms.of(one), forms.of(other), forms.of(one)], [1, 2, 3])
})

test('a form that is asked for stays, one that is not goes first', () => {
  let made = 0
  // Room for one, with what an entry takes.
  const shelf = new Shelf(300)
  const forms = new Shelved<object, number>(
    shelf,
    () => ++made,
    () => 6,
  )
  const [one, other] = [{}, {}]
  assert.deepEqual([forms.of(one), forms.of(one), forms.of(other), forms.of(one)], [1, 1, 2, 1])
  for (let turn = 0; turn <= 2 * TURNS_KEPT; turn++) {
    shelf.tidy()
    assert.equal(forms.of(one), 1, 'asked for in each turn')
  }
  for (let turn = 0; turn <= 2 * TURNS_KEPT; turn++) shelf.tidy()
  assert.equal(forms.of(one), 3, 'not asked for any longer')
})

test('bytes that are kept stand in slabs, and only there', () => {
  let made = 0
  const slabs = new Slabs()
  const shelf = new Shelf(2_000)
  const forms = new ShelvedBytes<{ text: string }>({ shelf, slabs }, ({ text }) => {
    made++
    return Buffer.from(text)
  })
  const [one, other] = [{ text: 'a'.repeat(1_000) }, { text: 'b'.repeat(1_000) }]
  assert.equal(forms.of(one).toString(), one.text)
  const view = forms.of(one)
  assert.equal(view.toString(), one.text)
  assert.equal(made, 1)
  assert.equal(slabs.size.liveBytes, 1_000)
  assert.equal(forms.of(other).toString(), other.text)
  assert.equal(slabs.size.liveBytes, 1_000, 'there is room for one')
  for (let turn = 0; turn <= 2 * TURNS_KEPT; turn++) shelf.tidy()
  assert.equal(slabs.size.liveBytes, 0, 'nobody asks any longer')
  assert.equal(view.toString(), one.text, 'who has it may go on reading')
  assert.equal(forms.of(one).toString(), one.text)
})
