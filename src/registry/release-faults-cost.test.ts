import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldFault, FAULTS_CHARACTERS_MAX, type ShownValue } from '../api/field-fault.ts'
import { cpuMsOf } from '../../test/support/harness/turns.ts'
import { QUOTED_CHARACTERS_MAX } from '../lib/text/cut-text.ts'
import { faultsOfRelease } from './release-faults.ts'

test('since 1.34, a long value that many errors share is printed once', () => {
  const json = Array.from({ length: 5_000 }, (_, at) => ({ name: `${at}`, controller: true }))
  const faults = json.map(() => ({
    reason: 'FieldValueInvalid' as const,
    path: 'metadata.ownerReferences',
    message: 'Invalid value: []v1.OwnerReference{...}: only one controller',
    shown: '[]v1.OwnerReference{...}',
    value: { json },
  }))
  const ms = cpuMsOf(() => void faultsOfRelease(faults, 34))
  assert.ok(ms < 500, `${ms} ms`)
})

const shownFault = (value: ShownValue): FieldFault => ({
  reason: 'FieldValueInvalid',
  path: 'spec.template',
  message: 'Invalid value: core.PodTemplateSpec{...}: field is immutable',
  shown: 'core.PodTemplateSpec{...}',
  value,
})

const templateOf = (containers: number): ShownValue => ({
  type: 'core.PodTemplateSpec',
  json: { spec: { containers: Array.from({ length: containers }, () => ({})) } },
})

test('since 1.34, only the beginning of a long value is printed', () => {
  const faults = [shownFault(templateOf(10)), shownFault(templateOf(100))]
  const [whole = '', cut = ''] = faultsOfRelease(faults, 34).map(({ message }) => message)
  assert.ok(cut.startsWith(whole.slice(0, whole.indexOf(']'))))
  assert.match(cut, /\.\.\. \(more characters\): field is immutable$/)
  assert.ok(cut.length < QUOTED_CHARACTERS_MAX + 100)
})

test('since 1.34, an error about a value of megabytes takes a few milliseconds', () => {
  const faults = [shownFault(templateOf(300_000))]
  const ms = cpuMsOf(() => void faultsOfRelease(faults, 34))
  assert.ok(ms < 250, `${ms} ms`)
})

test('since 1.34, an error about a template with very many labels takes a few milliseconds', () => {
  const labels = Object.fromEntries(Array.from({ length: 150_000 }, (_, at) => [`key${at}`, 'v']))
  const faults = [shownFault({ type: 'core.PodTemplateSpec', json: { metadata: { labels } } })]
  const ms = cpuMsOf(() => void faultsOfRelease(faults, 34))
  assert.ok(ms < 150, `${ms} ms`)
})

test('since 1.34, the errors of one object have a maximum length together', () => {
  const faults = Array.from({ length: 5_000 }, () => shownFault(templateOf(100)))
  const reported = faultsOfRelease(faults, 34)
  const characters = reported.reduce(
    (sum, { path, message }) => sum + path.length + message.length,
    0,
  )
  assert.ok(reported.length > 1)
  assert.ok(characters < FAULTS_CHARACTERS_MAX + 2 * QUOTED_CHARACTERS_MAX, `${characters}`)
})

test('since 1.34, a text of megabytes is not read to show it as JSON', () => {
  const shown = `[]string{${'"a", '.repeat(500_000)}}`
  const { value: _, ...fault } = shownFault({ json: null })
  const faults = [{ ...fault, message: `Invalid value: ${shown}: bad`, shown }]
  const ms = cpuMsOf(() => void faultsOfRelease(faults, 34))
  assert.ok(ms < 100, `${ms} ms`)
})
