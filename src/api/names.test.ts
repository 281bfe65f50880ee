import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkUnderscoredSubdomain } from './names.ts'

test('since 1.34, the error of a DNS search path has the pattern with underscores', () => {
  const [before, after] = [33, 34].flatMap((release) => checkUnderscoredSubdomain('-', release))
  assert.match(before ?? '', /validation is '\[a-z0-9\]/)
  assert.match(after ?? '', /validation is '_\?\[a-z0-9\]/)
})
