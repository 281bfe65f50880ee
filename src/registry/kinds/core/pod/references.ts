/** The objects of its namespace that a pod refers to by name: what the kubelet that runs it has to read. */
import { type Fields, fieldsOf, itemsOf, textOf } from '../../../../api/object.ts'

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** The names of the secrets that the spec of a pod refers to; a name may be repeated. */
export function secretNames(spec: Fields): string[] {
  const names = itemsOf(spec['imagePullSecrets']).map(({ name }) => textOf(name))
  addOfContainers(spec, names, 'secretKeyRef', 'secretRef')
  for (const volume of itemsOf(spec['volumes'])) addOfVolume(volume, names)
  return names.filter((name) => name !== '')
}

/** The same of config maps. */
export function configMapNames(spec: Fields): string[] {
  const names: string[] = []
  addOfContainers(spec, names, 'configMapKeyRef', 'configMapRef')
  for (const { configMap, projected } of itemsOf(spec['volumes'])) {
    names.push(textOf(fieldsOf(configMap)['name']))
    for (const source of itemsOf(fieldsOf(projected)['sources']))
      names.push(textOf(fieldsOf(source['configMap'])['name']))
  }
  return names.filter((name) => name !== '')
}

/** The same of persistent volume claims. That of an ephemeral volume is named after the pod and the volume. */
export const volumeClaimNames = (podName: string, spec: Fields): string[] =>
  itemsOf(spec['volumes']).flatMap((volume) => volumeClaimName(podName, volume) ?? [])

/** The claim of one volume; undefined: it has none. */
export function volumeClaimName(
  podName: string,
  { name, persistentVolumeClaim, ephemeral }: Fields,
): string | undefined {
  if (persistentVolumeClaim !== undefined) return textOf(fieldsOf(persistentVolumeClaim)['claimName']) || undefined
  return ephemeral === undefined ? undefined : `${podName}-${textOf(name)}`
}

/** The same of resource claims. The name of one that is made from a template stands in the status, once it is made. */
export function resourceClaimNames(spec: Fields, status: Fields): string[] {
  const claims = itemsOf(spec['resourceClaims'])
  if (claims.length === 0) return []
  const made = new Map(
    itemsOf(status['resourceClaimStatuses']).map(({ name, resourceClaimName }) => [name, textOf(resourceClaimName)]),
  )
  return claims
    .map(({ name, resourceClaimName, resourceClaimTemplateName }) => {
      if (resourceClaimName !== undefined) return textOf(resourceClaimName)
      return resourceClaimTemplateName === undefined ? '' : (made.get(name) ?? '')
    })
    .filter((name) => name !== '')
}

function addOfContainers(spec: Fields, names: string[], keyField: string, wholeField: string): void {
  for (const list of containerLists) {
    for (const { env, envFrom } of itemsOf(spec[list])) {
      for (const { valueFrom } of itemsOf(env)) {
        if (valueFrom !== undefined) names.push(textOf(fieldsOf(fieldsOf(valueFrom)[keyField])['name']))
      }
      for (const from of itemsOf(envFrom)) names.push(textOf(fieldsOf(from[wholeField])['name']))
    }
  }
}

/** Kinds of volumes with a `secretRef`. */
const withSecretRef = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const

function addOfVolume(volume: Fields, names: string[]): void {
  const { azureFile, secret, csi, projected } = volume
  names.push(textOf(fieldsOf(azureFile)['secretName']), textOf(fieldsOf(secret)['secretName']))
  names.push(textOf(fieldsOf(fieldsOf(csi)['nodePublishSecretRef'])['name']))
  for (const source of itemsOf(fieldsOf(projected)['sources'])) names.push(textOf(fieldsOf(source['secret'])['name']))
  for (const kind of withSecretRef) names.push(textOf(fieldsOf(fieldsOf(volume[kind])['secretRef'])['name']))
}
