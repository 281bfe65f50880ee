import assert from 'node:assert/strict'
import { test } from 'node:test'
import { required } from '../../../api/field-fault.ts'
import { eachOf } from './each.ts'

test('eachOf yields before each item if the time slice is over, and whenever the work on an item yields', () => {
  const turns = eachOf(['a', 'b', 'c'], { isOver: () => true }, function* (item, at) {
    yield undefined
    return item === 'b' ? [required(`list[${at}]`)] : []
  })
  for (let given = 0; given < 6; given++)
    assert.deepEqual(turns.next(), { done: false, value: undefined })
  assert.deepEqual(turns.next(), { done: true, value: [required('list[1]')] })
})
