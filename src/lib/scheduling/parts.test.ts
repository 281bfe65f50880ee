import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { allSteps, turnsDuring } from '../../../test/support/harness/turns.ts'
import {
  eachItem,
  eachKey,
  everyItem,
  inParts,
  isDivided,
  mapEach,
  once,
  parts,
  unsteadyWork,
} from './parts.ts'
import { inSlices, Slices, type Steps } from './slices.ts'
import type { Time } from '../time/timers.ts'

/** A time slice that is always over, so that the work pauses at each opportunity. */
const always = { isOver: true, begin: (): void => undefined }

const sums = (lists: readonly (readonly number[])[]): readonly number[] =>
  mapEach('lists', lists, (list) => {
    const made = eachItem(
      'list',
      list,
      () => ({ sum: 0 }),
      (state, item) => {
        state.sum += item
        return true
      },
    )
    return made.sum
  })

const lists = Array.from({ length: 50 }, (_, at) =>
  Array.from({ length: 50 }, (_item, index) => at * index),
)

test('work that is divided into parts has the same result as undivided work', () => {
  let calls = 0
  const work = (): unknown => {
    calls++
    const made = once('sums', () => sums(lists))
    const isSmall = everyItem('small', made, (sum) => sum < 10_000)
    const keys = eachKey(
      'keys',
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

test('however often divided work is interrupted, each list item is processed to its end exactly once', () => {
  const visited: number[] = []
  const work = (): unknown =>
    mapEach('visited lists', lists, (list, at) => {
      const made = mapEach('visited list', list, (item) => item)
      visited.push(at)
      return made.length
    })
  allSteps(parts(work, always))
  assert.deepEqual(visited, [...lists.keys()])
})

test('an error ends divided work, and work that runs afterwards is not divided', () => {
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

/**
 * Runs work that wrongly takes another path when it is repeated. Returns the result of the work,
 * and the messages that report this mistake.
 */
function unsteady<T>(work: () => T): { readonly made: T; readonly reported: readonly string[] } {
  const { report } = unsteadyWork
  const reported: string[] = []
  unsteadyWork.report = (message) => reported.push(message.slice(message.lastIndexOf(': ') + 2))
  try {
    return { made: allSteps(parts(work, always)), reported }
  } finally {
    unsteadyWork.report = report
  }
}

test('work that runs other loops when it is called again is run undivided, and the difference is reported', () => {
  let calls = 0
  const work = (): readonly number[] => {
    calls++
    if (calls > 1) mapEach('more', [1, 2, 3], (item) => item)
    return sums(lists)
  }
  assert.deepEqual(unsteady(work), { made: sums(lists), reported: ['more instead of lists'] })
  assert.equal(calls, 3)
})

test('a call of `once` does not reuse the result of a call of `once` with another label', () => {
  let calls = 0
  const work = (): string => {
    calls++
    const cached = calls > 1 ? 'cached' : once('first', () => 'first')
    const second = once('second', () => 'second')
    sums(lists)
    return `${cached} ${second}`
  }
  assert.deepEqual(unsteady(work), { made: 'cached second', reported: ['second instead of first'] })
})

test('divided work does not continue a loop whose list has another length when the work is called again', () => {
  let calls = 0
  const work = (): number => {
    calls++
    const made = mapEach('growing', lists.slice(0, calls), (list) => list.length)
    sums(lists)
    return made.length
  }
  assert.deepEqual(unsteady(work), { made: 3, reported: ['another list at growing'] })
})

test('work that catches the exception that pauses it runs undivided and is reported', () => {
  const attempt = (): readonly number[] | undefined => {
    try {
      return sums(lists)
    } catch {
      return undefined
    }
  }
  const translate = (): readonly number[] => {
    try {
      return sums(lists)
    } catch (cause) {
      throw new Error('translated', { cause })
    }
  }
  const reported = ['a pause was caught']
  assert.deepEqual(unsteady(attempt), { made: sums(lists), reported })
  assert.deepEqual(unsteady(translate), { made: sums(lists), reported })
  const goOn = (): unknown => [attempt(), sums(lists)]
  assert.deepEqual(unsteady(goOn), { made: [sums(lists), sums(lists)], reported })
})

test('each divided loop and each call of `once` in the source code has a unique label', () => {
  const source = new URL('../../', import.meta.url)
  const seen = new Map<string, string>()
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts') || name === 'lib/scheduling/parts.ts')
      continue
    const text = readFileSync(new URL(name, source), 'utf8')
    const [, imported = ''] =
      /^import \{([^}]*)\} from '[./]*lib\/scheduling\/parts\.ts'/m.exec(text) ?? []
    const names = imported.split(',').map((one) => one.trim())
    const labelled = names.filter((one) =>
      /^(once|eachItem|eachKey|everyItem|everyKey|firstOf|mapEach|repeat)$/.test(one),
    )
    if (labelled.length === 0) continue
    for (const [, call, argument = ''] of text.matchAll(
      new RegExp(`(?<![\\w.#])(${labelled.join('|')})\\(\\s*([^,]*),`, 'g'),
    )) {
      // This call of `repeat` does not need a label: its key is a position in a text.
      if (call === 'repeat' && /^start$|\.at$/.test(argument)) continue
      assert.match(argument, /^'[^']+'$/, `${name}: ${call} has no label`)
      assert.equal(
        seen.get(argument),
        undefined,
        `${name}: ${argument} is the label of another call`,
      )
      seen.set(argument, name)
    }
  }
  assert.ok(seen.size > 50, `${seen.size} labels`)
})

function caughtFailure(): unknown {
  let message = ''
  try {
    eachItem(
      'failing loop',
      [1, 2, 3],
      (): number[] => [],
      (seen, item) => {
        seen.push(item)
        assert.ok(seen.length < 3, `${seen.length} items`)
        return true
      },
    )
  } catch (error) {
    if (!(error instanceof assert.AssertionError)) throw error
    ;({ message } = error)
  }
  return [message, mapEach('loop after a failure', [1, 2], (item) => item)]
}

test('if divided work catches the error of a loop, the loop throws the same error when the work is called again', () => {
  assert.deepEqual(allSteps(parts(caughtFailure, { ...always, stepsPerLook: 1 })), caughtFailure())
})

test('the event loop runs other work between two parts of divided work', async () => {
  const long = Array.from({ length: 300 }, () => Array.from({ length: 3000 }, (_, at) => at))
  const slices = new Slices(undefined, { isExpensive: true })
  let made: readonly number[] = []
  const turns = await turnsDuring(async () => {
    made = await inParts(() => sums(long), slices)
  })
  assert.equal(made.length, 300)
  assert.ok(turns > 1, `${turns} turns`)
})

test('many short calls of divided work in a row yield to the event loop', async () => {
  let nowMs = 0
  let turns = 0
  const defer: Time['defer'] = (call) => {
    turns++
    setImmediate(call)
  }
  const slices = new Slices({ monotonicMs: () => nowMs, defer }, { isExpensive: true })
  const short = (): number[] => mapEach('a short work', [1], () => (nowMs += 2))
  const works = function* (): Steps<void> {
    for (let work = 0; work < 100; work++) yield* parts(short, slices)
  }
  await inSlices(works(), slices)
  assert.ok(turns > 20, `${turns} turns`)
})

test('a deeply nested value does not overflow the stack', async () => {
  type Nested = readonly (Nested | number)[]
  let value: Nested = Array.from({ length: 1000 }, (_, at) => at)
  for (let level = 0; level < 1000; level++) value = [value]
  const sum = (nested: Nested): number => {
    const add = (state: { sum: number }, item: Nested | number): boolean => {
      state.sum += typeof item === 'number' ? item : sum(item)
      return true
    }
    return eachItem('nested', nested, () => ({ sum: 0 }), add).sum
  }
  assert.equal(await inParts(() => sum(value), new Slices()), 499_500)
})

test('divided work pauses after a single long step, and after listing the keys of a map', () => {
  const clock = { nowMs: 0 }
  const slices = new Slices(
    { monotonicMs: () => clock.nowMs, defer: setImmediate },
    { isExpensive: true },
  )
  const fields = new Proxy(
    { a: 1, b: 2 },
    { ownKeys: (target) => ((clock.nowMs += 20), Reflect.ownKeys(target)) },
  )
  const work = (): unknown => {
    once('first long step', () => (clock.nowMs += 20))
    once('second long step', () => (clock.nowMs += 20))
    eachKey(
      'keys that take long',
      fields,
      () => undefined,
      () => true,
    )
    return eachKey(
      'keys that take long again',
      fields,
      () => 'done',
      () => true,
    )
  }
  const steps = parts(work, slices)
  let longestMs = 0
  for (let result = steps.next(); result.done !== true; ) {
    const sinceMs = clock.nowMs
    slices.begin()
    result = steps.next()
    longestMs = Math.max(longestMs, clock.nowMs - sinceMs)
  }
  assert.equal(clock.nowMs, 80)
  assert.equal(longestMs, 20)
})
