import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../../../test/support/harness/turns.ts'
import { FAULTS_MAX } from '../../../api/field-fault.ts'
import type { Json } from '../../../api/object.ts'
import { validateLabelRequirements, validateSelectorSizes } from './access-selectors.ts'

const many = (count: number, item: Json): Json => Array.from({ length: count }, () => item)
const withLabels = (labelSelector: Json) => ({ spec: { resourceAttributes: { labelSelector } } })
const withFields = (fieldSelector: Json) => ({ spec: { resourceAttributes: { fieldSelector } } })
const values = (count: number): Json => ({ key: 'a', operator: 'In', values: many(count, 'v') })

const refused: readonly [string, Parameters<typeof validateSelectorSizes>[0], string][] = [
  [
    'a million label requirements',
    withLabels({ requirements: many(1_000_000, {}) }),
    'spec.resourceAttributes.labelSelector.requirements: Too many: 1000000: must have at most 1000 items',
  ],
  [
    'a million field requirements',
    withFields({ requirements: many(1_000_000, {}) }),
    'spec.resourceAttributes.fieldSelector.requirements: Too many: 1000000: must have at most 1000 items',
  ],
  [
    'more than 10,000 values in all requirements together',
    withLabels({ requirements: [values(9_000), values(1_001)] }),
    'spec.resourceAttributes.labelSelector.requirements[1].values: Too many: 10001: must have at most 10000 items',
  ],
  [
    'a raw selector of more than 1 MB',
    withFields({ rawSelector: `a=${'x'.repeat(1 << 20)}` }),
    'spec.resourceAttributes.fieldSelector.rawSelector: Too long: may not be more than 1048576 bytes',
  ],
]
for (const [what, review, fault] of refused) {
  test(`an access review with ${what} is rejected quickly`, () => {
    let faults: string[] = []
    const ms = cpuMsOf(() => {
      faults = validateSelectorSizes(review).map(({ path, message }) => `${path}: ${message}`)
    })
    assert.deepEqual(faults, [fault])
    assert.ok(ms < 50, `${ms} ms`)
  })
}

test('an access review can have as many label requirements and values as a label selector in a query', () => {
  const requirements = many(1000, values(10))
  assert.deepEqual(validateSelectorSizes(withLabels({ requirements })), [])
  assert.deepEqual(validateLabelRequirements({ requirements }, 'spec'), [])
})

test('the number of reported errors in the values of an access review is limited', () => {
  const requirements = [{ key: 'a', operator: 'In', values: many(100_000, '-') }]
  assert.equal(validateLabelRequirements({ requirements }, 'spec').length, FAULTS_MAX)
})
