/** Restart policies and rules of single containers (gate ContainerRestartRules). */
import {
  type FieldFault,
  forbiddenField,
  notSupported,
  required,
  tooLong,
} from '../../../../api/field-fault.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  listOf,
  textOf,
} from '../../../../api/object.ts'
import { type Check, eachIn } from '../../../rules/rule.ts'
import type { GatedPart } from './gated.ts'

const gate = 'ContainerRestartRules'
/** The gate of rules that restart all containers. With it, sidecars can also have rules. */
export const restartAllGate = 'RestartAllContainersOnContainerExits'
const RULES_MAX = 20
const EXIT_CODES_MAX = 255
const policies = ['Always', 'Never', 'OnFailure'] as const
const operators = ['In', 'NotIn'] as const

const hasRules = ({ restartPolicyRules }: Fields): boolean => listOf(restartPolicyRules).length > 0

/**
 * Whether an init container has a restart policy that requires the feature gate
 * ContainerRestartRules.
 */
const hasOwnPolicy = ({ restartPolicy }: Fields): boolean =>
  restartPolicy !== undefined && restartPolicy !== 'Always'

/**
 * Whether a Pod has restart policies or rules that require the feature gate ContainerRestartRules.
 */
export const usesRestartRules = (spec: Fields): boolean =>
  itemsOf(spec['initContainers']).some((one) => hasOwnPolicy(one) || hasRules(one)) ||
  ['containers', 'ephemeralContainers'].some((list) =>
    itemsOf(spec[list]).some((one) => one['restartPolicy'] !== undefined || hasRules(one)),
  )

/** Whether a Pod has rules that require the feature gate RestartAllContainersOnContainerExits. */
export const restartsAll = (spec: Fields): boolean =>
  canRestartAll(spec) ||
  itemsOf(spec['initContainers']).some((one) => one['restartPolicy'] === 'Always' && hasRules(one))

/** Whether a Pod has a rule that restarts all its containers. */
export const canRestartAll = (spec: Fields): boolean =>
  ['initContainers', 'containers'].some((list) =>
    itemsOf(spec[list]).some(({ restartPolicyRules }) =>
      itemsOf(restartPolicyRules).some(({ action }) => action === 'RestartAllContainers'),
    ),
  )

/**
 * Drops restart policies that require the feature gate ContainerRestartRules. Releases before 1.34
 * refuse such policies.
 */
export const restartPolicies: GatedPart = {
  gate,
  since: 34,
  isUsed: usesRestartRules,
  drop: (spec) => ({
    ...spec,
    ...Object.fromEntries(
      ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list): [string, Json][] =>
        Array.isArray(spec[list])
          ? [[list, itemsOf(spec[list]).map((one) => withoutPolicy(one, list))]]
          : [],
      ),
    ),
  }),
}

function withoutPolicy(container: Fields, list: string): Fields {
  const { restartPolicyRules: _, restartPolicy, ...rest } = container
  const isKept = list === 'initContainers' && restartPolicy === 'Always'
  return isKept ? { ...rest, restartPolicy } : rest
}

const policyMissing = (path: string): FieldFault =>
  required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used')

/** Validates the policy and the rules of a container. */
export function containerRestarts(container: Fields, path: string, check: Check): void {
  const { restartPolicy, restartPolicyRules } = container
  const rules = itemsOf(restartPolicyRules)
  const own = `${path}.restartPolicyRules`
  if (restartPolicy === undefined) {
    if (rules.length === 0) return
    check.faults.push(policyMissing(path))
  } else if (!policies.some((policy) => policy === restartPolicy)) {
    check.faults.push(notSupported(`${path}.restartPolicy`, textOf(restartPolicy), policies))
  }
  if (rules.length > RULES_MAX) check.faults.push(tooLong(own, RULES_MAX))
  eachIn(rules, check, ({ action, exitCodes }, at, { faults, gates }) => {
    const isAllowed =
      action === 'Restart' || (action === 'RestartAllContainers' && gates.isOn(restartAllGate))
    // As in kube-apiserver, the error names only one action.
    if (!isAllowed) faults.push(notSupported(`${own}[${at}].action`, textOf(action), ['Restart']))
    const codes = `${own}[${at}].exitCodes`
    if (exitCodes === undefined) {
      faults.push(required(codes, 'must be specified'))
      return
    }
    const { operator, values } = fieldsOf(exitCodes)
    if (!operators.some((known) => known === operator))
      faults.push(notSupported(`${codes}.operator`, textOf(operator), operators))
    if (listOf(values).length > EXIT_CODES_MAX)
      faults.push(tooLong(`${codes}.values`, EXIT_CODES_MAX))
  })
}

/** Validates the policy and the rules of an init container. */
export function initRestarts(container: Fields, path: string, check: Check): void {
  const { restartPolicy } = container
  if (restartPolicy === undefined && hasRules(container)) check.faults.push(policyMissing(path))
  else if (restartPolicy !== 'Always' || check.gates.isOn(restartAllGate))
    containerRestarts(container, path, check)
  else if (hasRules(container)) {
    const why = 'restartPolicyRules are not allowed for init containers with restart policy Always'
    check.faults.push(forbiddenField(`${path}.restartPolicyRules`, why))
  }
}
