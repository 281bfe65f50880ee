import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSteps, turnsDuring } from '../../test/harness/turns.ts'
import { eachItem, eachKey, everyItem, inParts, isDivided, mapEach, once, parts } from './parts.ts'
import { Slices } from './slices.ts'

/** Pauses as often as it can. */
const always = { isOver: true, begin: (): void => undefined }

const sums = (lists: readonly (readonly number[])[]): readonly number[] =>
  mapEach(lists, (list) => {
    const made = eachItem(
      list,
      () => ({ sum: 0 }),
      (state, item) => {
        state.sum += item
        return true
      },
    )
    return made.sum
  })

const lists = Array.from({ length: 50 }, (_, at) => Array.from({ length: 50 }, (_item, index) => at * index))

test('work that is interrupted has the same result as work that is not', () => {
  let calls = 0
  const work = (): unknown => {
    calls++
    const made = once(() => sums(lists))
    const isSmall = everyItem(made, (sum) => sum < 10_000)
    const keys = eachKey(
      Object.fromEntries(lists.map((_, at) => [`k${at}`, at])),
      () => new Set<string>(),
      (seen, key) => seen.size < 40 && seen.add(key).size > 0,
    )
    return { made, isSmall, keys: [...keys] }
  }
  const expected = work()
  calls = 0
  assert.deepEqual(allSteps(parts(work, always)), expected)
  assert.ok(calls > 100, `${calls} calls`)
})

test('an item is visited to its end once', () => {
  const visited: number[] = []
  const work = (): unknown =>
    mapEach(lists, (list, at) => {
      const made = mapEach(list, (item) => item)
      visited.push(at)
      return made.length
    })
  allSteps(parts(work, always))
  assert.deepEqual(visited, [...lists.keys()])
})

test('an error ends the work, and what runs after it is not divided', () => {
  const failing = (): never => {
    calls++
    sums(lists)
    throw new Error('no')
  }
  let calls = 0
  assert.throws(() => allSteps(parts(failing, always)), /^Error: no$/)
  assert.ok(calls > 1)
  assert.equal(isDivided(), false)
})

test('work that comes to other loops than before is done at once', () => {
  let calls = 0
  const work = (): readonly number[] => {
    calls++
    if (calls > 1) mapEach([1, 2, 3], (item) => item)
    return sums(lists)
  }
  assert.deepEqual(allSteps(parts(work, always)), sums(lists))
  assert.equal(calls, 3)
})

test('others have turns of the event loop while a part is over', async () => {
  const long = Array.from({ length: 300 }, () => Array.from({ length: 3000 }, (_, at) => at))
  const slices = new Slices(undefined, { isExpensive: true })
  let made: readonly number[] = []
  const turns = await turnsDuring(async () => {
    made = await inParts(() => sums(long), slices)
  })
  assert.equal(made.length, 300)
  assert.ok(turns > 1, `${turns} turns`)
})

test('a value that is nested deeply does not exhaust the stack', async () => {
  type Nested = readonly (Nested | number)[]
  let value: Nested = Array.from({ length: 1000 }, (_, at) => at)
  for (let level = 0; level < 1000; level++) value = [value]
  const sum = (nested: Nested): number => {
    const add = (state: { sum: number }, item: Nested | number): boolean => {
      state.sum += typeof item === 'number' ? item : sum(item)
      return true
    }
    return eachItem(nested, () => ({ sum: 0 }), add).sum
  }
  assert.equal(await inParts(() => sum(value), new Slices()), 499_500)
})
