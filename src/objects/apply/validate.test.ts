import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ListMerge, structField, type StructMerge } from './merge-type.ts'
import { validateApplied, validateStored } from './validate.ts'

const text = { form: 'scalar', scalar: 'string' } as const
const item: StructMerge = {
  form: 'struct',
  isAtomic: false,
  fields: new Map([['name', structField('name', text)]]),
}

const secretsBy = (given: string | undefined): StructMerge => {
  const secrets: ListMerge = {
    form: 'list',
    by: 'keys',
    keys: [{ name: 'name', default: given, isOptional: false }],
    of: item,
  }
  return {
    form: 'struct',
    isAtomic: false,
    fields: new Map([['secrets', structField('secrets', secrets)]]),
  }
}

const omitted =
  'associative list with keys has an element that omits key field "name" (and doesn\'t have default value)'

test('validation of a list with keys stops at the first item that lacks its key', () => {
  assert.deepEqual(validateApplied({ secrets: [{}, {}] }, secretsBy(undefined)), [
    `.secrets: element 0: ${omitted}`,
  ])
})

test('a list with keys can have several stored items with the same key, but no items without a key', () => {
  assert.deepEqual(
    validateStored({ secrets: [{ name: 'a' }, { name: 'a' }] }, secretsBy(undefined)),
    [],
  )
  assert.deepEqual(validateStored({ secrets: [{}] }, secretsBy(undefined)), [
    `.secrets: element 0: ${omitted}`,
  ])
  assert.deepEqual(validateStored({ secrets: [{}] }, secretsBy('')), [])
})

test('before 1.34, an error about a string of the wrong type is used as a format string', () => {
  assert.deepEqual(validateApplied({ secrets: '50%% %5.2d x%' }, secretsBy('')), [
    '.secrets: expected list, got &{50% %!d(MISSING) x%!}(MISSING)',
  ])
  const since34 = { ...secretsBy(''), isVerbatim: true }
  assert.deepEqual(validateApplied({ secrets: '50%% %5.2d x%' }, since34), [
    '.secrets: expected list, got &{50%% %5.2d x%}',
  ])
})
