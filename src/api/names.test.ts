import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkLabelValue,
  checkQualifiedName,
  checkUnderscoredSubdomain,
  labelTextOf,
} from './names.ts'

test('since 1.34, the error of a DNS search path has the pattern with underscores', () => {
  const [before, after] = [33, 34].flatMap((release) => checkUnderscoredSubdomain('-', release))
  assert.match(before ?? '', /validation is '\[a-z0-9\]/)
  assert.match(after ?? '', /validation is '_\?\[a-z0-9\]/)
})

test('since 1.35, errors of label keys and values count bytes', () => {
  const long = 'a'.repeat(64)
  const texts = [...checkQualifiedName(`${'a'.repeat(254)}/${long}`), ...checkLabelValue(long)]
  assert.deepEqual(
    texts.map((text) => labelTextOf(text, 35)),
    [
      'prefix part must be no more than 253 bytes',
      'name part must be no more than 63 bytes',
      'must be no more than 63 bytes',
    ],
  )
  assert.deepEqual(
    texts.map((text) => labelTextOf(text, 34)),
    [
      'prefix part must be no more than 253 characters',
      'name part must be no more than 63 characters',
      'must be no more than 63 characters',
    ],
  )
})

test('since 1.35, the error of a key with two slashes says that it is not a label key', () => {
  const [text = ''] = checkQualifiedName('a/b/c')
  assert.match(labelTextOf(text, 35), /^a valid label key must consist of /)
  assert.match(labelTextOf(text, 34), /^a qualified name must consist of /)
})
