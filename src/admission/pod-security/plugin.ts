/**
 * The Pod Security Standards. Labels of a namespace set the level with which its pods must comply,
 * and the levels that cause only warnings or audit annotations. Only pods are rejected. A client
 * that writes a workload is warned if the pods of the workload would be rejected.
 */
import { describeFaults } from '../../api/aggregate.ts'
import { internalError } from '../../api/errors.ts'
import type { Gates } from '../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../../api/object.ts'
import {
  isPrivileged,
  isSameLevel,
  type LevelVersion,
  printLevel,
  privilegedPolicy,
} from '../../api/pod-security-level.ts'
import { quote } from '../../api/quote.ts'
import type { PodSecurityConfiguration } from '../../config/files/pod-security.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { type Attributes, type Plugin, refusal, targetOf } from '../admission.ts'
import { getOrLatest, type Objects } from '../../api/object-access.ts'
import { printViolations, violations } from './evaluate.ts'
import type { PodSecurityMetrics } from './metrics.ts'
import { checkNamespace } from './namespace.ts'
import { type PodView, type Violation, viewPod } from './pod-view.ts'
import { policyOf, prefix } from './policy.ts'

const namespaces = { group: '', version: 'v1', plural: 'namespaces' } as const

/** For each kind that has a pod template, a function that returns the template of an object. */
const templates: ReadonlyMap<string, (object: KubeObject) => Json | undefined> = new Map([
  ['podtemplates', ({ template }) => template],
  ...[
    'replicationcontrollers',
    'replicasets.apps',
    'deployments.apps',
    'statefulsets.apps',
    'daemonsets.apps',
    'jobs.batch',
  ].map((name): [string, (object: KubeObject) => Json | undefined] => [
    name,
    ({ spec }) => fieldsOf(spec)['template'],
  ]),
  [
    'cronjobs.batch',
    ({ spec }) => fieldsOf(fieldsOf(fieldsOf(spec)['jobTemplate'])['spec'])['template'],
  ],
])

export type PodSecurityOptions = {
  readonly objects: Pick<Objects, 'get' | 'select'>
  readonly configuration: PodSecurityConfiguration
  readonly gates: Gates
  readonly metrics: PodSecurityMetrics
  readonly clock: Pick<Clock, 'monotonicMs'>
}

export function createPodSecurity(options: PodSecurityOptions): Plugin {
  const { exemptions } = options.configuration
  const checks = new PodChecks(options)
  return {
    name: 'PodSecurity',
    resources: new Set(['namespaces', 'pods', ...templates.keys()]),
    validate: (attributes) => {
      const { operation, object, namespace, context } = attributes
      if (object === undefined || (operation !== 'CREATE' && operation !== 'UPDATE'))
        return undefined
      const target = targetOf(attributes)
      if (target === 'namespaces') return checkNamespace(attributes, object, options)
      const template = templates.get(target)
      if (template === undefined && !podTargets.has(target)) return undefined
      if (exemptions.namespaces.includes(namespace)) return checks.exempt(attributes, 'namespace')
      if (exemptions.usernames.includes(context.user.name)) return checks.exempt(attributes, 'user')
      if (template === undefined) return checks.checkPod(attributes, object)
      const given = template(object)
      return isFields(given) ? checks.checkTemplate(attributes, given) : undefined
    },
  }
}

/** Resources and subresources to check. Other subresources of a pod do not affect its security. */
const podTargets: ReadonlySet<string> = new Set(['pods', 'pods/ephemeralcontainers', 'pods/resize'])

/** Checks pods and pod templates against the policy of their namespace. */
class PodChecks {
  readonly #options: PodSecurityOptions

  constructor(options: PodSecurityOptions) {
    this.#options = options
  }

  exempt(attributes: Attributes, why: string): void {
    attributes.context.annotate(`${prefix}exempt`, why)
    this.#options.metrics.countExemption(attributes)
  }

  async checkPod(attributes: Attributes, pod: KubeObject): Promise<void> {
    const { metrics, gates } = this.#options
    const read = await this.#readPolicy(attributes)
    if (read === undefined) {
      metrics.countError(attributes, { isFatal: true })
      throw internalError(`failed to lookup namespace ${quote(attributes.namespace)}`)
    }
    const { policy, faults } = read
    if (faults.length === 0 && isPrivileged(policy)) {
      attributes.context.annotate(`${prefix}enforce-policy`, printLevel(privilegedPolicy.enforce))
      metrics.countEvaluation(attributes, 'enforce', policy.enforce, true)
      return
    }
    const { oldObject } = attributes
    if (oldObject !== undefined && !isChanged(pod, oldObject)) return
    const view = (): PodView => viewPod(pod.metadata, pod['spec'], gates)
    await this.#evaluate(attributes, { spec: pod['spec'], view, policy, faults, enforces: true })
  }

  async checkTemplate(attributes: Attributes, template: Fields): Promise<void> {
    const { metrics, gates } = this.#options
    const read = await this.#readPolicy(attributes)
    if (read === undefined) {
      const { context, namespace } = attributes
      const missing = `namespaces ${quote(namespace)} not found`
      context.annotate(
        `${prefix}error`,
        `failed to lookup namespace ${quote(namespace)}: ${missing}`,
      )
      metrics.countError(attributes, { isFatal: true })
      return
    }
    const { policy, faults } = read
    const isUnrestricted = policy.warn.level === 'privileged' && policy.audit.level === 'privileged'
    if (faults.length === 0 && isUnrestricted) return
    const { spec } = template
    const view = (): PodView => viewPod(template['metadata'], spec, gates)
    await this.#evaluate(attributes, { spec, view, policy, faults, enforces: false })
  }

  /**
   * Resolves to the policy of the namespace. Resolves to undefined if the namespace does not exist,
   * which is possible only if NamespaceLifecycle is disabled.
   */
  async #readPolicy({ namespace }: Attributes): Promise<ReturnType<typeof policyOf> | undefined> {
    const { objects, configuration } = this.#options
    const found = await getOrLatest(objects, namespaces, { namespace: '', name: namespace })
    return found && policyOf(found.metadata.labels, configuration.defaults)
  }

  async #evaluate(attributes: Attributes, evaluation: Evaluation): Promise<void> {
    const { configuration, metrics } = this.#options
    const { context } = attributes
    const { spec, policy, faults, enforces } = evaluation
    const { runtimeClasses } = configuration.exemptions
    if (runtimeClasses.includes(textOf(fieldsOf(spec)['runtimeClassName']))) {
      return this.exempt(attributes, 'runtimeClass')
    }
    if (faults.length > 0) {
      context.annotate(`${prefix}error`, `Failed to parse policy: ${describeFaults(faults)}`)
      metrics.countError(attributes, { isFatal: false })
    }
    const { enforce, audit, warn } = policy
    const { refused, audited, warned } = await context.divide(() => allViolations(evaluation))
    if (enforces) {
      context.annotate(`${prefix}enforce-policy`, printLevel(enforce))
      metrics.countEvaluation(attributes, 'enforce', enforce, refused.length === 0)
    }
    if (audited.length > 0) {
      context.annotate(`${prefix}audit-violations`, wouldViolate(audit, audited))
      metrics.countEvaluation(attributes, 'audit', audit, false)
    }
    if (refused.length > 0) {
      throw refusal(
        attributes,
        `violates PodSecurity "${printLevel(enforce)}": ${printViolations(refused)}`,
      )
    }
    if (warned.length === 0) return
    context.warn(wouldViolate(warn, warned))
    metrics.countEvaluation(attributes, 'warn', warn, false)
  }
}

/**
 * The policy of the namespace, and the pod spec to evaluate. `enforces` is true for a pod and false
 * for a pod template, because only pods are rejected.
 */
type Evaluation = ReturnType<typeof policyOf> & {
  readonly spec: Json | undefined
  readonly view: () => PodView
  readonly enforces: boolean
}

/** Returns the violations for each mode. Modes with the same level share them. */
function allViolations({ view, policy, enforces }: Evaluation): {
  readonly [what in 'refused' | 'audited' | 'warned']: readonly Violation[]
} {
  const pod = view()
  const { enforce, audit, warn } = policy
  const refused = enforces ? violations(pod, enforce) : []
  const audited = enforces && isSameLevel(audit, enforce) ? refused : violations(pod, audit)
  const warned = isSameLevel(warn, audit) ? audited : violations(pod, warn)
  return { refused, audited, warned }
}

const wouldViolate = (level: LevelVersion, found: readonly Violation[]): string =>
  `would violate PodSecurity "${printLevel(level)}": ${printViolations(found)}`

/**
 * Returns whether a container or image changed. As in kube-apiserver, other fields are not
 * compared, because an update cannot change any other field that the controls check.
 */
function isChanged(pod: KubeObject, oldPod: KubeObject): boolean {
  return partsOf(pod) !== partsOf(oldPod)
}

function partsOf({ spec }: KubeObject): string {
  const lists = ['initContainers', 'containers', 'ephemeralContainers'].map((list) =>
    itemsOf(fieldsOf(spec)[list]).map(({ name, image }) => [textOf(name), textOf(image)]),
  )
  return JSON.stringify(lists)
}
