import { type FieldFault, invalidShown, invalidValue, required } from '../../../api/field-fault.ts'
import { goStrings } from '../../../api/go-value.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { nanosOf } from '../../../api/quantity.ts'
import type { KindRules } from '../../kind-rules.ts'
import { checkResourceName, isHugePages, resourceList } from '../../rules/resources.ts'
import { faultsOf, fields, type Rule } from '../../rules/rule.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/**
 * Names of the resources that quotas can limit. In addition, quotas can limit resources whose names
 * have a domain.
 */
const quotaResources = words(`
  cpu memory ephemeral-storage requests.cpu requests.memory requests.storage requests.ephemeral-storage limits.cpu
  limits.memory limits.ephemeral-storage pods resourcequotas services replicationcontrollers secrets
  persistentvolumeclaims configmaps services.nodeports services.loadbalancers`)
const podResources = words('pods cpu memory requests.cpu requests.memory limits.cpu limits.memory')
const claimResources = words('persistentvolumeclaims requests.storage')

/** Scopes, each with the resources that it can restrict. */
const scopes: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['Terminating', podResources],
  ['NotTerminating', podResources],
  ['BestEffort', words('pods')],
  ['NotBestEffort', podResources],
  ['PriorityClass', podResources],
  ['CrossNamespacePodAffinity', podResources],
  ['VolumeAttributesClass', claimResources],
])
/** Scopes that support only the operator Exists, which takes no values. */
const plainScopes = words(
  'Terminating NotTerminating BestEffort NotBestEffort CrossNamespacePodAffinity',
)
const conflicts = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

const isQuotaResource = (name: string): boolean =>
  quotaResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')

const amounts = resourceList((name) => {
  const faults = checkResourceName(name)
  if (name.includes('/') || isQuotaResource(name)) return faults
  return [...faults, 'must be a standard resource for quota']
})

const goScopes = (names: readonly string[]): string => goStrings(names, 'core.ResourceQuotaScope')
const areConflicting = (names: readonly string[]): boolean =>
  // Bounded: `conflicts` has only a few pairs, so `names` is searched only a few times.
  conflicts.some((pair) => pair.every((name) => names.includes(name)))

/** Returns the scopes that do not apply to all resources of the quota. */
function misappliedTo(resources: readonly string[]): ReadonlySet<string> {
  const own = resources.filter(isQuotaResource)
  const misapplied = [...scopes].filter(([, fitting]) => own.some((name) => !fitting.has(name)))
  return new Set(misapplied.map(([scope]) => scope))
}

const scopeList: Rule = (value, path, { faults }) => {
  const { scopes: list, hard } = fieldsOf(value)
  const names = textsOf(list)
  const at = `${path}.scopes`
  const shown = goScopes(names)
  const misapplied = misappliedTo(Object.keys(fieldsOf(hard)))
  for (const name of names) {
    if (!scopes.has(name)) faults.push(invalidShown(at, shown, 'unsupported scope'))
    if (misapplied.has(name))
      faults.push(invalidShown(at, shown, 'unsupported scope applied to resource'))
  }
  if (areConflicting(names)) faults.push(invalidShown(at, shown, 'conflicting scopes'))
}

/** Rule for the scope selector. As in kube-apiserver, the paths do not contain an index. */
const scopeSelector: Rule = (value, path, { faults }) => {
  const { scopeSelector: selector, scopes: list, hard } = fieldsOf(value)
  const at = `${path}.scopeSelector.matchExpressions`
  const expressions = itemsOf(fieldsOf(selector)['matchExpressions'])
  const misapplied = misappliedTo(Object.keys(fieldsOf(hard)))
  for (const expression of expressions) {
    const name = textOf(expression['scopeName'])
    const operator = textOf(expression['operator'])
    const values = textsOf(expression['values'])
    if (!scopes.has(name)) faults.push(invalidValue(`${at}.scopeName`, name, 'unsupported scope'))
    if (misapplied.has(name)) {
      faults.push(
        invalidShown(at, 'core.ScopeSelector{...}', 'unsupported scope applied to resource', {
          type: 'core.ScopeSelector',
          json: fieldsOf(selector),
        }),
      )
    }
    if (plainScopes.has(name) && operator !== 'Exists')
      faults.push(invalidValue(`${at}.operator`, operator, plainScopeRule))
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        const why =
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
        faults.push(required(`${at}.values`, why))
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        const why =
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
        faults.push(invalidShown(`${at}.values`, goStrings(values), why))
      }
    } else faults.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'))
  }
  if (areConflicting(expressions.map(({ scopeName }) => textOf(scopeName)))) {
    faults.push(invalidShown(at, goScopes(textsOf(list)), 'conflicting scopes'))
  }
}

const plainScopeRule =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"

const spec: Rule = (value, path, check) => {
  amounts(fieldsOf(value)['hard'], `${path}.hard`, check)
  scopeList(value, path, check)
  scopeSelector(value, path, check)
}

const status = fields({ hard: amounts, used: amounts })

/** The first release that warns about requests that exceed their limits. */
const WARNED_SINCE = 35

export const resourceQuotaRules: KindRules = {
  strategy: { returnsDeleted: true },
  warnings: (object, current, { release }) =>
    current === undefined && release >= WARNED_SINCE
      ? requestWarnings(fieldsOf(fieldsOf(object['spec'])['hard']))
      : [],
  validate: (object) => faultsOf(spec, object['spec'], 'spec'),
  validateUpdate: (object, current) => [
    ...faultsOf(spec, object['spec'], 'spec'),
    ...validateScopes(object, current),
  ],
  status: { validateUpdate: (object) => faultsOf(status, object['status'], 'status') },
}

/** Returns a warning for each resource whose requests exceed its limits. */
const requestWarnings = (hard: Fields): string[] =>
  ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((name) => {
    const plain = name === 'cpu' || name === 'memory' ? [name] : []
    const request = [`requests.${name}`, ...plain].find((one) => hard[one] !== undefined)
    const limit = `limits.${name}`
    if (request === undefined || hard[limit] === undefined) return []
    const [asked, most] = [textOf(hard[request]), textOf(hard[limit])]
    return nanosOf(asked) > nanosOf(most)
      ? [`ResourceQuota ${request} (${asked}) should be less than ${limit} (${most})`]
      : []
  })

/** Refuses a change of the scopes. A different order is not a change. */
function validateScopes(object: KubeObject, current: KubeObject): FieldFault[] {
  const now = textsOf(fieldsOf(object['spec'])['scopes'])
  const before = new Set(textsOf(fieldsOf(current['spec'])['scopes']))
  const isSameSet = now.every((name) => before.has(name)) && new Set(now).size === before.size
  return isSameSet ? [] : [invalidShown('spec.scopes', goScopes(now), 'field is immutable')]
}
