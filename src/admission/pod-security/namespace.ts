/** Checks of namespaces with levels: the labels, and whether the existing pods meet a stricter level. */
import type { Gates } from '../../api/gates.ts'
import { invalid } from '../../api/errors.ts'
import { fieldsOf, type KubeObject, type ObjectMeta, textOf } from '../../api/object.ts'
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
import type { Attributes } from '../admission.ts'
import type { Objects } from '../objects.ts'
import { violations } from './evaluate.ts'
import { viewPod } from './pod-view.ts'
import { policyOf, prefix } from './policy.ts'

const pods = { group: '', version: 'v1', plural: 'pods' } as const

/** Of a larger namespace only this many pods are evaluated, as upstream, so that the response is not delayed. */
const PODS_MAX = 3000

type Options = {
  readonly objects: Pick<Objects, 'list'>
  readonly configuration: PodSecurityConfiguration
  readonly gates: Gates
}

/** Fails with Invalid; warns about existing pods that a stricter level would refuse. */
export async function checkNamespace(
  { oldObject, context }: Attributes,
  namespace: KubeObject,
  { objects, configuration, gates }: Options,
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
  const all = await objects.list(pods, name, 'any')
  const found = all.filter(
    ({ spec }) => !exemptions.runtimeClasses.includes(textOf(fieldsOf(spec)['runtimeClassName'])),
  )
  for (const warning of warnings(name, found, { level: policy.enforce, gates })) context.warn(warning)
}

function isTightened(level: LevelVersion, before: LevelVersion): boolean {
  if (isSameLevel(level, before) || level.level === 'privileged') return false
  return level.version !== before.version || isStricter(level.level, before.level)
}

type Labelled = {
  readonly policy: PodSecurityPolicy
  readonly defaults: PodSecurityPolicy
  readonly labels: ObjectMeta['labels']
}

/** Labels of an exempt namespace have no effect, which is told unless they say nothing that would matter. */
function exemptWarning(name: string, { policy, defaults, labels = {} }: Labelled): string | undefined {
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

/** The version of the level privileged does not matter. */
const isEquivalent = (one: LevelVersion, other: LevelVersion): boolean =>
  isSameLevel(one, other) || (one.level === 'privileged' && other.level === 'privileged')

/** Pods with the same violations are reported together. */
function warnings(
  namespace: string,
  found: readonly KubeObject[],
  { level, gates }: { readonly level: LevelVersion; readonly gates: Gates },
): string[] {
  const namesByReasons = new Map<string, string[]>()
  for (const { metadata, spec } of found.slice(0, PODS_MAX)) {
    const reasons = violations(viewPod(metadata, spec, gates), level).map(({ reason }) => reason)
    if (reasons.length === 0) continue
    const key = reasons.join(', ')
    namesByReasons.set(key, [...(namesByReasons.get(key) ?? []), metadata.name ?? ''])
  }
  const lines = [...namesByReasons].map(([reasons, names]) => `${shown(names)}: ${reasons}`)
  if (found.length > PODS_MAX) {
    lines.unshift(
      `new PodSecurity enforce level only checked against the first ${PODS_MAX} of ${found.length} existing pods`,
    )
  }
  if (lines.length === 0) return []
  const header = `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${printLevel(level)}"`
  return [header, ...lines.toSorted()]
}

function shown([first = '', ...others]: readonly string[]): string {
  if (others.length === 0) return first
  return `${first} (and ${others.length} other ${others.length === 1 ? 'pod' : 'pods'})`
}
