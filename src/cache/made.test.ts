import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Shelf, Shelved, TURNS_KEPT } from './made.ts'

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
  const shelf = new Shelf(10)
  const forms = new Shelved<object, number>(
    shelf,
    () => ++made,
    () => 6,
  )
  const [one, other] = [{}, {}]
  assert.deepEqual([forms.of(one), forms.of(one), forms.of(other), forms.of(one)], [1, 1, 2, 3])
})
