import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fields, textOf } from '../api/object.ts'
import { isSame } from '../objects/schema/equal.ts'
import { mergeTolerations } from './tolerations.ts'

/** Reference implementation, which compares all pairs. */
function mergedSlowly(tolerations: readonly Fields[]): readonly Fields[] {
  const kept: Fields[] = []
  for (const [at, one] of tolerations.entries()) {
    const later = tolerations.slice(at + 1).filter((other) => !isSame(one, other))
    if (![...kept, ...later].some((other) => covers(other, one))) kept.push(one)
  }
  return kept
}

function covers(wide: Fields, narrow: Fields): boolean {
  if (isSame(wide, narrow)) return true
  const isAnyKey = textOf(wide['key']) === '' && wide['operator'] === 'Exists'
  if (textOf(wide['key']) !== textOf(narrow['key']) && !isAnyKey) return false
  const effect = textOf(wide['effect'])
  if (effect !== '' && effect !== textOf(narrow['effect'])) return false
  if (effect === 'NoExecute' && secondsOf(narrow) > secondsOf(wide)) return false
  if (wide['operator'] === 'Exists') return true
  return narrow['operator'] === 'Equal' && textOf(narrow['value']) === textOf(wide['value'])
}

const secondsOf = ({ tolerationSeconds }: Fields): number =>
  tolerationSeconds === undefined ? Infinity : Number(tolerationSeconds)

const choices: { readonly [field: string]: readonly (string | number | undefined)[] } = {
  key: [undefined, 'a', 'b'],
  operator: [undefined, 'Exists', 'Equal'],
  value: [undefined, 'x'],
  effect: [undefined, 'NoSchedule', 'NoExecute'],
  tolerationSeconds: [undefined, 1, 2],
}

/**
 * Returns the toleration that belongs to a number. The number is read in a mixed radix: each digit
 * selects the value of one field.
 */
function tolerationOf(number: number): Fields {
  let rest = number
  const chosen = Object.entries(choices).flatMap(([field, values]) => {
    const value = values[rest % values.length]
    rest = Math.floor(rest / values.length)
    return value === undefined ? [] : [[field, value] as const]
  })
  return Object.fromEntries(chosen)
}

test('mergeTolerations returns the same tolerations as a comparison of all pairs', () => {
  let state = 1
  const next = (): number => (state = (state * 48_271) % 2_147_483_647)
  for (let round = 0; round < 3000; round++) {
    const list = Array.from({ length: 1 + (next() % 6) }, () => tolerationOf(next() % 162))
    assert.deepEqual(mergeTolerations(list), mergedSlowly(list), JSON.stringify(list))
  }
})

test('merging many tolerations does not take quadratic time', () => {
  const list = Array.from({ length: 40_000 }, (_, at) => ({ key: `k${at}`, operator: 'Exists' }))
  const since = process.cpuUsage()
  assert.equal(mergeTolerations(list).length, list.length)
  const { user, system } = process.cpuUsage(since)
  assert.ok(user + system < 3_000_000, `took ${(user + system) / 1000} ms of CPU`)
})
