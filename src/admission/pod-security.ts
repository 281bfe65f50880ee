/**
 * The Pod Security Standards: labels of a namespace say which level its pods must meet, and which levels only cause warnings or audit
 * annotations. Only pods are refused; for a workload the writer is warned that its pods would be.
 */
import { defaultGates, type Gates } from '../api/gates.ts'
import { fieldsOf, isFields, itemsOf, type Json, type KubeObject, textOf } from '../api/object.ts'
import { type Attributes, type Plugin, refusal, targetOf } from './admission.ts'
import { getOrLatest, type Objects } from './objects.ts'
import { printViolations, violations } from './pod-security/evaluate.ts'
import { checkNamespace } from './pod-security/namespace.ts'
import { type PodView, viewPod } from './pod-security/pod-view.ts'
import { policyOf, prefix, printLevel } from './pod-security/policy.ts'

/** Users, namespaces and runtime classes that are exempt. */
export type Exemptions = {
  readonly usernames: ReadonlySet<string>
  readonly namespaces: ReadonlySet<string>
  readonly runtimeClasses: ReadonlySet<string>
}

export const noExemptions: Exemptions = { usernames: new Set(), namespaces: new Set(), runtimeClasses: new Set() }

const namespaces = { group: '', version: 'v1', plural: 'namespaces' } as const

/** Where each kind with a pod template has it. */
const templates: ReadonlyMap<string, (object: KubeObject) => Json | undefined> = new Map([
  ['podtemplates', ({ template }) => template],
  ...[
    'replicationcontrollers',
    'replicasets.apps',
    'deployments.apps',
    'statefulsets.apps',
    'daemonsets.apps',
    'jobs.batch',
  ].map((name): [string, (object: KubeObject) => Json | undefined] => [name, ({ spec }) => fieldsOf(spec)['template']]),
  ['cronjobs.batch', ({ spec }) => fieldsOf(fieldsOf(fieldsOf(spec)['jobTemplate'])['spec'])['template']],
])

export function createPodSecurity(
  objects: Pick<Objects, 'get' | 'list'>,
  exemptions: Exemptions = noExemptions,
  gates: Gates = defaultGates,
): Plugin {
  const evaluate = async (attributes: Attributes, pod: PodView, enforces: boolean): Promise<void> => {
    const { namespace, context } = attributes
    if (isLeftAlone(attributes, pod, exemptions)) return
    const found = await getOrLatest(objects, namespaces, { namespace: '', name: namespace })
    const { enforce, audit, warn } = policyOf(found?.metadata.labels).policy
    if (enforces) {
      context.annotate(`${prefix}enforce-policy`, printLevel(enforce))
      const forbidden = violations(pod, enforce)
      if (forbidden.length > 0)
        throw refusal(attributes, `violates PodSecurity "${printLevel(enforce)}": ${printViolations(forbidden)}`)
    }
    const audited = violations(pod, audit)
    const told = `would violate PodSecurity "${printLevel(audit)}": ${printViolations(audited)}`
    if (audited.length > 0) context.annotate(`${prefix}audit-violations`, told)
    const warned = violations(pod, warn)
    if (warned.length > 0) context.warn(`would violate PodSecurity "${printLevel(warn)}": ${printViolations(warned)}`)
  }

  return {
    name: 'PodSecurity',
    resources: new Set(['namespaces', 'pods', ...templates.keys()]),
    validate: async (attributes) => {
      const { operation, object, oldObject } = attributes
      if (object === undefined || (operation !== 'CREATE' && operation !== 'UPDATE')) return
      const target = targetOf(attributes)
      if (target === 'namespaces') {
        const isExempt = exemptions.namespaces.has(object.metadata.name ?? '')
        return checkNamespace(attributes, object, { objects, isExempt, gates })
      }
      const template = templates.get(target)?.(object)
      if (isFields(template)) return evaluate(attributes, viewPod(template['metadata'], template['spec'], gates), false)
      if (!podTargets.has(target) || (oldObject !== undefined && !isChanged(object, oldObject))) return
      return evaluate(attributes, viewPod(object.metadata, object['spec'], gates), true)
    },
  }
}

/** Other subresources of a pod do not affect its security. */
const podTargets: ReadonlySet<string> = new Set(['pods', 'pods/ephemeralcontainers', 'pods/resize'])

function isLeftAlone({ namespace, context }: Attributes, { spec }: PodView, exemptions: Exemptions): boolean {
  const { usernames, namespaces: exempted, runtimeClasses } = exemptions
  const runtimeClass = textOf(spec['runtimeClassName'])
  if (!usernames.has(context.user.name) && !exempted.has(namespace) && !runtimeClasses.has(runtimeClass)) return false
  context.annotate(
    `${prefix}exempt`,
    exempted.has(namespace) ? 'namespace' : usernames.has(context.user.name) ? 'user' : 'runtimeClass',
  )
  return true
}

/** Only containers, images, and annotations that preceded fields are compared: nothing else that matters here can change. */
function isChanged(pod: KubeObject, oldPod: KubeObject): boolean {
  return partsOf(pod) !== partsOf(oldPod)
}

function partsOf({ metadata, spec }: KubeObject): string {
  const lists = ['initContainers', 'containers', 'ephemeralContainers'].map((list) =>
    itemsOf(fieldsOf(spec)[list]).map(({ name, image }) => [textOf(name), textOf(image)]),
  )
  const profiles = Object.entries(metadata.annotations ?? {}).filter(([key]) => profileAnnotation.test(key))
  return JSON.stringify([lists, profiles.map(([key, value]) => `${key}=${value}`).toSorted()])
}

const profileAnnotation = /^(container\.)?(seccomp\.security\.alpha|apparmor\.security\.beta)\.kubernetes\.io\//
