/**
 * Rules for StorageVersionMigration since 1.35: a request to rewrite the objects of a resource in
 * all of its versions (gate StorageVersionMigrator).
 */
import {
  checked,
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { checkDns1035Label, checkDnsSubdomain } from '../../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, textOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { cutText } from '../../../lib/text/cut-text.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import { validateConditions } from '../../rules/conditions.ts'
import { faultsOfProgress } from './progress.ts'

export const laterMigrationRules: KindRules = {
  strategy: {
    gate: 'StorageVersionMigrator',
    needsResourceVersion: true,
    statusKeeps: 'metadata',
  },
  validate,
  validateUpdate: (object, current) => [...validate(object), ...validateChange(object, current)],
  status: { validateUpdate: validateStatus, updateChecks: ['change', 'rules'] },
}

const specOf = (object: KubeObject): Fields => fieldsOf(object['spec'])

function validate(object: KubeObject): FieldFault[] {
  const { group, resource } = fieldsOf(specOf(object)['resource'])
  const path = 'spec.resource'
  return [
    ...(textOf(resource) === ''
      ? [required(`${path}.resource`, 'resource is required to be set')]
      : joined(`${path}.resource`, textOf(resource), checkDns1035Label)),
    ...(textOf(group) === '' ? [] : joined(`${path}.group`, textOf(group), checkDnsSubdomain)),
  ]
}

/** Reports all faults of a name in one error. */
function joined(path: string, name: string, check: (name: string) => string[]): FieldFault[] {
  return checked(path, name, (text) => {
    const faults = check(text)
    return faults.length === 0 ? [] : [faults.join(',')]
  })
}

function validateChange(object: KubeObject, current: KubeObject): FieldFault[] {
  const spec = specOf(object)
  if (isSame(spec, specOf(current))) return []
  const { group, resource } = fieldsOf(spec['resource'])
  const json = { Resource: { group: textOf(group), resource: textOf(resource) } }
  const shown = 'storagemigration.StorageVersionMigrationSpec{...}'
  return [invalidShown('spec', shown, 'field is immutable', { json })]
}

function validateStatus(object: KubeObject, current: KubeObject): FieldFault[] {
  const status = fieldsOf(object['status'])
  const { conditions } = status
  const before = textOf(fieldsOf(current['status'])['resourceVersion'])
  const version = textOf(status['resourceVersion'])
  const path = 'status.resourceVersion'
  const shown = { json: itemsOf(conditions), type: '[]meta.Condition' }
  return [
    ...(isDecimal.test(version)
      ? []
      : [invalidValue(path, version, `resource version is not well formed: ${cutText(version)}`)]),
    ...validateConditions(conditions, 'status.conditions'),
    ...(before === '' || before === version
      ? []
      : [invalidValue(path, version, 'field is immutable')]),
    ...faultsOfProgress(object, current).map((why) =>
      invalidShown('status.conditions', '[]v1.Condition{...}', why, shown),
    ),
  ]
}

/** The form of a resource version that can be compared. */
const isDecimal = /^[1-9]\d*$/
