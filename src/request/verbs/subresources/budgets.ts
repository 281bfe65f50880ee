/**
 * PodDisruptionBudgets limit the number of pods in a set that can be disrupted at the same time.
 * Each eviction uses one allowed disruption.
 */
import { type ApiError, evictionRefused, forbidden } from '../../../api/errors.ts'
import { parseJson } from '../../../api/json-value.ts'
import type { Labels } from '../../../api/label-selector.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../../api/object.ts'
import { itemsIn, valueAt } from '../../../objects/codec/json-bytes.ts'
import { selects } from '../../../registry/rules/label-selector.ts'
import { withCondition } from './condition.ts'

/**
 * Maximum number of evictions that the disruption controller has not processed yet. If there are
 * more, the controller is probably not running.
 */
const DISRUPTED_PODS_MAX = 2000
/**
 * Delay in seconds before a retry. The disruption controller needs this time to process a changed
 * budget.
 */
const RETRY_SECONDS = 10

/**
 * Whether a pod can be evicted without using a budget, because it does not run yet or will never
 * run again.
 */
export const needsNoBudget = (pod: KubeObject): boolean => isOver(pod) || phaseOf(pod) === 'Pending'

/** Whether the pod will never run again. */
export const isOver = (pod: KubeObject): boolean =>
  pod.metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed'].includes(phaseOf(pod))

const phaseOf = (pod: KubeObject): string => textOf(fieldsOf(pod['status'])['phase'])

/**
 * Whether a selector in JSON selects a pod. If the selector is long, its values are first searched
 * in the JSON. Thus a selector that cannot match is not parsed.
 */
export function selectsInJson(selector: Buffer, labels: Labels = {}): boolean {
  for (const expression of itemsIn(valueAt(selector, ['matchExpressions']))) {
    const [key, operator] = ['key', 'operator'].map((name) => textIn(valueAt(expression, [name])))
    const label = Object.hasOwn(labels, key ?? '') ? labels[key ?? ''] : undefined
    const isListed =
      label !== undefined && valueAt(expression, ['values'])?.includes(`"${label}"`) === true
    if (operator === 'In' && !isListed) return false
    if (operator === 'NotIn' && isListed) return false
  }
  return selects(parseJson(selector), labels)
}

const textIn = (json: Buffer | undefined): string =>
  json === undefined ? '' : textOf(parseJson(json))

/**
 * Whether a pod that is not ready can be evicted without using the budget, because the budget does
 * not count it as healthy.
 */
export function goesUncounted(pod: KubeObject, budget: KubeObject): boolean {
  const isReady = itemsOf(fieldsOf(pod['status'])['conditions']).some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  )
  if (isReady) return false
  if (fieldsOf(budget['spec'])['unhealthyPodEvictionPolicy'] === 'AlwaysAllow') return true
  const { currentHealthy, desiredHealthy } = fieldsOf(budget['status'])
  return numberOf(desiredHealthy) > 0 && numberOf(currentHealthy) >= numberOf(desiredHealthy)
}

/**
 * Returns the budget with one fewer allowed disruption. Fails with TooManyRequests if no disruption
 * is allowed.
 */
export function spent(
  budget: KubeObject,
  podName: string,
  { now, release }: { readonly now: string; readonly release: number },
): KubeObject {
  const status = fieldsOf(budget['status'])
  const refusal = refusalOf(budget, release)
  if (refusal !== undefined) throw refusal
  const disruptionsAllowed = numberOf(status['disruptionsAllowed']) - 1
  const disruptedPods = { ...fieldsOf(status['disruptedPods']), [podName]: now }
  const changed = { ...status, disruptionsAllowed, disruptedPods }
  if (disruptionsAllowed > 0) return { ...budget, status: changed }
  const observedGeneration = numberOf(status['observedGeneration'])
  return { ...budget, status: withCondition(changed, { ...nothingLeft, observedGeneration }, now) }
}

const nothingLeft = {
  type: 'DisruptionAllowed',
  status: 'False',
  reason: 'InsufficientPods',
  message: '',
} as const

function refusalOf(budget: KubeObject, release: number): ApiError | undefined {
  const { name = '', generation = 0 } = budget.metadata
  const status = fieldsOf(budget['status'])
  const { observedGeneration, disruptionsAllowed, disruptedPods } = status
  // As in kube-apiserver, the error contains the singular name of the resource.
  const budgets = { group: 'policy', plural: 'poddisruptionbudget' }
  if (numberOf(observedGeneration) < generation) return beingProcessed(name)
  if (numberOf(disruptionsAllowed) < 0)
    return forbidden(budgets, name, 'pdb disruptions allowed is negative')
  if (Object.keys(fieldsOf(disruptedPods)).length > DISRUPTED_PODS_MAX) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller'
    return forbidden(budgets, name, why)
  }
  if (numberOf(disruptionsAllowed) > 0) return undefined
  return evictionRefused(`The disruption budget ${name} ${whyNone(status, release)}`, 0)
}

/** The first release that explains a refused eviction with the condition of the budget. */
const CONDITION_SINCE = 35

/** Explains why the budget allows no disruption. */
function whyNone({ desiredHealthy, currentHealthy, conditions }: Fields, release: number): string {
  const [desired, healthy] = [numberOf(desiredHealthy), numberOf(currentHealthy)]
  const needs = `needs ${desired} healthy pods and has ${healthy} currently`
  if (release < CONDITION_SINCE) return needs
  const { reason, message } =
    itemsOf(conditions).find(
      ({ type, status, message: why }) =>
        type === 'DisruptionAllowed' && status === 'False' && textOf(why) !== '',
    ) ?? {}
  const refuses = 'does not allow evicting pods currently'
  if (reason === 'SyncFailed') return `${refuses} because it failed sync: ${textOf(message)}`
  if (healthy <= desired) return needs
  return message === undefined ? refuses : `${refuses} (${textOf(reason)}): ${textOf(message)}`
}

export const beingProcessed = (name: string): ApiError =>
  evictionRefused(
    `The disruption budget ${name} is still being processed by the server.`,
    RETRY_SECONDS,
  )
