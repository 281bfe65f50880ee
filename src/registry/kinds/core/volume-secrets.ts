/**
 * The Secrets to which a PersistentVolume refers and which a kubelet must read to mount it. Secrets
 * that only controllers need are not included.
 */
import { type Fields, fieldsOf, textOf } from '../../../api/object.ts'

export type SecretReference = { readonly namespace: string; readonly name: string }

/**
 * Sources whose references have no namespace in older objects. They then refer to the namespace of
 * the claim.
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
