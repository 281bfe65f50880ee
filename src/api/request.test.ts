import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { elementsOf, parametersOf } from './request.ts'

test('the elements of a header and their parameters have no blanks around them', () => {
  deepEqual(elementsOf(' a, b;q=1 ,,c'), ['a', 'b;q=1', '', 'c'])
  deepEqual(parametersOf('a/b ; q = 1;x'), ['a/b', 'q = 1', 'x'])
})

test('of a header of 1 MB few elements and few parameters count', () => {
  equal(elementsOf('a,'.repeat(500_000)).length, 500)
  equal(parametersOf('a;'.repeat(500_000)).length, 100)
})
