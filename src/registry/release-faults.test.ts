import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  invalidShown,
  invalidUnquoted,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../api/field-fault.ts'
import { parts } from '../lib/scheduling/parts.ts'
import { faultsOfRelease } from './release-faults.ts'

const faults = [
  invalidShown('spec.template', 'map[string]string{"a":"b"}', 'field is immutable'),
  required('status.conditions[0].reason', 'must be set'),
  required('spec.selector', 'must be set'),
  tooMany('spec.list', 2, 1),
  invalidUnquoted('spec.limits[5]', '5', 'bad'),
  invalidShown('spec.c', '"a\\x01<"', 'bad'),
  invalidValue('spec.a', null, 'bad'),
  notSupported('spec.b', 'null', ['<c>']),
]

test('in 1.33, validation errors have the original texts of the validation rules', () => {
  assert.deepEqual(faultsOfRelease(faults, 33), faults)
})

test('since 1.34, validation errors show values as JSON, and do not repeat the name of the field', () => {
  assert.deepEqual(
    faultsOfRelease(faults, 34).map(({ message }) => message),
    [
      'Invalid value: {"a":"b"}: field is immutable',
      'Required value',
      'Required value: must be set',
      'Too many: 2: must have at most 1 item',
      'Invalid value: "5": bad',
      'Invalid value: "a\\x01<": bad',
      'Invalid value: null: bad',
      'Unsupported value: "null": supported values: "<c>"',
    ],
  )
})

test('the texts of many validation errors are adapted to a later release in parts', () => {
  let ticks = 0
  const many = Array.from({ length: 1_000 }, (_, at) => invalidShown(`spec[${at}]`, '"a"', 'bad'))
  const slices = { begin: () => undefined, isOver: true }
  const steps = parts(() => faultsOfRelease(many, 34), slices)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) {
      assert.equal(value.length, many.length)
      break
    }
    ticks++
  }
  assert.ok(ticks > 50, `the work had only ${ticks} parts`)
})

test('the text about a long label depends on the release, and a text of the author of a CRD does not', () => {
  const why = 'must be no more than 63 bytes'
  const own = { ...invalidValue('spec', 'x', why), isAuthored: true } as const
  const value = invalidValue('spec.b', why, 'bad')
  const textsIn = (release: number): readonly string[] =>
    faultsOfRelease([invalidValue('spec.a', 'x', why), own, value], release).map(
      ({ message }) => message,
    )
  const others = [`Invalid value: "x": ${why}`, `Invalid value: "${why}": bad`]
  for (const release of [33, 34])
    assert.deepEqual(textsIn(release), [
      'Invalid value: "x": must be no more than 63 characters',
      ...others,
    ])
  assert.deepEqual(textsIn(35), [`Invalid value: "x": ${why}`, ...others])
})
