/**
 * Measures the requests and limits of the containers of pods. A pod that has terminated, or should
 * have terminated, is counted only as an object.
 */
import type { Gates } from '../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import type { Quantity } from '../../api/quantity.ts'
import { readResourceList, type ResourceList, sum } from '../../api/resource-list.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { isPodLevel, podResources, saidAmounts } from '../../registry/pod-resources.ts'
import { isExtended, isHugePages } from '../../registry/rules/resources.ts'
import type { Attributes } from '../admission.ts'
import { eachItem } from '../../lib/scheduling/parts.ts'
import { sortInParts } from '../../lib/scheduling/sort-in-parts.ts'
import { count, type Evaluator, noneMissing } from './evaluator.ts'
import { amountsWithGiven } from './given.ts'
import { hasDeadline, isPodInScope } from './scopes.ts'

const compute: readonly string[] = ['cpu', 'memory', 'ephemeral-storage']

/** Resources that a quota can limit for pods. A name without a prefix means the requests. */
const names: ReadonlySet<string> = new Set([
  'pods',
  'count/pods',
  ...compute.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
])

/**
 * Resources whose amounts a pod must specify if a quota limits them. If a pod does not specify the
 * amount of another resource, the amount counts as 0.
 */
const required: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
)

export const createPodEvaluator = (gates: Gates, clock: Pick<Clock, 'wallMs'>): Evaluator => ({
  isCharged,
  usageOf: (pod) =>
    isOver(pod, clock.wallMs()) ? record : new Map([...record, ...usageOf(pod, gates)]),
  measures: (name) => {
    if (names.has(name) || isHugePages(name)) return true
    const plain = name.startsWith('requests.') ? name.slice('requests.'.length) : ''
    return isHugePages(plain) || isExtended(plain)
  },
  isInScope: isPodInScope,
  missing: (pod) => (saysItself(pod, ownOf(gates)) ? noneMissing : missing(pod)),
})

/**
 * Returns a predicate for resources. It is true if the amount of the pod itself takes precedence
 * over the amounts of its containers.
 */
const ownOf = (gates: Gates): ((name: string) => boolean) =>
  gates.isOn('PodLevelResources') ? isPodLevel : () => false

/** Returns whether the pod has pod-level amounts. Its containers then need not specify amounts. */
function saysItself({ spec }: KubeObject, isOwn: (name: string) => boolean): boolean {
  const { requests, limits } = fieldsOf(fieldsOf(spec)['resources'])
  return [requests, limits].some((list) => Object.keys(fieldsOf(list)).some(isOwn))
}

/**
 * Returns whether the write can add usage. An update can add usage in two cases: a resize changes
 * the amounts, and a new deadline moves the pod into another scope.
 */
function isCharged({ operation, subresource, object, oldObject }: Attributes): boolean {
  if (subresource === 'resize') return operation === 'UPDATE'
  if (subresource !== '') return false
  if (operation !== 'UPDATE') return operation === 'CREATE'
  return !hasDeadline(oldObject) && hasDeadline(object)
}

const record: ResourceList = new Map([['count/pods', count(1)]])

/**
 * Returns whether the pod has terminated. If a pod still exists after twice its grace period, it is
 * assumed to be on a lost node and counts as terminated.
 */
function isOver({ metadata, status }: KubeObject, nowMs: number): boolean {
  const { phase } = fieldsOf(status)
  if (phase === 'Failed' || phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = metadata
  if (deletionTimestamp === undefined || grace === undefined) return false
  return nowMs > Date.parse(deletionTimestamp) + numberOf(grace) * 1000
}

function usageOf(pod: KubeObject, gates: Gates): ResourceList {
  const fields = fieldsOf(pod['spec'])
  const isOwn = ownOf(gates)
  const amountsOf = gates.isOn('InPlacePodVerticalScaling') ? amountsWithGiven(pod) : saidAmounts
  const overhead = readResourceList(fields['overhead'])
  const requests = sum([podResources(fields, 'requests', { isOwn, amountsOf }), overhead])
  const own = podResources(fields, 'limits', { isOwn, amountsOf })
  // As in kube-apiserver, the overhead is added to a limit only if the containers set that limit.
  const limits = sum([
    own,
    new Map([...overhead].filter(([name]) => (own.get(name)?.nanos ?? 0n) !== 0n)),
  ])
  return new Map([['pods', count(1)], ...named(requests, limits)])
}

/** Yields the amounts under the names that quotas use. */
function* named(requests: ResourceList, limits: ResourceList): Generator<[string, Quantity]> {
  for (const [name, amount] of requests) {
    if (compute.includes(name) || isHugePages(name)) yield [name, amount]
    if (compute.includes(name) || isHugePages(name) || isExtended(name))
      yield [`requests.${name}`, amount]
  }
  for (const [name, amount] of limits) if (compute.includes(name)) yield [`limits.${name}`, amount]
}

/** Returns the names of the containers without an amount, by resource. */
function missing({ spec }: KubeObject): ReadonlyMap<string, string> {
  const fields = fieldsOf(spec)
  const containers = ['containers', 'initContainers'].flatMap((list) => itemsOf(fields[list]))
  const silent = eachItem(
    'containers without amounts',
    containers,
    (): Map<string, Set<string>> => new Map(),
    (all, container) => {
      const given = namesIn(container)
      for (const name of required)
        if (!given.has(name)) addName(all, name, textOf(container['name']))
      return true
    },
  )
  return eachItem(
    'resources without amounts',
    [...silent],
    (): Map<string, string> => new Map(),
    (texts, [name, without]) => {
      const inOrder = sortInParts('names of containers without amounts', [...without], byText)
      texts.set(name, inOrder.join(','))
      return true
    },
  )
}

function addName(all: Map<string, Set<string>>, resource: string, container: string): void {
  const known = all.get(resource)
  if (known === undefined) all.set(resource, new Set([container]))
  else known.add(container)
}

const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

function namesIn({ resources }: Fields): ReadonlySet<string> {
  const { requests, limits } = fieldsOf(resources)
  return new Set(
    [...named(readResourceList(requests), readResourceList(limits))].map(([name]) => name),
  )
}
