import { cutText } from '../../../lib/text/cut-text.ts'
import { quote } from '../../../api/quote.ts'
import {
  duplicate,
  duplicateShown,
  type FieldFault,
  forbiddenField,
  internalFault,
  invalidShown,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { goStrings, goStruct } from '../../../api/go-value.ts'
import { parseCidr } from '../../../api/ip.ts'
import { jsonFault } from '../../../api/json-scanner.ts'
import { checkLabelValue, checkQualifiedName } from '../../../api/names.ts'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type KubeObject,
  numberOf,
  omit,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { addKey } from '../../../lib/scheduling/long-lists.ts'
import { mapEach, once } from '../../../lib/scheduling/parts.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { checkCidr, warnOfCidr } from '../../rules/addresses.ts'
import { checkAmount } from '../../rules/resources.ts'
import { all, eachIn, faultsOf, fields, ifPresent, type Rule } from '../../rules/rule.ts'
import { named, oneOf } from '../../rules/scalars.ts'
import { nodeFields } from '../selectable.ts'

const avoidPods = 'scheduler.alpha.kubernetes.io/preferAvoidPods'
const oldTaints = 'scheduler.alpha.kubernetes.io/taints'
/** Maximum number of Pod CIDRs: one for each IP family. */
const POD_CIDRS_MAX = 2

const effects = oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute')

const taint = fields({
  key: named(checkQualifiedName),
  value: named(checkLabelValue),
  effect: (value, path, check) => {
    if (textOf(value) === '') check.faults.push(required(path))
    else effects(value, path, check)
  },
})

const taints: Rule = (value, path, check) => {
  const seen = once('taints', () => new Set<string>())
  eachIn(itemsOf(value), check, (one, at, own) => {
    taint(one, `${path}[${at}]`, own)
    if (addKey(seen, `${textOf(one['key'])} ${textOf(one['effect'])}`)) return
    const why = 'taints must be unique by key and effect pair'
    own.faults.push(duplicateShown(`${path}[${at}]`, goTaint(one), why))
  })
}

const goTaint = (one: Fields): string =>
  goStruct('core.Taint', {
    Key: quote(textOf(one['key'])),
    Value: quote(textOf(one['value'])),
    Effect: quote(textOf(one['effect'])),
    TimeAdded: '<nil>',
  })

const podCidrs: Rule = (value, path, check) => {
  const ranges = textsOf(value)
  eachIn(ranges, check, (range, at, own) => named(checkCidr)(range, `${path}[${at}]`, own))
  if (ranges.length < 2) return
  const families = mapEach('families of pod CIDRs', ranges, (range) => parseCidr(range)?.family)
  const unreadable = families.indexOf(undefined)
  if (unreadable !== -1) {
    const why = `invalid CIDR[${unreadable}]: <nil> (invalid CIDR address: ${cutText(ranges[unreadable] ?? '')})`
    check.faults.push(
      internalFault(path, `invalid PodCIDRs. failed to check with dual stack with error:${why}`),
    )
  }
  const isPair = unreadable === -1 && new Set(families).size === 2 && ranges.length <= POD_CIDRS_MAX
  if (isPair) return
  check.faults.push(
    invalidShown(path, goStrings(ranges), 'may specify no more than one CIDR for each IP family'),
  )
}

/** Rule for resource lists. The names of the resources are not validated. */
const amounts: Rule = (value, path, check) => {
  eachIn(entriesOf(value), check, ([name, amount], _, { faults }) =>
    faults.push(...checkAmount(name, amount, `${path}.${name}`)),
  )
}

const resources = fields({ capacity: amounts, allocatable: amounts })

const swap: Rule = ifPresent((value, path, { faults }) => {
  if (numberOf(value) <= 0)
    faults.push(invalidValue(path, numberOf(value), 'must be greater than zero'))
})

const FEATURE_CHARACTERS_MAX = 253

/**
 * Rule for the features that a Node declares, which releases since 1.35 have. Each name is compared
 * with the next one, so the list must be sorted.
 */
const declaredFeatures: Rule = (value, path, check) => {
  const names = textsOf(value)
  eachIn(names, check, (name, at, { faults }) => {
    const why =
      Buffer.byteLength(name) > FEATURE_CHARACTERS_MAX
        ? `must be no more than ${FEATURE_CHARACTERS_MAX} characters`
        : /^[A-Z][a-zA-Z0-9]*(?:\/[a-zA-Z][a-zA-Z0-9]*)*$/.test(name)
          ? undefined
          : "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
    if (why !== undefined)
      faults.push(
        invalidValue(`${path}[${at}]`, name, `invalid feature name ${quote(name)}: ${why}`),
      )
    const next = names[at + 1]
    if (next === undefined) return
    const below = `${path}[${at + 1}]`
    if (name === next) faults.push(duplicate(below, next))
    else if (Buffer.compare(Buffer.from(name), Buffer.from(next)) > 0)
      faults.push(invalidValue(below, next, 'list must be sorted alphabetically'))
  })
}

const annotations: Rule = (value, path, { faults }) => {
  const { [avoidPods]: avoided, [oldTaints]: tainted } = fieldsOf(value)
  const push = (at: string, name: string, fault: string | undefined): void => {
    if (fault !== undefined) faults.push(invalidValue(at, name, fault))
  }
  if (textOf(avoided) !== '')
    push(`${path}.AvoidPods`, avoidPods, jsonFault(textOf(avoided), 'object'))
  if (textOf(tainted) !== '') push(path, oldTaints, jsonFault(textOf(tainted), 'array'))
}

/**
 * Rule for a whole Node. As in kube-apiserver, errors about taints and swap have paths that begin
 * with `metadata`.
 */
const node: Rule = (value, _path, check) => {
  const { metadata, spec, status } = fieldsOf(value)
  annotations(fieldsOf(metadata)['annotations'], 'metadata.annotations', check)
  taints(fieldsOf(spec)['taints'], 'metadata.taints', check)
  resources(status, 'status', check)
  podCidrs(fieldsOf(spec)['podCIDRs'], 'spec.podCIDRs', check)
  swap(
    fieldsOf(fieldsOf(fieldsOf(status)['nodeInfo'])['swap'])['capacity'],
    'metadata.nodeSwapStatus.capacity',
    check,
  )
  declaredFeatures(fieldsOf(status)['declaredFeatures'], 'status.declaredFeatures', check)
}

const addresses: Rule = (value, path, check) => {
  const seen = once('addresses', () => new Set<string>())
  eachIn(itemsOf(value), check, ({ type, address }, at, { faults }) => {
    if (addKey(seen, JSON.stringify([textOf(type), textOf(address)]))) return
    const shown = goStruct('core.NodeAddress', {
      Type: quote(textOf(type)),
      Address: quote(textOf(address)),
    })
    faults.push(duplicateShown(`${path}[${at}]`, shown))
  })
}

export const nodeRules: KindRules = {
  strategy: { updateChecks: ['metadata', 'change', 'rules'], takesStatus: 'create' },
  selectableFields: nodeFields,
  // If the feature gate SupplementalGroupsPolicy is off, only a create drops status.features.
  // Updates of the status can still set this field.
  prepareCreate: (object, _writer, gates) => {
    const { status } = object
    if (!isFields(status) || gates.isOn('SupplementalGroupsPolicy'))
      return withoutEmptyAllocatable(object)
    return withoutEmptyAllocatable({ ...object, status: omit(status, 'features') })
  },
  // An empty `allocatable` is not stored, so reads set its default.
  isDefaultedAgain: true,
  validate: (object) => faultsOf(node, object, ''),
  validateUpdate: (object, current) => [
    ...faultsOf(node, object, ''),
    ...validateChange(object, current),
  ],
  warnings,
  status: { prepareUpdate: withoutEmptyAllocatable, validateUpdate: validateChange },
}

export function withoutEmptyAllocatable(object: KubeObject): KubeObject {
  const { status } = object
  if (!isFields(status) || !isFields(status['allocatable'])) return object
  for (const _ in status['allocatable']) return object
  return { ...object, status: omit(status, 'allocatable') }
}

function warnings(object: KubeObject): string[] {
  const { externalID, podCIDRs } = fieldsOf(object['spec'])
  return [
    ...(textOf(externalID) === ''
      ? []
      : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
    ...textsOf(podCIDRs).flatMap((cidr, at) => warnOfCidr(`spec.podCIDRs[${at}]`, cidr)),
  ]
}

function validateChange(object: KubeObject, current: KubeObject): FieldFault[] {
  const now = fieldsOf(object['spec'])
  const before = fieldsOf(current['spec'])
  const setOnce =
    (field: string, shown: string): Rule =>
    (value, path, { faults }) => {
      const was = before[field]
      if (isSame(was, undefined) || was === '' || isSame(value, was)) return
      faults.push(
        forbiddenField(path, `node updates may not change ${shown} except from "" to valid`),
      )
    }
  const externalId: Rule = (value, path, { faults }) => {
    if (textOf(value) !== textOf(before['externalID']))
      faults.push(forbiddenField(path, 'may not be updated'))
  }
  const status = fieldsOf(object['status'])
  return [
    ...faultsOf(annotations, object.metadata['annotations'], 'metadata.annotations'),
    ...faultsOf(all(fields({ addresses, declaredFeatures }), resources), status, 'status'),
    ...faultsOf(
      fields({
        podCIDRs: setOnce('podCIDRs', 'podCIDR'),
        providerID: setOnce('providerID', 'providerID'),
      }),
      now,
      'spec',
    ),
    ...(isSame(now['taints'], before['taints'])
      ? []
      : faultsOf(taints, now['taints'], 'metadata.taints')),
    ...faultsOf(fields({ externalID: externalId }), now, 'spec'),
  ]
}

/**
 * Makes podCIDR and podCIDRs consistent. The older field `podCIDR` mirrors the first item of
 * `podCIDRs`, and takes precedence.
 */
export function withPodCidrs(spec: Fields): Fields {
  const [first] = textsOf(spec['podCIDRs'])
  const own = textOf(spec['podCIDR'])
  if (own === (first ?? '')) return spec
  return own === '' ? { ...spec, podCIDR: first } : { ...spec, podCIDRs: [own] }
}

export function withAllocatable(status: Fields): Fields {
  const { capacity, allocatable } = status
  return capacity === undefined || allocatable !== undefined
    ? status
    : { ...status, allocatable: capacity }
}
