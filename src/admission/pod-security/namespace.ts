/**
 * Checks namespaces that have Pod Security levels: whether the labels are valid, and whether the
 * existing pods comply with a stricter level.
 */
import type { Gates } from '../../api/gates.ts'
import { invalid } from '../../api/errors.ts'
import { fieldsOf, itemsOf, type KubeObject, type ObjectMeta, textOf } from '../../api/object.ts'
import {
  isPrivileged,
  isSameLevel,
  isStricter,
  type LevelVersion,
  type PodSecurityPolicy,
  printLevel,
} from '../../api/pod-security-level.ts'
import { quote } from '../../api/quote.ts'
import type { PodSecurityConfiguration } from '../../config/files/pod-security.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import type { Attributes } from '../admission.ts'
import type { Objects } from '../../api/object-access.ts'
import { violations } from './evaluate.ts'
import { viewPod } from './pod-view.ts'
import { policyOf, prefix } from './policy.ts'

const pods = { group: '', version: 'v1', plural: 'pods' } as const

/**
 * Maximum number of pods that are checked when a namespace gets a stricter level, as in
 * kube-apiserver. The limit keeps the response fast.
 */
const PODS_MAX = 3000
/** Maximum duration of the check of existing pods, as in kube-apiserver. */
const CHECK_MS_MAX = 1_000

type Options = {
  readonly objects: Pick<Objects, 'select'>
  readonly configuration: PodSecurityConfiguration
  readonly gates: Gates
  readonly clock: Pick<Clock, 'monotonicMs'>
}

/**
 * Checks the pod security labels of a namespace that is being written. Fails with Invalid if the
 * labels are not valid. Warns about existing pods that a stricter level would reject.
 */
export async function checkNamespace(
  { oldObject, context }: Attributes,
  namespace: KubeObject,
  { objects, configuration, gates, clock }: Options,
): Promise<void> {
  const name = namespace.metadata.name ?? ''
  const { defaults, exemptions } = configuration
  const { labels } = namespace.metadata
  const { policy, faults } = policyOf(labels, defaults)
  const before = oldObject && policyOf(oldObject.metadata.labels, defaults)
  const isKnown = JSON.stringify(faults) === JSON.stringify(before?.faults ?? [])
  if (faults.length > 0 && !isKnown) throw invalid({ group: '', kind: 'Namespace' }, name, faults)
  if (before !== undefined && !isTightened(policy.enforce, before.policy.enforce)) return
  if (exemptions.namespaces.includes(name)) {
    const warning = exemptWarning(name, { policy, defaults, labels })
    if (warning !== undefined) context.warn(warning)
    return
  }
  if (before === undefined) return
  // As in kube-apiserver, the check takes at most half of the time that is left for the request.
  const timeMs = Math.min(CHECK_MS_MAX, Math.max(0, context.deadlineMs - clock.monotonicMs()) / 2)
  const deadlineMs = clock.monotonicMs() + timeMs
  const all = await objects.select(pods, name, [])
  const isExempt = ({ spec }: KubeObject): boolean =>
    exemptions.runtimeClasses.includes(textOf(fieldsOf(spec)['runtimeClassName']))
  const found = await byPriority(all, { isExempt, clock, deadlineMs: deadlineMs - timeMs / 2 })
  const reported = await warnings(name, found, { level: policy.enforce, gates, deadlineMs, clock })
  for (const warning of reported) context.warn(warning)
}

function isTightened(level: LevelVersion, before: LevelVersion): boolean {
  if (isSameLevel(level, before) || level.level === 'privileged') return false
  return level.version !== before.version || isStricter(level.level, before.level)
}

type LabelledNamespace = {
  readonly policy: PodSecurityPolicy
  readonly defaults: PodSecurityPolicy
  readonly labels: ObjectMeta['labels']
}

/**
 * Returns a warning that the labels of an exempt namespace have no effect. Returns undefined if the
 * labels do not change the default level.
 */
function exemptWarning(
  name: string,
  { policy, defaults, labels = {} }: LabelledNamespace,
): string | undefined {
  const modes = ['enforce', 'audit', 'warn'] as const
  const isDefault = modes.every((mode) => isEquivalent(policy[mode], defaults[mode]))
  if (isPrivileged(policy) || isDefault) return undefined
  const isLabelled = (mode: string): boolean =>
    labels[`${prefix}${mode}`] !== undefined || labels[`${prefix}${mode}-version`] !== undefined
  const parts = modes
    .filter((mode) => policy[mode].level !== 'privileged' && isLabelled(mode))
    .map((mode) => `${mode}=${printLevel(policy[mode])}`)
  return `namespace ${quote(name)} is exempt from Pod Security, and the policy (${parts.join(', ')}) will be ignored`
}

/** Returns whether the levels are equivalent. The version of the privileged level is ignored. */
const isEquivalent = (one: LevelVersion, other: LevelVersion): boolean =>
  isSameLevel(one, other) || (one.level === 'privileged' && other.level === 'privileged')

type Checking = {
  readonly level: LevelVersion
  readonly gates: Gates
  readonly deadlineMs: number
  readonly clock: Options['clock']
}

/**
 * Returns the warnings. Pods with the same violations share a warning. There may be thousands of
 * pods, so the work is divided into slices, between which the event loop runs other work.
 */
async function warnings(
  namespace: string,
  { first, count }: PodSelection,
  { level, gates, deadlineMs, clock }: Checking,
): Promise<string[]> {
  const slices = new Slices()
  const namesByReasons = new Map<string, string[]>()
  let checked = 0
  for (const { metadata, spec } of first) {
    if (slices.isOver) await slices.turn()
    const reasons = violations(viewPod(metadata, spec, gates), level).map(({ reason }) => reason)
    const key = reasons.join(', ')
    if (reasons.length > 0)
      namesByReasons.set(key, [...(namesByReasons.get(key) ?? []), metadata.name ?? ''])
    checked++
    if (clock.monotonicMs() > deadlineMs) break
  }
  const lines = [...namesByReasons].map(
    ([reasons, names]) => `${shown(names.toSorted())}: ${reasons}`,
  )
  return [
    ...(checked < count
      ? [
          `new PodSecurity enforce level only checked against the first ${checked} of ${count} existing pods`,
        ]
      : []),
    ...(lines.length > 0
      ? [
          `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${printLevel(level)}"`,
        ]
      : []),
    ...lines.toSorted(),
  ]
}

/**
 * Pods of a namespace. `first` has the pods to evaluate, in order. `count` is the number of pods
 * that are not exempt. It includes the pods that could not be read in time, because it is unknown
 * whether they are exempt.
 */
type PodSelection = { readonly first: readonly KubeObject[]; readonly count: number }

type PodReadOptions = {
  readonly isExempt: (pod: KubeObject) => boolean
  readonly clock: Options['clock']
  readonly deadlineMs: number
}

/**
 * Selects the pods to evaluate. The first pod of each controller comes first, because the other
 * pods of the controller are probably similar. Each pod has to be decoded, so the work is divided
 * into slices, between which the event loop runs other work. Only the pods that will be evaluated
 * are retained.
 */
async function byPriority(
  all: readonly (() => KubeObject)[],
  { isExempt, clock, deadlineMs }: PodReadOptions,
): Promise<PodSelection> {
  const slices = new Slices()
  const [distinct, repeated]: [KubeObject[], KubeObject[]] = [[], []]
  const seen = new Set<string>()
  let count = all.length
  for (const decoded of all) {
    if (slices.isOver) await slices.turn()
    const pod = decoded()
    if (isExempt(pod)) count--
    else {
      const uid = controllerOf(pod)
      const kept = uid !== undefined && seen.has(uid) ? repeated : distinct
      if (uid !== undefined) seen.add(uid)
      if (kept.length < PODS_MAX) kept.push(pod)
    }
    if (clock.monotonicMs() > deadlineMs) break
  }
  return { first: [...distinct, ...repeated].slice(0, PODS_MAX), count }
}

/** Returns the uid of the pod's controller, or undefined if the pod has no controller. */
function controllerOf({ metadata }: KubeObject): string | undefined {
  const controller = itemsOf(metadata['ownerReferences']).find(
    (owner) => owner['controller'] === true,
  )
  return controller && textOf(controller['uid'])
}

function shown([first = '', ...others]: readonly string[]): string {
  if (others.length === 0) return first
  return `${first} (and ${others.length} other ${others.length === 1 ? 'pod' : 'pods'})`
}
