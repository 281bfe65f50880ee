import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textsOf } from '../../../../src/api/object.ts'
import { costSchema, factorText } from './cost-fields.ts'
import { type Case, readSample, recordedFaults, Sample, tablesOf } from './reference.ts'

const { schema, value } = await readSample()
const sample = new Sample(schema, value)

/** Removes durations. They differ between runs, so the recordings do not contain them. */
const withoutDurations = (text: string): string =>
  text.replace(/(?:\d[\d.]*(?:h|ms|m|us|µs|ns|s))+|\d*\.?<duration>/g, '<d>')

function answer({ id, expression, expected }: Case): string {
  if (Array.isArray(expected) || expected === 'accepted') return sample.faultOf(expression)
  if (!id.endsWith('-errors')) return sample.valueOf(expression)
  const error = sample.errorOf(expression)
  if (error !== 'no such overload') return error
  const signature = 'call arguments did not match a supported operator, function or macro signature'
  return `'no such overload': ${signature} for rule: [${expression}].size() < 0`
}

for (const file of ['cel-compile', 'cel-operators', 'cel-strings', 'cel-libraries']) {
  test(`the expressions of ${file} evaluate to the same results as in kube-apiserver`, () => {
    const wrong = tablesOf(file).flatMap((each) => {
      const expected = textsOf([each.expected].flat()).join('|')
      const actual = answer(each)
      const isSame = withoutDurations(actual) === withoutDurations(expected)
      return isSame ? [] : [{ expression: each.expression, expected, actual }]
    })
    assert.deepEqual(wrong, [])
  })
}

test('estimated costs equal those of kube-apiserver', () => {
  const fields = new Sample(costSchema, {})
  const wrong = tablesOf('cel-cost').flatMap(({ id, expression, expected }) => {
    const times = /^cel-cost-of-.*-(1e\d+)$/.exec(id)?.[1]
    if (times === undefined) return []
    const cost = fields.costOf(expression)
    const actual = typeof cost === 'number' ? factorText(cost, Number(times)) : cost
    return actual === expected ? [] : [{ id, expression, expected, actual }]
  })
  assert.deepEqual(wrong, [])
})

test('field names are escaped in the same way as in kube-apiserver', () => {
  const names = [
    'a-b',
    'c.d',
    'e/f',
    'g__h',
    'true',
    'in',
    'namespace',
    'int',
    'if',
    '1x',
    'x y',
    '$z',
    'é',
    '_u',
    '__v',
  ]
  const text = { type: 'string' }
  const escaped = new Sample(
    { type: 'object', properties: Object.fromEntries(names.map((name) => [name, text])) },
    {},
  )
  const refused = new Map(
    recordedFaults('cel-compile-escaped-names').map((fault) => [
      /Rule:"(.*?)", Message/.exec(fault)?.[1],
      fault,
    ]),
  )
  const rules = [
    ...[
      'a__dash__b',
      'c__dot__d',
      'e__slash__f',
      'g__underscores__h',
      '__true__',
      '__in__',
      '__namespace__',
    ],
    ...[
      'namespace',
      'int',
      '__int__',
      '__if__',
      '_u',
      '__underscores__v',
      '1x',
      'x__space__y',
      '__z',
      'é',
      'true',
      'g__h',
    ],
  ].map((name) => `has(self.${name})`)
  for (const rule of [...rules, "self['a-b'] == ''"]) {
    const expected =
      refused.get(rule)?.replace(/^.*?\}: /s, 'rule: FieldValueInvalid: ') ?? 'accepted'
    assert.equal(escaped.faultOf(rule), expected)
  }
})
