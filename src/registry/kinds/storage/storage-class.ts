import {
  faultsOfEach,
  checked,
  duplicate,
  type FieldFault,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { checkQualifiedName } from '../../../api/names.ts'
import { type Fields, itemsOf, type KubeObject, textOf, textsOf } from '../../../api/object.ts'
import { repeatsIn, TOLD_MAX } from '../../../lib/scheduling/long-lists.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import { sortInParts } from '../../../lib/scheduling/sort-in-parts.ts'
import type { KindRules } from '../../kind-rules.ts'
import { isEqualAs } from '../../rules/equality.ts'
import { deprecatedLabelWarnings } from '../../rules/deprecated-labels.ts'
import { warningsOfEach } from '../../rules/warnings.ts'
import { identityOf } from '../../../objects/schema/equal.ts'
import { validateParameters, validateProvisioner } from './parameters.ts'

export const storageClassRules: KindRules = {
  strategy: { updateChecks: ['metadata', 'change', 'rules'], returnsDeleted: true },
  validate,
  validateUpdate: (object, current) => [...validate(object), ...validateChange(object, current)],
  warnings: (object) =>
    warningsOfEach(itemsOf(object['allowedTopologies']), (term, at) =>
      warningsOfEach(itemsOf(term['matchLabelExpressions']), ({ key }, expressionAt) =>
        deprecatedLabelWarnings(
          `allowedTopologies[${at}].matchLabelExpressions[${expressionAt}].key`,
          textOf(key),
        ),
      ),
    ),
}

function validate(object: KubeObject): FieldFault[] {
  const { reclaimPolicy = '', volumeBindingMode } = object
  const faults = [
    ...validateProvisioner(textOf(object['provisioner']), 'provisioner'),
    ...validateParameters(object['parameters']),
  ]
  if (reclaimPolicy !== '' && reclaimPolicy !== 'Delete' && reclaimPolicy !== 'Retain') {
    faults.push(notSupported('reclaimPolicy', textOf(reclaimPolicy), ['Delete', 'Retain']))
  }
  if (volumeBindingMode !== 'Immediate' && volumeBindingMode !== 'WaitForFirstConsumer') {
    faults.push(
      notSupported('volumeBindingMode', textOf(volumeBindingMode), [
        'Immediate',
        'WaitForFirstConsumer',
      ]),
    )
  }
  return [...faults, ...validateTopologies(itemsOf(object['allowedTopologies']))]
}

/**
 * Validates topologies. kube-apiserver collects earlier terms in a list that initially contains one
 * empty term for each topology. As in kube-apiserver, an empty term is therefore reported as a
 * duplicate once for each topology.
 */
function validateTopologies(terms: readonly Fields[]): FieldFault[] {
  const counts = once('counts of topologies', () => new Map([[identityOf([]), terms.length]]))
  const reported = once('reported topologies', () => ({ duplicates: 0 }))
  return faultsOfEach(terms, (term, at) => {
    const path = `allowedTopologies[${at}].matchLabelExpressions`
    const { faults, values } = validateTerm(itemsOf(term['matchLabelExpressions']), path)
    const id = identityOf(values)
    const count = counts.get(id) ?? 0
    const repeats = Math.min(count, TOLD_MAX - reported.duplicates)
    for (let repeat = 0; repeat < repeats; repeat++) faults.push(duplicate(path, ''))
    reported.duplicates += repeats
    counts.set(id, count + 1)
    return faults
  })
}

type ValuesOfKey = readonly [key: string, values: readonly string[]]

/**
 * Validates a term. Also returns its keys and values in sorted order. Two terms are duplicates of
 * each other if their `values` are equal.
 */
function validateTerm(
  expressions: readonly Fields[],
  path: string,
): { readonly faults: FieldFault[]; readonly values: readonly ValuesOfKey[] } {
  const values = once('values of topologies', () => new Map<string, readonly string[]>())
  const faults = faultsOfEach(expressions, (expression, at) => {
    const key = textOf(expression['key'])
    const texts = textsOf(expression['values'])
    const repeats = [...repeatsIn(texts)]
    const sorted = sortInParts('sorted values of topologies', texts, compare)
    const isSecond = values.has(key)
    values.set(key, sorted)
    return [
      ...(texts.length === 0 ? [required(`${path}[${at}].values`)] : []),
      ...repeats.map((valueAt) =>
        duplicate(`${path}[${at}].values[${valueAt}]`, texts[valueAt] ?? ''),
      ),
      ...checked(`${path}[${at}].key`, key, checkQualifiedName),
      ...(isSecond ? [duplicate(`${path}[${at}].key`, key)] : []),
    ]
  })
  const entries = once('keys of topologies', () => [...values])
  return {
    faults,
    values: sortInParts('sorted keys of topologies', entries, ([one], [other]) =>
      compare(one, other),
    ),
  }
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

function validateChange(object: KubeObject, current: KubeObject): FieldFault[] {
  const faults = ['parameters', 'provisioner', 'reclaimPolicy']
    .filter(
      (field) =>
        !isEqualAs(
          'storage/v1 StorageClass',
          { [field]: object[field] },
          { [field]: current[field] },
          'exact',
        ),
    )
    .map((field) => forbiddenField(field, `updates to ${field} are forbidden.`))
  const { volumeBindingMode } = object
  if (volumeBindingMode !== current['volumeBindingMode']) {
    faults.push(invalidValue('volumeBindingMode', textOf(volumeBindingMode), 'field is immutable'))
  }
  return faults
}
