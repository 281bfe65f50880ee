/**
 * Rules for StorageVersionMigration in v1alpha1: a request to rewrite all objects of a resource,
 * and its progress (gate StorageVersionMigrator). Since 1.35, later-migration.ts has the rules.
 */
import { type FieldFault, invalidShown, invalidValue, required } from '../../../api/field-fault.ts'
import { goDate, goStruct } from '../../../api/go-value.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { isBeyond64Bits } from '../../../lib/text/go-literals.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateConditions } from '../../rules/conditions.ts'
import { faultsOfProgress } from './progress.ts'

export const storageVersionMigrationRules: KindRules = {
  strategy: {
    gate: 'StorageVersionMigrator',
    needsResourceVersion: true,
    statusKeeps: 'metadata',
  },
  validate,
  validateUpdate: (object, current) => [...validate(object), ...validateChange(object, current)],
  status: { validateUpdate: validateStatus, updateChecks: ['change', 'rules'] },
}

const resourceOf = (object: KubeObject): Fields => fieldsOf(fieldsOf(object['spec'])['resource'])

function validate(object: KubeObject): FieldFault[] {
  const missing = ['resource', 'version'].filter((part) => textOf(resourceOf(object)[part]) === '')
  return missing.map((part) => required(`spec.resource.${part}`, `${part} is required`))
}

/** Requires that the resource is unchanged. The error paths are those of kube-apiserver. */
const validateChange = (object: KubeObject, current: KubeObject): FieldFault[] =>
  ['group', 'version', 'resource'].flatMap((part) => {
    const text = textOf(resourceOf(object)[part])
    return text === textOf(resourceOf(current)[part])
      ? []
      : [invalidValue(part, text, 'field is immutable')]
  })

function validateStatus(object: KubeObject, current: KubeObject): FieldFault[] {
  const status = fieldsOf(object['status'])
  const conditions = itemsOf(status['conditions'])
  const before = fieldsOf(current['status'])
  const path = 'status.conditions'
  const [version, versionBefore] = [
    textOf(status['resourceVersion']),
    textOf(before['resourceVersion']),
  ]
  const isMoved = versionBefore !== '' && versionBefore !== version
  return [
    ...validateVersion(version),
    ...validateConditions(conditions.map(withTransition), path),
    ...(isMoved
      ? [invalidValue('status.resourceVersion', version, 'resourceVersion cannot be updated')]
      : []),
    ...faultsOfProgress(object, current).map((why) =>
      invalidShown(path, goConditions(conditions), why),
    ),
  ]
}

const INT64_MAX = 2n ** 63n - 1n

function validateVersion(version: string): FieldFault[] {
  const path = 'status.resourceVersion'
  if (version === '') return []
  const refused = (fault: string): FieldFault[] => {
    const why = `failed to parse resource version ${quote(version)}: strconv.ParseInt: parsing ${quote(version)}: ${fault}`
    return [invalidValue(path, version, why)]
  }
  if (!/^[+-]?\d+$/.test(version)) return refused('invalid syntax')
  if (isBeyond64Bits(version)) return refused('value out of range')
  const number = BigInt(version.replace('+', ''))
  if (number > INT64_MAX || number < -INT64_MAX - 1n) return refused('value out of range')
  return number < 0n ? [invalidValue(path, number, 'must be greater than or equal to 0')] : []
}

/**
 * Returns the condition with the value of lastUpdateTime in lastTransitionTime, because
 * kube-apiserver validates the time under this name.
 */
const withTransition = (condition: Fields): Fields => ({
  ...condition,
  lastTransitionTime: condition['lastUpdateTime'],
})

function goConditions(conditions: readonly Fields[]): string {
  const shown = conditions.map((condition) =>
    goStruct('storagemigration.MigrationCondition', {
      Type: quote(textOf(condition['type'])),
      Status: quote(textOf(condition['status'])),
      LastUpdateTime: goDate(textOf(condition['lastUpdateTime'])),
      Reason: quote(textOf(condition['reason'])),
      Message: quote(textOf(condition['message'])),
    }),
  )
  return `[]storagemigration.MigrationCondition{${shown.join(', ')}}`
}
