import {
  duplicate,
  forbiddenField,
  invalidShown,
  invalidUnquoted,
  required,
} from '../../../api/field-fault.ts'
import { goQuantity } from '../../../api/go-value.ts'
import { checkQualifiedName } from '../../../api/names.ts'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  textOf,
} from '../../../api/object.ts'
import { nanosOf } from '../../../api/quantity.ts'
import { addKey, keysOf } from '../../../lib/scheduling/long-lists.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import { sortInParts } from '../../../lib/scheduling/sort-in-parts.ts'
import type { KindRules } from '../../kind-rules.ts'
import {
  allowsOvercommit,
  checkContainerResourceName,
  checkResourceName,
} from '../../rules/resources.ts'
import { eachIn, faultsOf, isEmpty, type Rule } from '../../rules/rule.ts'
import { named } from '../../rules/scalars.ts'

const standardTypes = ['Pod', 'Container', 'PersistentVolumeClaim']
const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

const limitType: Rule = named((type) => {
  const faults = checkQualifiedName(type)
  if (faults.length > 0 || type.includes('/') || standardTypes.includes(type)) return faults
  return ['must be a standard limit type or fully qualified']
})

const resourceNames: Rule = (value, path, check) => {
  const item = fieldsOf(value)
  const isForContainers = item['type'] === 'Pod' || item['type'] === 'Container'
  const checkName = isForContainers ? checkContainerResourceName : checkResourceName
  for (const list of lists) {
    if (item['type'] === 'Pod' && (list === 'default' || list === 'defaultRequest')) {
      if (isEmpty(item[list])) continue
      check.faults.push(
        forbiddenField(`${path}.${list}`, "may not be specified when `type` is 'Pod'"),
      )
      continue
    }
    eachIn(entriesOf(item[list]), check, ([name], _, { faults }) => {
      for (const why of checkName(name))
        faults.push(invalidUnquoted(`${path}.${list}[${name}]`, name, why))
    })
  }
}

const claimLimits: Rule = (value, path, { faults }) => {
  const { type, min, max } = fieldsOf(value)
  const hasStorage = [min, max].some((list) => fieldsOf(list)['storage'] !== undefined)
  if (type !== 'PersistentVolumeClaim' || hasStorage) return
  const why = 'either minimum or maximum storage value is required, but neither was provided'
  faults.push(required(`${path}.limits`, why))
}

type Order = {
  /**
   * A field such as `min`, whose quantities must not exceed those in the field `high`. Each of the
   * two fields has a name, and a description for error messages.
   */
  readonly low: readonly [list: string, shown: string]
  readonly high: readonly [list: string, shown: string]
  /**
   * The field to which the path of the error refers, for example `default` in
   * `limits[0].default[cpu]`.
   */
  readonly at: string
  /** The field whose quantity the error shows as the invalid value. Defaults to `at`. */
  readonly shown?: string
}

const min = ['min', 'min value'] as const
const max = ['max', 'max value'] as const
const defaultRequest = ['defaultRequest', 'default request value'] as const

const orders: readonly Order[] = [
  { low: min, high: max, at: 'min' },
  { low: min, high: defaultRequest, at: 'defaultRequest' },
  { low: defaultRequest, high: max, at: 'defaultRequest' },
  { low: defaultRequest, high: ['default', 'default limit value'], at: 'defaultRequest' },
  { low: min, high: ['default', 'default value'], at: 'default', shown: 'min' },
  { low: ['default', 'default value'], high: max, at: 'default', shown: 'max' },
]

const ordered: Rule = (value, path, check) => {
  const item = fieldsOf(value)
  const entries = lists.flatMap((list) => entriesOf(item[list]))
  const names = keysOf(entries, ([name]) => name)
  const sorted = sortInParts('names of limits', [...names], (one, other) => (one < other ? -1 : 1))
  eachIn(sorted, check, (name, _, own) => {
    const amountIn = (list: string): string => textOf(fieldsOf(item[list])[name])
    for (const { low, high, at, shown = at } of orders) {
      const [less, more] = [amountIn(low[0]), amountIn(high[0])]
      if (less === '' || more === '' || nanosOf(less) <= nanosOf(more)) continue
      const why = `${low[1]} ${less} is greater than ${high[1]} ${more}`
      own.faults.push(invalidShown(`${path}.${at}[${name}]`, goQuantity(amountIn(shown)), why))
    }
    ratio(name, amountIn)(value, path, own)
    equalDefaults(name, amountIn)(value, path, own)
  })
}

const ratio =
  (name: string, amountIn: (list: string) => string): Rule =>
  (_, path, { faults }) => {
    const most = amountIn('maxLimitRequestRatio')
    if (most === '') return
    const at = `${path}.maxLimitRequestRatio[${name}]`
    if (nanosOf(most) < 10n ** 9n)
      faults.push(invalidShown(at, goQuantity(most), `ratio ${most} is less than 1`))
    const [low, high] = [amountIn('min'), amountIn('max')]
    if (low === '' || high === '') return
    const possible = Number(nanosOf(high)) / Number(nanosOf(low))
    if (Number(nanosOf(most)) / 1e9 <= possible) return
    faults.push(
      invalidShown(
        at,
        goQuantity(most),
        `ratio ${most} is greater than max/min = ${possible.toFixed(6)}`,
      ),
    )
  }

/**
 * Requires that the default request equals the default limit if the resource does not support
 * overcommitment.
 */
const equalDefaults =
  (name: string, amountIn: (list: string) => string): Rule =>
  (_, path, { faults }) => {
    const [limit, request] = [amountIn('default'), amountIn('defaultRequest')]
    if (
      limit === '' ||
      request === '' ||
      allowsOvercommit(name) ||
      nanosOf(limit) === nanosOf(request)
    )
      return
    const why = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`
    faults.push(invalidShown(`${path}.defaultRequest[${name}]`, goQuantity(request), why))
  }

const spec: Rule = (value, path, check) => {
  const seen = once('types of limits', () => new Set<string>())
  eachIn(itemsOf(fieldsOf(value)['limits']), check, (item, at, own) => {
    const type = textOf(item['type'])
    const here = `${path}.limits[${at}]`
    limitType(type, `${here}.type`, own)
    if (!addKey(seen, type)) own.faults.push(duplicate(`${here}.type`, type))
    resourceNames(item, here, own)
    claimLimits(item, here, own)
    ordered(item, here, own)
  })
}

export const limitRangeRules: KindRules = {
  strategy: { updateChecks: ['metadata', 'rules'], createsOnUpdate: true },
  // A client can omit the name of a LimitRange, because nothing refers to it. The LimitRange then
  // gets a generated name.
  prepareCreate: (object, { newId }) =>
    (object.metadata.name ?? '') === ''
      ? { ...object, metadata: { ...object.metadata, name: newId() } }
      : object,
  validate: (object) => faultsOf(spec, object['spec'], 'spec'),
}

/**
 * Sets defaults that are derived from other fields: limits are derived from `max`, and requests
 * from limits and `min`.
 */
export function withLimitDefaults(item: Fields): Fields {
  if (item['type'] !== 'Container') return item
  const limits: Fields = { ...fieldsOf(item['max']), ...fieldsOf(item['default']) }
  const requests: Fields = {
    ...fieldsOf(item['min']),
    ...limits,
    ...fieldsOf(item['defaultRequest']),
  }
  return { ...item, ...present('default', limits), ...present('defaultRequest', requests) }
}

const present = (name: string, list: Fields): { readonly [name: string]: Json } =>
  Object.keys(list).length === 0 ? {} : { [name]: list }
