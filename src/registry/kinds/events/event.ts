/**
 * Rules for Events. Events of the core group and of events.k8s.io are two versions of the same
 * objects. They are stored and validated as core Events. Requests through events.k8s.io are
 * validated more strictly.
 */
import { type FieldFault, invalidShown, invalidValue, required } from '../../../api/field-fault.ts'
import { goTime } from '../../../api/go-value.ts'
import { checkQualifiedName } from '../../../api/names.ts'
import { fieldsOf, isNumber, type Json, type KubeObject } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import { isEqualAs } from '../../rules/equality.ts'
import type { KindRules } from '../../kind-rules.ts'

const REASON_BYTES_MAX = 128
const MESSAGE_BYTES_MAX = 1024

const referenceFields = [
  'kind',
  'namespace',
  'name',
  'uid',
  'apiVersion',
  'resourceVersion',
  'fieldPath',
]

export const coreEventRules: KindRules = {
  strategy: { names: 'any', ignoresMetadata: true, updateChecks: ['rules'], createsOnUpdate: true },
  isGarbageCollected: false,
  selectableFields: {
    ...readersOf('involvedObject', referenceFields),
    reason: (event) => textOf(event['reason']),
    reportingComponent: (event) => textOf(event['reportingComponent']),
    source: (event) =>
      textOf(fieldsOf(event['source'])['component']) || textOf(event['reportingComponent']),
    type: (event) => textOf(event['type']),
  },
  validate: (event) => validateBasics(event, 'reportingComponent'),
}

export const newEventRules: KindRules = {
  // Errors name the core group, because it contains Kubernetes' internal version of Event.
  strategy: { createsOnUpdate: true, faultGroup: '' },
  isGarbageCollected: false,
  selectableFields: {
    ...readersOf('regarding', referenceFields),
    reason: (event) => textOf(event['reason']),
    reportingController: (event) => textOf(event['reportingController']),
    type: (event) => textOf(event['type']),
  },
  convert: { toStored, fromStored },
  validate: (event) => validateStrictly(toStored(event)),
  validateUpdate: (event, current) => validateChange(toStored(event), toStored(current)),
}

/** Pairs of field names: the name in events.k8s.io, and the name in the core group. */
const names: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
  ['reportingController', 'reportingComponent'],
]
const toOld = new Map(names)
const toNew = new Map(names.map(([newer, older]) => [older, newer]))

export function toStored(event: KubeObject): KubeObject {
  return renamed(event, toOld)
}

function fromStored(event: KubeObject): KubeObject {
  return renamed(event, toNew)
}

function renamed(event: KubeObject, by: ReadonlyMap<string, string>): KubeObject {
  const { kind, apiVersion, metadata } = event
  const fields = Object.entries(event).map(([name, value]): [string, Json | undefined] => [
    by.get(name) ?? name,
    value,
  ])
  return { ...Object.fromEntries(fields), kind, apiVersion, metadata }
}

/**
 * Validates the rules that both versions share. `controllerField` is the name of the reporting
 * controller's field in the requested version.
 */
function validateBasics(event: KubeObject, controllerField: string): FieldFault[] {
  const { namespace = '' } = event.metadata
  const about = textOf(fieldsOf(event['involvedObject'])['namespace'])
  const mismatch = invalidValue('involvedObject.namespace', about, 'does not match event.namespace')
  if (event['eventTime'] === undefined) {
    const isFine = about === '' ? namespace === '' || namespace === 'default' : about === namespace
    return isFine ? [] : [mismatch]
  }
  const faults: FieldFault[] = []
  if (about === '' && namespace !== 'default' && namespace !== 'kube-system') faults.push(mismatch)
  const controller = textOf(event['reportingComponent'])
  if (controller === '') faults.push(required(controllerField))
  faults.push(
    ...checkQualifiedName(controller).map((why) => invalidValue(controllerField, controller, why)),
  )
  faults.push(...validateText(event, 'reportingInstance'), ...validateText(event, 'action'))
  faults.push(...validateText(event, 'reason'))
  if (Buffer.byteLength(textOf(event['message'])) > MESSAGE_BYTES_MAX) {
    faults.push(invalidValue('message', '', `can have at most ${MESSAGE_BYTES_MAX} characters`))
  }
  return faults
}

function validateText(event: KubeObject, field: string): FieldFault[] {
  const text = textOf(event[field])
  if (text === '') return [required(field)]
  if (Buffer.byteLength(text) <= REASON_BYTES_MAX) return []
  return [invalidValue(field, '', `can have at most ${REASON_BYTES_MAX} characters`)]
}

function validateStrictly(event: KubeObject): FieldFault[] {
  const type = textOf(event['type'])
  const faults = [...validateBasics(event, 'reportingController'), ...validateSeries(event)]
  if (event['eventTime'] === undefined) faults.push(required('eventTime'))
  if (type !== 'Normal' && type !== 'Warning')
    faults.push(invalidValue('type', '', `has invalid value: ${type}`))
  const unset: readonly [string, boolean][] = [
    ['firstTimestamp', event['firstTimestamp'] === undefined],
    ['lastTimestamp', event['lastTimestamp'] === undefined],
    ['count', (event['count'] ?? 0) === 0],
    ['source', isSame(event['source'], {})],
  ]
  for (const [field, isUnset] of unset) {
    if (!isUnset) faults.push(invalidValue(field, '', 'needs to be unset'))
  }
  return faults
}

function validateSeries(event: KubeObject): FieldFault[] {
  const { series } = event
  if (series === undefined || series === null) return []
  const { count = 0, lastObservedTime } = fieldsOf(series)
  const faults: FieldFault[] = []
  if (typeof count === 'number' && count < 2)
    faults.push(invalidValue('series.count', '', 'should be at least 2'))
  if (lastObservedTime === undefined) faults.push(required('series.lastObservedTime'))
  return faults
}

/**
 * Immutable fields in kube-apiserver's order. `reason` is listed twice, because kube-apiserver also
 * reports a changed reason twice.
 */
const fixedFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const

function validateChange(event: KubeObject, current: KubeObject): FieldFault[] {
  const faults = validateBasics(event, 'reportingController')
  const isKept = (field: string): boolean =>
    isEqualAs('core/v1 Event', { [field]: event[field] }, { [field]: current[field] })
  if (!isKept('series')) faults.push(...validateSeries(event))
  for (const field of fixedFields) {
    if (isKept(field)) continue
    const path = field === 'reportingComponent' ? 'reportingController' : field
    // The value of a time without microseconds is shown with them.
    const value = field === 'eventTime' ? { json: event[field] ?? null } : undefined
    faults.push(invalidShown(path, shown(field, event[field]), 'field is immutable', value))
  }
  return faults
}

function shown(field: string, value: Json | undefined): string {
  const fields = fieldsOf(value)
  const part = (goName: string, name: string): string => `${goName}:${quote(textOf(fields[name]))}`
  switch (field) {
    case 'involvedObject':
    case 'related': {
      if (field === 'related' && value === undefined) return '"null"'
      const parts = [
        part('Kind', 'kind'),
        part('Namespace', 'namespace'),
        part('Name', 'name'),
        part('UID', 'uid'),
        part('APIVersion', 'apiVersion'),
        part('ResourceVersion', 'resourceVersion'),
        part('FieldPath', 'fieldPath'),
      ]
      return `core.ObjectReference{${parts.join(', ')}}`
    }
    case 'source':
      return `core.EventSource{${part('Component', 'component')}, ${part('Host', 'host')}}`
    case 'count':
      return isNumber(value) ? `${value}` : '0'
    case 'firstTimestamp':
    case 'lastTimestamp':
    case 'eventTime':
      return value === undefined ? '0001-01-01 00:00:00 +0000 UTC' : goTime(textOf(value))
    default:
      return quote(textOf(value))
  }
}

function readersOf(field: string, parts: readonly string[]) {
  return Object.fromEntries(
    parts.map((part) => [
      `${field}.${part}`,
      (event: KubeObject): string => textOf(fieldsOf(event[field])[part]),
    ]),
  )
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
