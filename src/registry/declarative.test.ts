import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldFault, invalidValue, required } from '../api/field-fault.ts'
import { defaultGates, type Gates } from '../api/gates.ts'
import type { KubeObject } from '../api/object.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { Metrics } from '../lib/telemetry/metrics.ts'
import { mapEach, parts } from '../lib/scheduling/parts.ts'
import { allSteps } from '../../test/support/harness/turns.ts'
import { builtInResources } from './built-in.ts'
import { DeclarativeReporter, withDeclarative } from './declarative.ts'
import type { KindRules } from './kind-rules.ts'
import { rulesByKind } from './kinds/all.ts'

const negative = (path: string): FieldFault =>
  invalidValue(path, -1, 'must be greater than or equal to 0')
const controller: KubeObject = {
  kind: 'ReplicationController',
  apiVersion: 'v1',
  metadata: { name: 'a' },
  spec: {},
}

const withGates = (...on: readonly string[]): Gates => ({
  ...defaultGates,
  isOn: (name) => (name.startsWith('Declarative') ? on.includes(name) : defaultGates.isOn(name)),
})

/**
 * Runs the handwritten and the declarative validation. Returns the validation errors, the log, and
 * the values of the two counters.
 */
function runBoth(rules: KindRules, { isTakenOver = false, isUpdate = false } = {}) {
  const logged: string[] = []
  const log: Log = (level, message) => logged.push(`${level} ${message}`)
  const metrics = new Metrics()
  const both = withDeclarative(rules, {
    isTakenOver,
    reporter: new DeclarativeReporter(metrics, log),
  })
  const faults = isUpdate
    ? both.validateUpdate?.(controller, controller, defaultGates)
    : both.validate?.(controller, defaultGates)
  const count = (what: string): string | undefined =>
    new RegExp(`^apiserver_validation_declarative_validation_${what}_total (.*)$`, 'm').exec(
      metrics.print(),
    )?.[1]
  return { faults, logged, mismatches: count('mismatch'), panics: count('panic') }
}

const difference =
  'Unexpected difference between hand written validation and declarative validation error results'
const isHarmless =
  'This indicates an issue with declarative validation. ' +
  'This difference should not affect system operation since hand written validation is authoritative.'
const isHarmful =
  'This indicates an issue with declarative validation. Consider disabling the DeclarativeValidationTakeover ' +
  'feature gate to keep data persisted in etcd consistent with prior versions of Kubernetes.'
const minimum = '{Type="FieldValueInvalid", Field="spec.a", Origin="minimum"}'

test('if declarative and handwritten validation agree, nothing is logged, and the handwritten errors are returned', () => {
  const own: FieldFault[] = [{ ...negative('spec.a'), tag: 'minimum' }, required('spec.other')]
  const declared: FieldFault[] = [{ ...negative('spec.a'), tag: 'minimum' }]
  const result = runBoth({ validate: () => [...own, ...own], declarative: () => declared })
  assert.deepEqual(result, { faults: [...own, ...own], logged: [], mismatches: '0', panics: '0' })
})

test('an error that declarative validation should find but does not is logged and counted', () => {
  const own: FieldFault[] = [{ ...negative('spec.a'), tag: 'minimum' }]
  const result = runBoth({ validate: () => own, declarative: () => [] })
  const logged = [`error ${difference}, unmatched error(s) found ${minimum}. ${isHarmless}`]
  assert.deepEqual(result, { faults: own, logged, mismatches: '1', panics: '0' })
})

test('an error that only declarative validation finds is logged and counted', () => {
  const result = runBoth({
    validate: () => [],
    declarative: () => [{ ...negative('spec.a'), tag: 'minimum' }],
  })
  const logged = [`error ${difference}, extra error(s) found ${minimum}. ${isHarmless}`]
  assert.deepEqual(result, { faults: [], logged, mismatches: '1', panics: '0' })
})

test('a declarative and a handwritten error of the same field do not match if their reasons differ', () => {
  const result = runBoth({
    validate: () => [{ ...required('spec.a'), tag: 'required' }],
    declarative: () => [{ ...negative('spec.a'), tag: 'minimum' }],
  })
  assert.equal(result.mismatches, '2')
  assert.match(
    result.logged[0] ?? '',
    /unmatched .*\{Type="FieldValueRequired", Field="spec.a", Origin=""\}/,
  )
})

test('with DeclarativeValidationTakeover, declarative errors replace the handwritten ones, and mismatches are logged with advice', () => {
  const declared: FieldFault[] = [{ ...negative('spec.b'), tag: 'minimum' }]
  const rules: KindRules = {
    validate: () => [{ ...negative('spec.a'), tag: 'minimum' }, required('spec.other')],
    declarative: () => declared,
  }
  const { faults, logged } = runBoth(rules, { isTakenOver: true })
  assert.deepEqual(faults, [required('spec.other'), ...declared])
  assert.deepEqual(logged, [
    `error ${difference}, unmatched error(s) found ${minimum}. ${isHarmful}`,
    `error ${difference}, extra error(s) found ${minimum.replace('.a', '.b')}. ${isHarmful}`,
  ])
})

test('an internal error of declarative validation is logged and counted, and rejects the object only with DeclarativeValidationTakeover', () => {
  const rules: KindRules = {
    validate: () => [],
    declarative: () => {
      throw new TypeError('x is undefined')
    },
  }
  const logged = ['error panic during declarative validation: x is undefined']
  assert.deepEqual(runBoth(rules, { isUpdate: true }), {
    faults: [],
    logged,
    mismatches: '0',
    panics: '1',
  })
  const { faults, panics, logged: harmful } = runBoth(rules, { isTakenOver: true, isUpdate: true })
  const message = 'Internal error: panic during declarative validation: x is undefined'
  assert.deepEqual(faults, [{ path: '<nil>', reason: 'InternalError', message }])
  assert.equal(panics, '1')
  assert.equal(harmful.length, 1, 'the internal error is an extra one')
})

test('only ReplicationController has declarative validation, and only if the gate is on', () => {
  const kinds = [...rulesByKind]
    .filter(([, { declarative }]) => declarative !== undefined)
    .map(([kind]) => kind)
  assert.deepEqual(kinds, ['ReplicationController'])
  const validated: string[] = []
  const reporter = { mismatch: (detail: string) => validated.push(detail), panic: () => undefined }
  const faultsOf = (...gates: readonly string[]): string[] => {
    const resources = builtInResources({ gates: withGates(...gates), declarative: reporter })
    const resource = resources.find(({ kind }) => kind === 'ReplicationController') ?? assert.fail()
    const spec = { replicas: -1, minReadySeconds: -2, selector: { a: 'b' } }
    return resource.rules.validate({ ...controller, spec }).map(({ path }) => path)
  }
  const byHand = ['spec.minReadySeconds', 'spec.replicas', 'spec.template']
  assert.deepEqual(faultsOf(), byHand)
  assert.deepEqual(faultsOf('DeclarativeValidation'), byHand)
  const both = ['DeclarativeValidation', 'DeclarativeValidationTakeover']
  assert.deepEqual(faultsOf(...both), ['spec.template', 'spec.replicas', 'spec.minReadySeconds'])
  assert.deepEqual(faultsOf('DeclarativeValidationTakeover'), byHand)
  assert.deepEqual(validated, [])
})

const sorted = (faults: readonly FieldFault[]): string[] =>
  faults.map((fault) => JSON.stringify(fault)).toSorted()

test('declarative and handwritten validation find the same errors in the tagged fields of a ReplicationController', () => {
  const rules = rulesByKind.get('ReplicationController') ?? assert.fail()
  for (const spec of [
    {},
    { replicas: 0 },
    { replicas: -1 },
    { replicas: 2, minReadySeconds: -3 },
    { replicas: -4, minReadySeconds: -5 },
  ]) {
    const object = { ...controller, spec }
    const covered =
      rules.validate?.(object, defaultGates).filter(({ tag }) => tag !== undefined) ?? []
    assert.deepEqual(sorted(rules.declarative?.(object) ?? []), sorted(covered))
  }
})

test('a mismatch of declarative validation is reported once, even if the object is validated in several time slices', () => {
  const items = Array.from({ length: 100 }, (_, at) => at)
  const faults = (): FieldFault[] =>
    mapEach('items of test', items, () => negative('spec.a')).slice(0, 1)
  const logged: string[] = []
  const log: Log = (_, message) => logged.push(message)
  const rules: KindRules = { validate: () => [], declarative: faults }
  const reporter = new DeclarativeReporter(new Metrics(), log)
  const { validate } = withDeclarative(rules, { isTakenOver: false, reporter })
  const work = (): unknown => [
    validate?.(controller, defaultGates),
    mapEach('later items', items, () => 0).length,
  ]
  assert.deepEqual(allSteps(parts(work, { isOver: true, begin: () => undefined })), [[], 100])
  assert.equal(logged.length, 1)
  assert.match(logged[0] ?? '', /extra error/)
})
