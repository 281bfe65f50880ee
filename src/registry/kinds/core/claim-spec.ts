/** Rules for the spec of a PersistentVolumeClaim, including the spec in a claim template. */
import {
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import { goPointer, goStruct } from '../../../api/go-value.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../api/names.ts'
import { type Fields, fieldsOf, textOf, textsOf } from '../../../api/object.ts'
import { nanosOf } from '../../../api/quantity.ts'
import { keysOf } from '../../../lib/scheduling/long-lists.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import { fractionWarnings } from '../../rules/resources.ts'
import { labelSelector } from '../../rules/label-selector.ts'
import { eachIn, ifPresent, type Rule, unlessEmpty } from '../../rules/rule.ts'
import { named, oneOf } from '../../rules/scalars.ts'

const known: readonly string[] = [
  'ReadOnlyMany',
  'ReadWriteMany',
  'ReadWriteOnce',
  'ReadWriteOncePod',
]
const accessMode: Rule = oneOf(...known)

/**
 * Returns the rule for the access modes of claims and PersistentVolumes. `missing` is the error
 * message for an empty list.
 */
export function accessModes(missing: string): Rule {
  return (value, path, check) => {
    const modes = textsOf(value)
    if (modes.length === 0) check.faults.push(required(path, missing))
    eachIn(modes, check, (mode, _, own) => accessMode(mode, path, own))
    const all = keysOf(modes, (mode) => mode)
    if (
      all.has('ReadWriteOncePod') &&
      known.some((mode) => mode !== 'ReadWriteOncePod' && all.has(mode))
    ) {
      check.faults.push(
        forbiddenField(path, 'may not use ReadWriteOncePod with other access modes'),
      )
    }
  }
}

/** Feature gate for the field volumeAttributesClassName. */
export const attributesClassGate = 'VolumeAttributesClass'

/**
 * Returns the gates for an update. If the stored claim has an attributes class, the class is
 * validated even if the feature gate VolumeAttributesClass is off.
 */
export const attributesGates = (gates: Gates, before: Fields): Gates => ({
  ...gates,
  isOn: (name) =>
    gates.isOn(name) ||
    (name === attributesClassGate && before['volumeAttributesClassName'] !== undefined),
})

const forbid = (why: string): FieldFault => forbiddenField('spec.volumeAttributesClassName', why)

export function validateAttributesChange(now: Fields, before: Fields, gates: Gates): FieldFault[] {
  const [is, was] = [now['volumeAttributesClassName'], before['volumeAttributesClassName']]
  if (is === was) return []
  return [
    ...(gates.isOn(attributesClassGate)
      ? []
      : [forbid('update is forbidden when the VolumeAttributesClass feature gate is disabled')]),
    ...(was !== undefined && is === undefined
      ? [forbid('update from non-nil value to nil is forbidden')]
      : []),
  ]
}

const claimModes = accessModes('at least 1 access mode is required')

export const volumeMode: Rule = ifPresent(oneOf('Block', 'Filesystem'))

export const claimSpec: Rule = (value, path, check) => {
  const spec = fieldsOf(value)
  claimModes(spec['accessModes'], `${path}.accessModes`, check)
  labelSelector(spec['selector'], `${path}.selector`, check)
  const storage = fieldsOf(fieldsOf(spec['resources'])['requests'])['storage']
  const at = `${path}.resources[storage]`
  if (storage === undefined) check.faults.push(required(at))
  else if (nanosOf(textOf(storage)) <= 0n) {
    check.faults.push(invalidValue(at, textOf(storage), 'must be greater than zero'))
  }
  unlessEmpty(named(checkDnsSubdomain))(spec['storageClassName'], `${path}.storageClassName`, check)
  volumeMode(spec['volumeMode'], `${path}.volumeMode`, check)
  dataSource(spec['dataSource'], `${path}.dataSource`, check)
  dataSource(spec['dataSourceRef'], `${path}.dataSourceRef`, check)
  const isAbroad = textOf(fieldsOf(spec['dataSourceRef'])['namespace']) !== ''
  if (isAbroad ? spec['dataSource'] !== undefined : isDataTwice(spec)) {
    // As in kube-apiserver, the error shows the Go struct of the field path instead of the field's
    // value.
    const shown = goStruct('field.Path', {
      name: '"dataSource"',
      index: '""',
      parent: goPointer('field.Path', true),
    })
    const why = isAbroad
      ? 'may not be specified when dataSourceRef.namespace is specified'
      : 'must match dataSourceRef'
    check.faults.push(invalidShown(path, shown, why))
  }
  if (check.gates.isOn(attributesClassGate)) {
    unlessEmpty(named(checkDnsSubdomain))(
      spec['volumeAttributesClassName'],
      `${path}.volumeAttributesClassName`,
      check,
    )
  }
}

/** Warns about sizes that are not whole numbers of bytes. */
export function claimSpecWarnings(spec: Fields, path: string): string[] {
  const resources = fieldsOf(spec['resources'])
  return ['requests', 'limits'].flatMap((list) => {
    const { storage } = fieldsOf(resources[list])
    return fractionWarnings({ storage }, `${path}.resources.${list}`)
  })
}

const isDataTwice = ({ dataSource: one, dataSourceRef: other }: Fields): boolean =>
  one !== undefined && other !== undefined && !isSame(one, other)

/** Rule for a data source, which provides the initial content of the volume. */
const dataSource: Rule = ifPresent((value, path, check) => {
  const { apiGroup, kind, name, namespace } = fieldsOf(value)
  const group = textOf(apiGroup)
  if (textOf(name) === '') check.faults.push(required(`${path}.name`))
  if (textOf(kind) === '') check.faults.push(required(`${path}.kind`))
  if (group === '' && kind !== 'PersistentVolumeClaim') {
    const why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
    check.faults.push(invalidValue(path, textOf(kind), why))
  }
  if (group !== '') named(checkDnsSubdomain)(group, `${path}.apiGroup`, check)
  unlessEmpty(named(checkDnsLabel))(namespace, `${path}.namespace`, check)
})
