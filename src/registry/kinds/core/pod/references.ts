/**
 * Finds the objects in the namespace of a Pod to which the Pod refers by name. The kubelet of the
 * Pod must be able to read them.
 */
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  listOf,
  textOf,
} from '../../../../api/object.ts'

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const

/**
 * Returns the names of the Secrets to which the spec of a Pod refers. A name can occur more than
 * once.
 */
export function secretNames(spec: Fields): string[] {
  const names: string[] = []
  for (const secret of listOf(spec['imagePullSecrets'])) addName(secret, 'name', names)
  addOfContainers(spec, names, 'secretKeyRef', 'secretRef')
  for (const volume of listOf(spec['volumes']))
    if (isFields(volume)) addSecretOfVolume(volume, names)
  return names
}

/**
 * Returns the names of the ConfigMaps to which the spec of a Pod refers. A name can occur more than
 * once.
 */
export function configMapNames(spec: Fields): string[] {
  const names: string[] = []
  addOfContainers(spec, names, 'configMapKeyRef', 'configMapRef')
  for (const volume of listOf(spec['volumes'])) {
    const { configMap, projected } = fieldsOf(volume)
    addName(configMap, 'name', names)
    if (projected !== undefined) addProjected(projected, 'configMap', names)
  }
  return names
}

/** Returns the names of the PersistentVolumeClaims to which a Pod refers. */
export const volumeClaimNames = (podName: string, spec: Fields): string[] =>
  listOf(spec['volumes']).flatMap((volume) => volumeClaimName(podName, fieldsOf(volume)) ?? [])

/**
 * Returns the name of a volume's PersistentVolumeClaim, or undefined if it has none. The claim of
 * an ephemeral volume is named after the Pod and the volume.
 */
export function volumeClaimName(
  podName: string,
  { name, persistentVolumeClaim, ephemeral }: Fields,
): string | undefined {
  if (persistentVolumeClaim !== undefined)
    return textOf(fieldsOf(persistentVolumeClaim)['claimName']) || undefined
  return ephemeral === undefined ? undefined : `${podName}-${textOf(name)}`
}

/**
 * Returns the names of the ResourceClaims to which a Pod refers. The status contains the names of
 * claims that were created from a template.
 */
export function resourceClaimNames(spec: Fields, status: Fields): string[] {
  const claims = listOf(spec['resourceClaims']).map(fieldsOf)
  if (claims.length === 0) return []
  const statuses = listOf(status['resourceClaimStatuses']).map(fieldsOf)
  const made = new Map(
    statuses.map(({ name, resourceClaimName }) => [name, textOf(resourceClaimName)]),
  )
  return claims
    .map(({ name, resourceClaimName, resourceClaimTemplateName }) => {
      if (resourceClaimName !== undefined) return textOf(resourceClaimName)
      return resourceClaimTemplateName === undefined ? '' : (made.get(name) ?? '')
    })
    .filter((name) => name !== '')
}

// The following functions append to `names` instead of returning new lists. They run for each event
// of a Pod, and Pods have long lists of variables.

function addName(reference: Json | undefined, field: string, names: string[]): void {
  if (reference === undefined || !isFields(reference)) return
  const name = reference[field]
  if (typeof name === 'string' && name !== '') names.push(name)
}

function addOfContainers(
  spec: Fields,
  names: string[],
  keyField: string,
  wholeField: string,
): void {
  for (const field of containerLists) {
    for (const container of listOf(spec[field])) {
      if (!isFields(container)) continue
      for (const variable of listOf(container['env'])) {
        const from = isFields(variable) ? variable['valueFrom'] : undefined
        if (isFields(from)) addName(from[keyField], 'name', names)
      }
      for (const source of listOf(container['envFrom'])) {
        if (isFields(source)) addName(source[wholeField], 'name', names)
      }
    }
  }
}

/** Volume sources that have a `secretRef`. */
const withSecretRef = [
  'cephfs',
  'cinder',
  'flexVolume',
  'rbd',
  'scaleIO',
  'iscsi',
  'storageos',
] as const

function addSecretOfVolume(volume: Fields, names: string[]): void {
  addName(volume['secret'], 'secretName', names)
  addName(volume['azureFile'], 'secretName', names)
  const { csi, projected } = volume
  if (isFields(csi)) addName(csi['nodePublishSecretRef'], 'name', names)
  if (projected !== undefined) addProjected(projected, 'secret', names)
  for (const kind of withSecretRef) {
    const source = volume[kind]
    if (isFields(source)) addName(source['secretRef'], 'name', names)
  }
}

function addProjected(projected: Json, field: string, names: string[]): void {
  for (const source of listOf(fieldsOf(projected)['sources'])) {
    if (isFields(source)) addName(source[field], 'name', names)
  }
}
