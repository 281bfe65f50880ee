/** Rules for the scheduling of a Pod: affinity, topology spread, tolerations, scheduling gates. */
import type { Gates } from '../../../../api/gates.ts'
import { duplicate, forbiddenField, invalidValue, required } from '../../../../api/field-fault.ts'
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
} from '../../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  listOf,
  numberOf,
  textOf,
  textsOf,
} from '../../../../api/object.ts'
import { tolerationFaults } from '../../../../api/toleration-faults.ts'
import { addAll, addKey, keysOf } from '../../../../lib/scheduling/long-lists.ts'
import { eachItem, once } from '../../../../lib/scheduling/parts.ts'
import { labelKey, labelSelector } from '../../../rules/label-selector.ts'
import {
  type Check,
  each,
  eachIn,
  fields,
  ifPresent,
  needed,
  type Rule,
} from '../../../rules/rule.ts'
import { named, oneOf, positive } from '../../../rules/scalars.ts'

const weight: Rule = (value, path, { faults }) => {
  const number = numberOf(value)
  if (number < 1 || number > 100)
    faults.push(invalidValue(path, number, 'must be in the range 1-100'))
}

const labelRequirement =
  ({ isChecked }: { readonly isChecked: boolean }): Rule =>
  (value, path, check) => {
    const { key, operator, values } = fieldsOf(value)
    const count = listOf(values).length
    switch (textOf(operator)) {
      case 'In':
      case 'NotIn':
        if (count === 0)
          check.faults.push(
            required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"),
          )
        break
      case 'Exists':
      case 'DoesNotExist':
        if (count > 0) {
          const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
          check.faults.push(forbiddenField(`${path}.values`, why))
        }
        break
      case 'Gt':
      case 'Lt':
        if (count !== 1) {
          const why = "must be specified single value when `operator` is 'Lt' or 'Gt'"
          check.faults.push(required(`${path}.values`, why))
        }
        break
      default:
        check.faults.push(
          invalidValue(`${path}.operator`, textOf(operator), 'not a valid selector operator'),
        )
    }
    labelKey(key, `${path}.key`, check)
    if (isChecked) each(named(checkLabelValue))(values, `${path}.values`, check)
  }

/**
 * Rule for a requirement on a field of a Node. Requirements can select only the field
 * metadata.name, and must have exactly one value.
 */
const fieldRequirement: Rule = (value, path, check) => {
  const { key, operator, values } = fieldsOf(value)
  if (operator === 'In' || operator === 'NotIn') {
    if (listOf(values).length !== 1) {
      const why =
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
      check.faults.push(required(`${path}.values`, why))
    }
  } else
    check.faults.push(
      invalidValue(`${path}.operator`, textOf(operator), 'not a valid selector operator'),
    )
  if (key === 'metadata.name') each(named(checkDnsSubdomain))(values, `${path}.values`, check)
  else check.faults.push(invalidValue(`${path}.key`, textOf(key), 'not a valid field selector key'))
}

const nodeSelectorTerm: Rule = fields({
  matchExpressions: each(labelRequirement({ isChecked: true })),
  matchFields: each(fieldRequirement),
})

/**
 * Rule for a preferred term. The term can contain values that are not valid label values. In this
 * case, it matches no node.
 */
const preferredTerm: Rule = fields({
  matchExpressions: each(labelRequirement({ isChecked: false })),
  matchFields: each(fieldRequirement),
})

/** Rule for a node selector. It also applies to the node affinity of a PersistentVolume. */
export const nodeSelector: Rule = fields({
  nodeSelectorTerms: needed(each(nodeSelectorTerm), 'must have at least one node selector term'),
})

const nodeAffinity: Rule = ifPresent(
  fields({
    requiredDuringSchedulingIgnoredDuringExecution: ifPresent(nodeSelector),
    preferredDuringSchedulingIgnoredDuringExecution: each(
      fields({ weight, preference: preferredTerm }),
    ),
  }),
)

const namespaceName: Rule = named(checkDnsLabel)

const podAffinityTerm: Rule = (value, path, check) => {
  const term = fieldsOf(value)
  labelSelector(term['labelSelector'], `${path}.labelSelector`, check)
  labelSelector(term['namespaceSelector'], `${path}.namespaceSelector`, check)
  eachIn(textsOf(term['namespaces']), check, (name, _, own) =>
    namespaceName(name, `${path}.namespace`, own),
  )
  if (textOf(term['topologyKey']) === '')
    check.faults.push(required(`${path}.topologyKey`, 'can not be empty'))
  labelKey(term['topologyKey'], `${path}.topologyKey`, check)
  affinityKeys(term, path, check)
}

/**
 * Validates matchLabelKeys and mismatchLabelKeys. The values for these keys are those of the Pod's
 * own labels.
 */
function affinityKeys(term: Fields, path: string, check: Check): void {
  const matched = textsOf(term['matchLabelKeys'])
  const mismatched = keysOf(textsOf(term['mismatchLabelKeys']), (key) => key)
  if (matched.length + mismatched.size === 0) return
  labelKeys(term, { list: 'matchLabelKeys', path, check })
  labelKeys(term, { list: 'mismatchLabelKeys', path, check })
  eachIn(matched, check, (key, at, { faults }) => {
    if (!mismatched.has(key)) return
    const why = 'exists in both matchLabelKeys and mismatchLabelKeys'
    faults.push(invalidValue(`${path}.matchLabelKeys[${at}]`, key, why))
  })
  doubleKeys(term, path, check)
}

/**
 * Refuses keys of matchLabelKeys that are also in the label selector. On create, the server adds an
 * expression for each key. Therefore only an expression whose key occurs earlier in the selector is
 * refused. The unusual path of the error is that of kube-apiserver.
 */
function doubleKeys(term: Fields, path: string, check: Check): void {
  const { matchLabels, matchExpressions } = fieldsOf(term['labelSelector'])
  const keys = textsOf(term['matchLabelKeys'])
  const positions = once('positions of label keys', () => new Map(keys.map((key, at) => [key, at])))
  const known = once('keys of a label selector', () => new Set(Object.keys(fieldsOf(matchLabels))))
  eachIn(itemsOf(matchExpressions), check, (expression, _, { faults }) => {
    const key = textOf(expression['key'])
    const at = positions.get(key)
    const isDouble = !addKey(known, key)
    if (at === undefined || !isDouble) return
    faults.push(
      invalidValue(`${path}[${at}]`, key, 'exists in both matchLabelKeys and labelSelector'),
    )
  })
}

function labelKeys(
  owner: Fields,
  { list, path, check }: { readonly list: string; readonly path: string; readonly check: Check },
  checkKey: (key: string, path: string, check: Check) => void = () => {},
): void {
  const keys = textsOf(owner[list])
  if (keys.length === 0) return
  if (owner['labelSelector'] === undefined) {
    check.faults.push(
      forbiddenField(`${path}.${list}`, 'must not be specified when labelSelector is not set'),
    )
  }
  eachIn(keys, check, (key, at, own) => {
    labelKey(key, `${path}.${list}[${at}]`, own)
    checkKey(key, `${path}.${list}[${at}]`, own)
  })
}

const podAffinity: Rule = ifPresent(
  fields({
    requiredDuringSchedulingIgnoredDuringExecution: each(podAffinityTerm),
    preferredDuringSchedulingIgnoredDuringExecution: each(fields({ weight, podAffinityTerm })),
  }),
)

export const affinity: Rule = ifPresent(
  fields({ nodeAffinity, podAffinity, podAntiAffinity: podAffinity }),
)

const nodePolicy: Rule = ifPresent(oneOf('Honor', 'Ignore'))

const spread: Rule = (value, path, check) => {
  const constraint = fieldsOf(value)
  const { minDomains, whenUnsatisfiable } = constraint
  spreadFields(constraint, path, check)
  if (minDomains !== undefined) {
    positive(minDomains, `${path}.minDomains`, check)
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${textOf(whenUnsatisfiable)}`
      check.faults.push(invalidValue(`${path}.minDomains`, numberOf(minDomains), why))
    }
  }
  fields({ nodeAffinityPolicy: nodePolicy, nodeTaintsPolicy: nodePolicy })(constraint, path, check)
  spreadKeys(constraint, path, check)
  labelSelector(constraint['labelSelector'], `${path}.labelSelector`, check)
}

const spreadFields: Rule = fields({
  maxSkew: positive,
  topologyKey: (value, path, check) => {
    if (textOf(value) === '') check.faults.push(required(path, 'can not be empty'))
    else labelKey(value, path, check)
  },
  whenUnsatisfiable: oneOf('DoNotSchedule', 'ScheduleAnyway'),
})

/** Whether the server merges the matchLabelKeys of spread constraints into the label selector. */
export const mergesSpreadKeys = (gates: Gates): boolean =>
  gates.isOn('MatchLabelKeysInPodTopologySpread') &&
  gates.isOn('MatchLabelKeysInPodTopologySpreadSelectorMerge')

function spreadKeys(constraint: Fields, path: string, check: Check): void {
  if (listOf(constraint['matchLabelKeys']).length === 0) return
  if (mergesSpreadKeys(check.gates)) {
    affinityKeys(constraint, path, check)
    return
  }
  const { matchLabels, matchExpressions } = fieldsOf(constraint['labelSelector'])
  const selected = keysOf(itemsOf(matchExpressions), ({ key }) => textOf(key))
  labelKeys(constraint, { list: 'matchLabelKeys', path, check }, (key, at, { faults }) => {
    if (!selected.has(key) && !Object.hasOwn(fieldsOf(matchLabels), key)) return
    faults.push(invalidValue(at, key, 'exists in both matchLabelKeys and labelSelector'))
  })
}

export const topologySpread: Rule = (value, path, check) => {
  each(spread)(value, path, check)
  const constraints = itemsOf(value)
  const lasts = eachItem(
    'last constraints',
    constraints,
    (): Map<string, number> => new Map(),
    (known, one, at) => known.set(spreadPair(one), at).size > 0,
  )
  eachIn(constraints, check, (one, at, { faults }) => {
    const pair = spreadPair(one)
    // As in kube-apiserver, the error is reported for all duplicates except the last one.
    if (lasts.get(pair) === at) return
    faults.push(duplicate(`${path}[${at}].{topologyKey, whenUnsatisfiable}`, pair))
  })
}

const spreadPair = ({ topologyKey, whenUnsatisfiable }: Fields): string =>
  `{${textOf(topologyKey)}, ${textOf(whenUnsatisfiable)}}`

const toleration: Rule = (value, path, { faults, gates }) => {
  const comparesNumbers = gates.isOn('TaintTolerationComparisonOperators')
  const { release } = gates
  addAll(faults, tolerationFaults(fieldsOf(value), path, { release, comparesNumbers }))
}

export const tolerations: Rule = each(toleration)

/** Rule for the tolerations of a RuntimeClass, which cannot compare numbers. */
export const classTolerations: Rule = each((value, path, { faults, gates: { release } }) => {
  addAll(faults, tolerationFaults(fieldsOf(value), path, { release }))
})

export const readinessGates: Rule = each(fields({ conditionType: named(checkQualifiedName) }))

export const schedulingGates: Rule = (value, path, check) => {
  const names = once('names of scheduling gates', () => new Set<string>())
  eachIn(itemsOf(value), check, ({ name }, at, own) => {
    const gate = textOf(name)
    labelKey(gate, `${path}[${at}]`, own)
    if (!addKey(names, gate)) own.faults.push(duplicate(`${path}[${at}]`, gate))
  })
}
