/** A new pod runs as a service account of its namespace, which must be there, and finds the account's token in its containers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, fieldsOf, itemsOf, type KubeObject, textOf } from '../api/object.ts'
import { type Attributes, type Plugin, refusal, targetOf } from './admission.ts'
import type { Objects } from './objects.ts'
import { mirrorPodFault, secretFault } from './service-account/references.ts'
import { withTokenVolume } from './service-account/token-volume.ts'

const serviceAccounts = { group: '', version: 'v1', plural: 'serviceaccounts' } as const
const defaultName = 'default'
/** A kubelet tells with it about pods that it runs by itself: their spec must stay as it is. */
const mirrorAnnotation = 'kubernetes.io/config.mirror'

/** A controller makes the account of a new namespace: the first pods may be a moment earlier. */
const LOOKUPS = 3
const LOOKUP_MS = 150

export type ServiceAccountParts = {
  readonly objects: Pick<Objects, 'get'>
  /** The random end of the name of a volume. */
  readonly nameSuffix: () => string
}

export function createServiceAccount({ objects, nameSuffix }: ServiceAccountParts): Plugin {
  const accountOf = async (attributes: Attributes, name: string): Promise<KubeObject> => {
    const { namespace } = attributes
    const cached = await objects.get(serviceAccounts, { namespace, name }, 'any')
    if (cached !== undefined) return cached
    for (let lookup = 0; lookup < LOOKUPS; lookup++) {
      if (lookup > 0) await sleep(LOOKUP_MS)
      const found = await objects.get(serviceAccounts, { namespace, name }, 'latest')
      if (found !== undefined) return found
    }
    const why = `serviceaccount "${name}" not found`
    throw refusal(attributes, `error looking up service account ${namespace}/${name}: ${why}`)
  }

  return {
    name: 'ServiceAccount',
    mutate: async (attributes) => {
      const { operation, object } = attributes
      if (object === undefined || operation !== 'CREATE' || targetOf(attributes) !== 'pods') return object
      if (isMirror(object)) return object
      const spec = fieldsOf(object['spec'])
      const name = textOf(spec['serviceAccountName']) || defaultName
      const account = await accountOf(attributes, name)
      const named = { ...spec, serviceAccountName: name, serviceAccount: name }
      const mounted = isMounted(spec, account) ? withTokenVolume(named, nameSuffix) : named
      return { ...object, spec: { ...mounted, ...pullSecrets(spec, account) } }
    },
    validate: async (attributes) => {
      const { operation, object } = attributes
      if (object === undefined) return
      const target = targetOf(attributes)
      const isNew = operation === 'CREATE' && target === 'pods'
      if (!isNew && !(operation === 'UPDATE' && target === 'pods/ephemeralcontainers')) return
      if (isNew && isMirror(object)) {
        const fault = mirrorPodFault(fieldsOf(object['spec']))
        if (fault !== undefined) throw refusal(attributes, fault)
        return
      }
      const spec = fieldsOf(object['spec'])
      const name = textOf(spec['serviceAccountName'])
      if (name === '') {
        // A mirror pod has none, and never gets one.
        if (!isNew) return
        throw refusal(attributes, `no service account specified for pod ${attributes.namespace}/${attributes.name}`)
      }
      const account = await accountOf(attributes, name)
      const fault = secretFault(spec, account, { isNew })
      if (fault !== undefined) throw refusal(attributes, fault)
    },
  }
}

const isMirror = ({ metadata }: KubeObject): boolean => metadata.annotations?.[mirrorAnnotation] !== undefined

/** The pod has the last word. */
const isMounted = (spec: Fields, account: KubeObject): boolean =>
  (spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken'] ?? true) === true

function pullSecrets(spec: Fields, account: KubeObject): Fields {
  const secrets = itemsOf(account['imagePullSecrets'])
  if (itemsOf(spec['imagePullSecrets']).length > 0 || secrets.length === 0) return {}
  return { imagePullSecrets: secrets.map(({ name }) => ({ name })) }
}
