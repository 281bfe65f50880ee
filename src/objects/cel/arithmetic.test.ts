import { equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { add } from './arithmetic.ts'
import { Run } from './run.ts'
import { isList, type ListValue, type Value } from './values.ts'

/** A list of type set that counts how often its items are identified. */
class CountedSet implements ListValue {
  readonly isList = true
  readonly size: number
  looks = 0

  constructor(size: number) {
    this.size = size
  }

  readonly identity = (item: Value): string => {
    this.looks++
    return typeof item === 'string' ? item : ''
  }

  at(index: number): Value {
    return `a${index}`
  }
}

const called = (): Run => {
  const run = new Run({}, Infinity)
  run.startCall()
  return run
}

test('joining two CEL sets fails before any item is read if the join would take too long', () => {
  const large = new CountedSet(60_000)
  throws(() => add(large, new CountedSet(1), called()))
  equal(large.looks, 0)
  const joined = add(new CountedSet(30_000), new CountedSet(10_000), called())
  ok(isList(joined))
  equal(joined.size, 30_000)
})
