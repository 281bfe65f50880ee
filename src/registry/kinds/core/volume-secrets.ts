/**
 * Finds the Secrets of a PersistentVolume that a kubelet must read to mount the volume. Secrets
 * that only controllers use are not included.
 */
import { type Fields, fieldsOf, textOf } from '../../../api/object.ts'

export type SecretReference = { readonly namespace: string; readonly name: string }

/**
 * Sources whose Secret references have no namespace in older objects. The Secret is then in the
 * namespace of the claim.
 */
const inNamespaceOfClaim = ['cephfs', 'flexVolume', 'rbd', 'scaleIO', 'iscsi'] as const
const withNamespace = ['cinder', 'storageos'] as const
const forNodes = ['nodePublishSecretRef', 'nodeStageSecretRef', 'nodeExpandSecretRef'] as const

export function volumeSecrets(spec: Fields): readonly SecretReference[] {
  const claimNamespace = textOf(fieldsOf(spec['claimRef'])['namespace'])
  const { secretName, secretNamespace } = fieldsOf(spec['azureFile'])
  const found = [{ namespace: textOf(secretNamespace) || claimNamespace, name: textOf(secretName) }]
  for (const kind of inNamespaceOfClaim) {
    const { namespace, name } = fieldsOf(fieldsOf(spec[kind])['secretRef'])
    found.push({ namespace: textOf(namespace) || claimNamespace, name: textOf(name) })
  }
  for (const kind of withNamespace)
    found.push(referenceOf(fieldsOf(fieldsOf(spec[kind])['secretRef'])))
  for (const field of forNodes) found.push(referenceOf(fieldsOf(fieldsOf(spec['csi'])[field])))
  return found.filter(({ name }) => name !== '')
}

const referenceOf = ({ namespace, name }: Fields): SecretReference => ({
  namespace: textOf(namespace),
  name: textOf(name),
})
