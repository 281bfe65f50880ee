/** The scheduling of a Pod: affinity, topology spread, tolerations, scheduling gates. */
import { duplicate, forbiddenField, invalidValue, required } from '../../../../api/field-fault.ts'
import { checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName } from '../../../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, numberOf, textOf, textsOf } from '../../../../api/object.ts'
import { tolerationFaults } from '../../../../api/toleration-faults.ts'
import { addAll } from '../../../../lib/long-lists.ts'
import { labelKey, labelSelector } from '../../../rules/label-selector.ts'
import { type Check, each, fields, given, needed, type Rule } from '../../../rules/rule.ts'
import { named, oneOf, positive } from '../../../rules/scalars.ts'

const weight: Rule = (value, path, { faults }) => {
  const number = numberOf(value)
  if (number < 1 || number > 100) faults.push(invalidValue(path, number, 'must be in the range 1-100'))
}

const labelRequirement =
  ({ isChecked }: { readonly isChecked: boolean }): Rule =>
  (value, path, check) => {
    const { key, operator, values } = fieldsOf(value)
    const count = textsOf(values).length
    switch (textOf(operator)) {
      case 'In':
      case 'NotIn':
        if (count === 0)
          check.faults.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
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
        check.faults.push(invalidValue(`${path}.operator`, textOf(operator), 'not a valid selector operator'))
    }
    labelKey(key, `${path}.key`, check)
    if (isChecked) each(named(checkLabelValue))(values, `${path}.values`, check)
  }

/** The only selectable field is the name of the node, and only for equality. */
const fieldRequirement: Rule = (value, path, check) => {
  const { key, operator, values } = fieldsOf(value)
  if (operator === 'In' || operator === 'NotIn') {
    if (textsOf(values).length !== 1) {
      const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
      check.faults.push(required(`${path}.values`, why))
    }
  } else check.faults.push(invalidValue(`${path}.operator`, textOf(operator), 'not a valid selector operator'))
  if (key === 'metadata.name') each(named(checkDnsSubdomain))(values, `${path}.values`, check)
  else check.faults.push(invalidValue(`${path}.key`, textOf(key), 'not a valid field selector key'))
}

const nodeSelectorTerm: Rule = fields({
  matchExpressions: each(labelRequirement({ isChecked: true })),
  matchFields: each(fieldRequirement),
})

/** A preferred term may have values that no label can have: then it never matches. */
const preferredTerm: Rule = fields({
  matchExpressions: each(labelRequirement({ isChecked: false })),
  matchFields: each(fieldRequirement),
})

/** Also used for the node affinity of a PersistentVolume. */
export const nodeSelector: Rule = fields({
  nodeSelectorTerms: needed(each(nodeSelectorTerm), 'must have at least one node selector term'),
})

const nodeAffinity: Rule = given(
  fields({
    requiredDuringSchedulingIgnoredDuringExecution: given(nodeSelector),
    preferredDuringSchedulingIgnoredDuringExecution: each(fields({ weight, preference: preferredTerm })),
  }),
)

const podAffinityTerm: Rule = (value, path, check) => {
  const term = fieldsOf(value)
  labelSelector(term['labelSelector'], `${path}.labelSelector`, check)
  labelSelector(term['namespaceSelector'], `${path}.namespaceSelector`, check)
  for (const name of textsOf(term['namespaces'])) named(checkDnsLabel)(name, `${path}.namespace`, check)
  if (textOf(term['topologyKey']) === '') check.faults.push(required(`${path}.topologyKey`, 'can not be empty'))
  labelKey(term['topologyKey'], `${path}.topologyKey`, check)
  affinityKeys(term, path, check)
}

/** Keys whose values are taken from the Pod's own labels. */
function affinityKeys(term: Fields, path: string, check: Check): void {
  const mismatched = new Set(textsOf(term['mismatchLabelKeys']))
  labelKeys(term, { list: 'matchLabelKeys', path, check })
  labelKeys(term, { list: 'mismatchLabelKeys', path, check })
  for (const [at, key] of textsOf(term['matchLabelKeys']).entries()) {
    if (!mismatched.has(key)) continue
    const why = 'exists in both matchLabelKeys and mismatchLabelKeys'
    check.faults.push(invalidValue(`${path}.matchLabelKeys[${at}]`, key, why))
  }
  doubleKeys(term, path, check)
}

/** On create the server adds an expression for each key: another one for the same key would conflict. The odd path is upstream's. */
function doubleKeys(term: Fields, path: string, check: Check): void {
  const { matchLabels, matchExpressions } = fieldsOf(term['labelSelector'])
  const expressions = Map.groupBy(itemsOf(matchExpressions), ({ key }) => key)
  for (const list of ['matchLabelKeys', 'mismatchLabelKeys'] as const) {
    const added = list === 'matchLabelKeys' ? 'In' : 'NotIn'
    for (const [at, key] of textsOf(term[list]).entries()) {
      const own = expressions.get(key) ?? []
      const isAdded = own.length === 1 && own[0]?.['operator'] === added
      if (!Object.hasOwn(fieldsOf(matchLabels), key) && (own.length === 0 || isAdded)) continue
      check.faults.push(invalidValue(`${path}[${at}]`, key, `exists in both ${list} and labelSelector`))
    }
  }
}

function labelKeys(
  owner: Fields,
  { list, path, check }: { readonly list: string; readonly path: string; readonly check: Check },
  checkKey: (key: string, path: string) => void = () => {},
): void {
  const keys = textsOf(owner[list])
  if (keys.length === 0) return
  if (owner['labelSelector'] === undefined) {
    check.faults.push(forbiddenField(`${path}.${list}`, 'must not be specified when labelSelector is not set'))
  }
  for (const [at, key] of keys.entries()) {
    labelKey(key, `${path}.${list}[${at}]`, check)
    checkKey(key, `${path}.${list}[${at}]`)
  }
}

const podAffinity: Rule = given(
  fields({
    requiredDuringSchedulingIgnoredDuringExecution: each(podAffinityTerm),
    preferredDuringSchedulingIgnoredDuringExecution: each(fields({ weight, podAffinityTerm })),
  }),
)

export const affinity: Rule = given(fields({ nodeAffinity, podAffinity, podAntiAffinity: podAffinity }))

const nodePolicy: Rule = given(oneOf('Honor', 'Ignore'))

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

function spreadKeys(constraint: Fields, path: string, check: Check): void {
  const { matchLabels, matchExpressions } = fieldsOf(constraint['labelSelector'])
  const selected = new Set([
    ...Object.keys(fieldsOf(matchLabels)),
    ...itemsOf(matchExpressions).map(({ key }) => textOf(key)),
  ])
  labelKeys(constraint, { list: 'matchLabelKeys', path, check }, (key, at) => {
    if (!selected.has(key)) return
    check.faults.push(invalidValue(at, key, 'exists in both matchLabelKeys and labelSelector'))
  })
}

export const topologySpread: Rule = (value, path, check) => {
  each(spread)(value, path, check)
  const pairs = itemsOf(value).map((one) => `{${textOf(one['topologyKey'])}, ${textOf(one['whenUnsatisfiable'])}}`)
  const lasts = new Map(pairs.map((pair, at) => [pair, at]))
  for (const [at, pair] of pairs.entries()) {
    // As upstream, of two duplicates the first is reported.
    if (lasts.get(pair) === at) continue
    check.faults.push(duplicate(`${path}[${at}].{topologyKey, whenUnsatisfiable}`, pair))
  }
}

const toleration: Rule = (value, path, { faults }) => {
  addAll(faults, tolerationFaults(fieldsOf(value), path))
}

export const tolerations: Rule = each(toleration)

export const readinessGates: Rule = each(fields({ conditionType: named(checkQualifiedName) }))

export const schedulingGates: Rule = (value, path, check) => {
  const names = new Set<string>()
  for (const [at, { name }] of itemsOf(value).entries()) {
    const gate = textOf(name)
    named(checkQualifiedName)(gate, `${path}[${at}]`, check)
    if (names.has(gate)) check.faults.push(duplicate(`${path}[${at}]`, gate))
    names.add(gate)
  }
}
