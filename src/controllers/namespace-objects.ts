/** The objects that every namespace has. */
import { entriesOf, fieldsOf, type KubeObject } from '../api/object.ts'
import type { PerNamespaceObject } from './per-namespace-object.ts'

/** The default ServiceAccount, which the serviceaccount-controller maintains. */
export const defaultAccount: PerNamespaceObject = {
  queue: 'serviceaccount',
  plural: 'serviceaccounts',
  name: 'default',
  create: () => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }),
}

const caName = 'kube-root-ca.crt'
const descriptionName = 'kubernetes.io/description'
/**
 * The description in an annotation of the ConfigMap. The text is that of kube-controller-manager.
 */
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/**
 * Returns the ConfigMap with the CA, which the root-ca-certificate-publisher-controller maintains.
 */
export function rootCa(pem: string): PerNamespaceObject {
  const data = { 'ca.crt': pem }
  const annotations = { [descriptionName]: description }
  const isRight = (object: KubeObject): boolean => {
    const [entry, ...more] = entriesOf(object['data'])
    const isSame = more.length === 0 && entry?.[0] === 'ca.crt' && entry[1] === pem
    return isSame && (object.metadata.annotations?.[descriptionName] ?? '') !== ''
  }
  return {
    queue: 'root_ca_cert_publisher',
    plural: 'configmaps',
    name: caName,
    create: () => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: caName, annotations },
      data,
    }),
    mend: (object) => {
      if (isRight(object)) return undefined
      const metadata = {
        ...object.metadata,
        annotations: { ...fieldsOf(object.metadata.annotations), ...annotations },
      }
      return { ...object, metadata, data }
    },
  }
}
