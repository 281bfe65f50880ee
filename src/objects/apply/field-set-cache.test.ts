import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { fieldSetOf } from './field-paths.ts'
import { FieldSetCache } from './field-set-cache.ts'

test('`text` returns the cached text of an equal set, but not that of a different set', () => {
  const known = new FieldSetCache()
  known.add('text', fieldSetOf(['spec.a', 'spec.b']))
  equal(known.text(fieldSetOf(['spec.b', 'spec.a'])), 'text')
  equal(known.text(fieldSetOf(['spec.a', 'spec.c'])), undefined)
  equal(known.text(fieldSetOf(['spec.a'])), undefined)
})

test('if the cache is full, the oldest texts are evicted', () => {
  const known = new FieldSetCache()
  const sets = Array.from({ length: 200 }, (_, at) => fieldSetOf([`f${at}.a`]))
  for (const [at, set] of sets.entries()) known.add(`${at}`.padEnd(10_000), set)
  equal(known.text(fieldSetOf(['f0.a'])), undefined)
  equal(known.text(fieldSetOf(['f199.a']))?.trim(), '199')
})
