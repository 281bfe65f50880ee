/**
 * Rules for podFailurePolicy and successPolicy, which determine that a Job has failed or succeeded
 * before all of its Pods have terminated.
 */
import {
  duplicate,
  invalidShown,
  invalidValue,
  invalidWithoutValue,
  notSupported,
  required,
  tooMany,
} from '../../../api/field-fault.ts'
import { goStruct, shownItems } from '../../../api/go-value.ts'
import { checkQualifiedName } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  listOf,
  numberOf,
  textOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { keysOf, repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { everyItem, mapEach } from '../../../lib/scheduling/parts.ts'
import { each, eachIn, fields, ifPresent, type Rule } from '../../rules/rule.ts'
import { named, nonNegative } from '../../rules/scalars.ts'
import { parseIndexes } from './indexes.ts'

const RULES_MAX = 20
const EXIT_CODES_MAX = 255
const CONDITIONS_MAX = 20

function atMost(max: number): Rule {
  return (value, path, { faults }) => {
    const { length } = itemsOf(value)
    if (length > max) faults.push(tooMany(path, length, max))
  }
}

/**
 * Returns the rule for a field with one of the given values. Empty and unknown values cause
 * different errors.
 */
function knownWord(...words: readonly string[]): Rule {
  return (value, path, { faults }) => {
    const word = textOf(value)
    if (word === '') faults.push(required(path, `valid values: [${words.map(quote).join(' ')}]`))
    else if (!words.includes(word)) faults.push(notSupported(path, word, words))
  }
}

const exitCodeValues: Rule = (value, path, check) => {
  const { faults } = check
  const { operator, values } = fieldsOf(value)
  const codes = mapEach('exit codes', listOf(values), numberOf)
  const at = `${path}.values`
  const shown = Array.isArray(values) ? `[]int32{${shownItems(codes, String)}}` : '[]int32(nil)'
  if (codes.length === 0) faults.push(invalidShown(at, shown, 'at least one value is required'))
  else if (codes.length > EXIT_CODES_MAX) faults.push(tooMany(at, codes.length, EXIT_CODES_MAX))
  const repeats = repeatsIn(codes)
  eachIn(codes, check, (code, index, own) => {
    if (code === 0 && operator === 'In') {
      own.faults.push(invalidValue(`${at}[${index}]`, code, 'must not be 0 for the In operator'))
    }
    if (repeats.has(index)) own.faults.push(duplicate(`${at}[${index}]`, code))
  })
  if (
    !everyItem(
      'order of exit codes',
      codes,
      (code, index) => index === 0 || code >= (codes[index - 1] ?? 0),
    )
  ) {
    faults.push(invalidShown(at, shown, 'must be ordered'))
  }
}

const exitCodes =
  (containers: ReadonlySet<string>): Rule =>
  (value, path, check) => {
    const { operator, containerName } = fieldsOf(value)
    knownWord('In', 'NotIn')(operator, `${path}.operator`, check)
    if (containerName !== undefined && !containers.has(textOf(containerName))) {
      const why = 'must be one of the container or initContainer names in the pod template'
      check.faults.push(invalidValue(`${path}.containerName`, textOf(containerName), why))
    }
    exitCodeValues(value, path, check)
  }

const conditions = each(
  fields({ type: named(checkQualifiedName), status: knownWord('False', 'True', 'Unknown') }),
)
const actions = knownWord('Count', 'FailIndex', 'FailJob', 'Ignore')

/**
 * Rule for podFailurePolicy. The rule needs the whole spec, because the policy refers to containers
 * by name.
 */
export const podFailurePolicy: Rule = (value, path, check) => {
  const { podFailurePolicy: policy, backoffLimitPerIndex, template } = fieldsOf(value)
  if (policy === undefined) return
  const { rules } = fieldsOf(policy)
  const at = `${path}.podFailurePolicy.rules`
  const pod = fieldsOf(fieldsOf(template)['spec'])
  const containers = keysOf(
    [...itemsOf(pod['containers']), ...itemsOf(pod['initContainers'])],
    ({ name }) => textOf(name),
  )
  atMost(RULES_MAX)(rules, at, check)
  eachIn(itemsOf(rules), check, ({ action, onExitCodes, onPodConditions }, index, own) => {
    const ruleAt = `${at}[${index}]`
    if (action === 'FailIndex' && backoffLimitPerIndex === undefined) {
      own.faults.push(
        invalidValue(`${ruleAt}.action`, action, 'requires the backoffLimitPerIndex to be set'),
      )
    } else actions(action, `${ruleAt}.action`, own)
    if (onExitCodes !== undefined) exitCodes(containers)(onExitCodes, `${ruleAt}.onExitCodes`, own)
    atMost(CONDITIONS_MAX)(onPodConditions, `${ruleAt}.onPodConditions`, own)
    conditions(onPodConditions, `${ruleAt}.onPodConditions`, own)
    const hasConditions = itemsOf(onPodConditions).length > 0
    if ((onExitCodes !== undefined) !== hasConditions) return
    const why = hasConditions
      ? 'specifying both OnExitCodes and OnPodConditions is not supported'
      : 'specifying one of OnExitCodes and OnPodConditions is required'
    own.faults.push(invalidWithoutValue(ruleAt, why))
  })
}

/** Sets the default status of the conditions in a policy. */
export function withStatuses(policy: Json): Json {
  const { rules } = fieldsOf(policy)
  if (!Array.isArray(rules)) return policy
  const filled = itemsOf(rules).map((rule) =>
    Array.isArray(rule['onPodConditions'])
      ? {
          ...rule,
          onPodConditions: itemsOf(rule['onPodConditions']).map((one) => ({
            status: 'True',
            ...one,
          })),
        }
      : rule,
  )
  return { ...fieldsOf(policy), rules: filled }
}

export const failurePolicyType = 'batch.PodFailurePolicy'
export const successPolicyType = 'batch.SuccessPolicy'

/** Formats a policy as Go does with %#v. Values that are pointers in Go are shortened. */
export function goFailurePolicy(policy: Json | undefined): string {
  const rules = itemsOf(fieldsOf(policy)['rules'])
  if (rules.some(({ onExitCodes }) => onExitCodes !== undefined))
    return 'batch.PodFailurePolicy{...}'
  const list = fieldsOf(policy)['rules'] === undefined ? '(nil)' : `{${shownItems(rules, goRule)}}`
  return `batch.PodFailurePolicy{Rules:[]batch.PodFailurePolicyRule${list}}`
}

/**
 * Formats a policy as Go does with %#v. Rules are shortened, because Go prints their memory
 * addresses.
 */
export const goSuccessPolicy = (policy: Json | undefined): string =>
  fieldsOf(policy)['rules'] === undefined
    ? 'batch.SuccessPolicy{Rules:[]batch.SuccessPolicyRule(nil)}'
    : 'batch.SuccessPolicy{...}'

const goRule = (rule: Fields): string =>
  goStruct('batch.PodFailurePolicyRule', {
    Action: quote(textOf(rule['action'])),
    OnExitCodes: '(*batch.PodFailurePolicyOnExitCodesRequirement)(nil)',
    OnPodConditions: goConditions(rule['onPodConditions']),
  })

function goConditions(list: Json | undefined): string {
  const type = 'batch.PodFailurePolicyOnPodConditionsPattern'
  if (!Array.isArray(list)) return `[]${type}(nil)`
  const show = ({ type: name, status }: Fields): string =>
    goStruct(type, { Type: quote(textOf(name)), Status: quote(textOf(status)) })
  return `[]${type}{${shownItems(itemsOf(list), show)}}`
}

/**
 * Returns the rule for the success policy of an indexed Job. `completions` is the number of
 * completions of the Job.
 */
export function successPolicy(completions: number): Rule {
  return ifPresent((value, path, check) => {
    const { rules } = fieldsOf(value)
    const at = `${path}.rules`
    if (itemsOf(rules).length === 0) {
      check.faults.push(
        required(at, 'at least one rules must be specified when the successPolicy is specified'),
      )
    }
    atMost(RULES_MAX)(rules, at, check)
    each(successRule(completions))(rules, at, check)
  })
}

const successRule =
  (completions: number): Rule =>
  (value, path, check) => {
    const { succeededIndexes, succeededCount } = fieldsOf(value)
    const { faults } = check
    if (succeededIndexes === undefined && succeededCount === undefined) {
      faults.push(
        required(path, 'at least one of succeededCount or succeededIndexes must be specified'),
      )
    }
    const indexes =
      succeededIndexes === undefined
        ? undefined
        : parseIndexes(textOf(succeededIndexes), completions)
    if (indexes !== undefined && 'fault' in indexes) {
      const why = `error parsing succeededIndexes: ${indexes.fault}`
      faults.push(invalidValue(`${path}.succeededIndexes`, textOf(succeededIndexes), why))
    }
    if (succeededCount === undefined) return
    const count = numberOf(succeededCount)
    const at = `${path}.succeededCount`
    nonNegative(succeededCount, at, check)
    if (count > completions) {
      const why = `must be less than or equal to ${completions} (the number of specified completions)`
      faults.push(invalidValue(at, count, why))
    }
    if (indexes === undefined) return
    const most = 'fault' in indexes ? 0 : indexes.count
    if (count <= most) return
    const of = 'the number of indexes in the specified succeededIndexes field'
    faults.push(invalidValue(at, count, `must be less than or equal to ${most} (${of})`))
  }
