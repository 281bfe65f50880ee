import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closest } from './closest.ts'

const words = ['get', 'list', 'watch', 'delete', 'deletecollection', 'pods', 'podtemplates']

for (const [word, expected] of [
  ['gett', 'get'],
  ['podz', 'pods'],
  ['pdos', 'pods'],
  ['delte', 'delete'],
  ['xyz', undefined],
  ['ge', undefined],
  ['get', 'get'],
  ['', undefined],
  ['xwatch', 'watch'],
  ['collectiondelete', undefined],
  ['pdotemplatse', 'podtemplates'],
  ['deletecoletcion', 'deletecollection'],
] as const)
  test(`the closest word to ${JSON.stringify(word)} is ${expected ?? 'not defined'}`, () => {
    assert.equal(closest(word, words), expected)
  })

test('for a long word, no similar word is suggested, because the comparison takes quadratic time', () => {
  assert.equal(closest('a'.repeat(65), ['a'.repeat(65)]), undefined)
})
