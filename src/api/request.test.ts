import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { elementsOf, parametersOf } from './request.ts'

test('the elements of a header and their parameters are trimmed', () => {
  deepEqual(elementsOf(' a, b;q=1 ,,c'), ['a', 'b;q=1', '', 'c'])
  deepEqual(parametersOf('a/b ; q = 1;x'), ['a/b', 'q = 1', 'x'])
})

test('the numbers of elements and parameters of a long header are limited', () => {
  equal(elementsOf('a,'.repeat(500_000)).length, 500)
  equal(parametersOf('a;'.repeat(500_000)).length, 100)
})
