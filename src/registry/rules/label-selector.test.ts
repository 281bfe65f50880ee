import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesLabels } from '../../api/label-selector.ts'
import type { Fields } from '../../api/object.ts'
import {
  goLabelSelector,
  printLabelSelector,
  requirementsOf,
  selects,
  validateLabelSelector,
} from './label-selector.ts'

const rich: Fields = {
  matchLabels: { z: '1', app: 'a' },
  matchExpressions: [
    { key: 'tier', operator: 'In', values: ['y', 'x'] },
    { key: 'no', operator: 'DoesNotExist' },
    { key: 'yes', operator: 'Exists' },
    { key: 'not', operator: 'NotIn', values: ['q'] },
  ],
}

test('printLabelSelector sorts the requirements by key', () => {
  assert.equal(printLabelSelector(rich), 'app=a,!no,not notin (q),tier in (x,y),yes,z=1')
  assert.equal(printLabelSelector({}), '')
})

test('a label selector selects labels that satisfy all of its requirements', () => {
  const labels = { app: 'a', z: '1', tier: 'x', yes: '' }
  assert.equal(selects(rich, labels), true)
  assert.equal(selects(rich, { ...labels, no: '' }), false)
  assert.equal(selects(rich, { ...labels, tier: 'z' }), false)
  assert.equal(selects({}, undefined), true)
  assert.equal(selects(undefined, labels), false)
  assert.equal(selects({ matchExpressions: [{ key: 'a', operator: 'Is' }] }, labels), false)
})

const faults = (expression: Fields): string[] =>
  validateLabelSelector({ matchExpressions: [expression] }, 's').map(
    ({ path, message }) => `${path}: ${message}`,
  )

test('validation covers the keys, operators and values of a label selector', () => {
  assert.deepEqual(validateLabelSelector(rich, 's'), [])
  assert.deepEqual(faults({ key: 'a', operator: 'Is' }), [
    's.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator',
  ])
  assert.deepEqual(faults({ key: 'a', operator: 'In' }), [
    "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ])
  assert.equal(faults({ key: '', operator: 'Exists', values: ['-'] }).length, 4)
})

test('error messages show a label selector in Go syntax', () => {
  assert.equal(
    goLabelSelector({ matchLabels: { b: '2', a: '1' } }),
    'v1.LabelSelector{MatchLabels:map[string]string{"a":"1", "b":"2"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}',
  )
  assert.equal(
    goLabelSelector({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }),
    'v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"a", Operator:"Exists", Values:[]string(nil)}}}',
  )
})

test('a label selector and its list of requirements select the same labels, and an invalid selector selects nothing', () => {
  const word = fc.constantFrom('a', 'b', 'app', '', '-')
  const expression = fc.record(
    {
      key: word,
      operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Is'),
      values: fc.array(word),
    },
    { requiredKeys: ['key', 'operator'] },
  )
  const selector = fc.record(
    {
      matchLabels: fc.dictionary(word, word),
      matchExpressions: fc.array(expression, { maxLength: 3 }),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(
      selector,
      fc.option(fc.dictionary(word, word), { nil: undefined }),
      (given, labels) => {
        const requirements = requirementsOf(given)
        assert.equal(
          selects(given, labels),
          requirements !== undefined && matchesLabels(requirements, labels),
        )
      },
    ),
    { numRuns: 1000 },
  )
})
