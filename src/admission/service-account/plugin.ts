/**
 * Assigns a service account of the namespace to a new pod. The service account must exist, and its
 * token is mounted into the containers of the pod.
 */
import { cutText } from '../../lib/text/cut-text.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { unclassified } from '../../api/errors.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, textOf } from '../../api/object.ts'
import { type Attributes, type Plugin, refusal, targetOf } from '../admission.ts'
import type { Objects } from '../../api/object-access.ts'
import { ephemeralFault, mirrorPodFault, secretFault } from './references.ts'
import { withTokenVolume } from './token-volume.ts'

const serviceAccounts = { group: '', version: 'v1', plural: 'serviceaccounts' } as const
const defaultName = 'default'
/**
 * Annotation of a mirror pod. The kubelet runs the corresponding static pod by itself, so the spec
 * must not change.
 */
const mirrorAnnotation = 'kubernetes.io/config.mirror'

/**
 * Maximum number of lookups of the default service account, as in kube-apiserver. A controller
 * creates the account in a new namespace, and the first pods may be created slightly earlier.
 */
const DEFAULT_LOOKUPS = 10
const LOOKUP_MS = 150

export type ServiceAccountOptions = {
  readonly objects: Pick<Objects, 'get'>
  /** Returns the random suffix of a volume name. */
  readonly nameSuffix: () => string
  /** Waits between lookups. Fails if the request ends first. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

const sleepFor = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal })

export function createServiceAccount({
  objects,
  nameSuffix,
  wait = sleepFor,
}: ServiceAccountOptions): Plugin {
  const accountOf = async (attributes: Attributes, name: string): Promise<KubeObject> => {
    const { namespace, context } = attributes
    const lookups = name === defaultName ? DEFAULT_LOOKUPS : 1
    const cached = await objects.get(serviceAccounts, { namespace, name }, 'any')
    if (cached !== undefined) return cached
    for (let lookup = 0; lookup < lookups; lookup++) {
      if (lookup > 0) await wait(LOOKUP_MS, context.signal)
      const found = await objects.get(serviceAccounts, { namespace, name }, 'latest')
      if (found !== undefined) return found
    }
    const shown = cutText(name)
    const why = `serviceaccount "${shown}" not found`
    throw refusal(attributes, `error looking up service account ${namespace}/${shown}: ${why}`)
  }

  /**
   * Checks which secrets a new pod references. The mutating step also calls this function. The
   * client thus gets this error rather than a validation error of the pod.
   */
  const check = async (attributes: Attributes, pod: KubeObject): Promise<void> => {
    const spec = fieldsOf(pod['spec'])
    const refuse = (fault: string | undefined): void => {
      if (fault !== undefined) throw refusal(attributes, fault)
    }
    const { context } = attributes
    if (isMirror(pod)) return refuse(await context.divide(() => mirrorPodFault(spec)))
    const account = await accountOf(attributes, nameIn(attributes, spec))
    refuse(await context.divide(() => secretFault(spec, account)))
  }

  const mutateNew = async (attributes: Attributes, pod: KubeObject): Promise<KubeObject> => {
    if (isMirror(pod)) return pod
    const spec = fieldsOf(pod['spec'])
    const name = textOf(spec['serviceAccountName']) || defaultName
    const account = await accountOf(attributes, name)
    const named = { ...spec, serviceAccountName: name, serviceAccount: name }
    const mounted = isMounted(spec, account)
      ? await attributes.context.divide(() => withTokenVolume(named, nameSuffix))
      : named
    return { ...pod, spec: { ...mounted, ...pullSecrets(spec, account) } }
  }

  return {
    name: 'ServiceAccount',
    resources: new Set(['pods']),
    mutate: async (attributes) => {
      const { object } = attributes
      if (object === undefined || !isNewPod(attributes)) return object
      const pod = await mutateNew(attributes, object)
      await check(attributes, pod)
      return pod
    },
    validate: async (attributes) => {
      const { object } = attributes
      if (object === undefined) return
      if (isNewPod(attributes)) await check(attributes, object)
      if (targetOf(attributes) !== 'pods/ephemeralcontainers') return
      const spec = fieldsOf(object['spec'])
      const account = await accountOf(attributes, nameIn(attributes, spec))
      const fault = await attributes.context.divide(() => ephemeralFault(spec, account))
      // As in kube-apiserver, the Status of this error has no reason.
      if (fault !== undefined) throw unclassified(fault)
    },
  }
}

/**
 * Returns the name of the pod's service account. Fails if the pod does not name a service account.
 */
function nameIn(attributes: Attributes, spec: Fields): string {
  const name = textOf(spec['serviceAccountName'])
  if (name !== '') return name
  throw refusal(
    attributes,
    `no service account specified for pod ${attributes.namespace}/${attributes.name}`,
  )
}

const isNewPod = (attributes: Attributes): boolean =>
  attributes.operation === 'CREATE' && targetOf(attributes) === 'pods'

const isMirror = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[mirrorAnnotation] !== undefined

/**
 * Returns whether the token is mounted. The field of the pod takes precedence over the field of the
 * service account.
 */
const isMounted = (spec: Fields, account: KubeObject): boolean =>
  (spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken'] ?? true) === true

function pullSecrets(spec: Fields, account: KubeObject): Fields {
  const secrets = itemsOf(account['imagePullSecrets'])
  if (itemsOf(spec['imagePullSecrets']).length > 0 || secrets.length === 0) return {}
  return { imagePullSecrets: secrets.map(({ name }) => ({ name })) }
}
