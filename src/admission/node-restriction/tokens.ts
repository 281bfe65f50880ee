/**
 * Restricts the tokens that a kubelet requests. They must be bound to a pod on the kubelet's node,
 * and have an audience that a volume of the pod requests or that the kubelet is authorized to
 * request.
 */
import type { Gates } from '../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { volumeClaimName } from '../../registry/kinds/core/pod/references.ts'
import { type Attributes, refusal } from '../admission.ts'
import type { AskAuthorizer } from '../ask-authorizer.ts'
import { getOrLatest, type ResourceId } from '../../api/object-access.ts'
import { nodeOf, type PodRestrictionOptions, readPod } from './pods.ts'

type TokenRestrictionOptions = PodRestrictionOptions & {
  readonly authorize: AskAuthorizer
  readonly gates: Gates
}

export async function admitToken(
  options: TokenRestrictionOptions,
  node: string,
  attributes: Attributes,
): Promise<void> {
  const { object, namespace } = attributes
  const spec = fieldsOf(object?.['spec'])
  const { apiVersion, kind, name, uid } = fieldsOf(spec['boundObjectRef'])
  if (apiVersion !== 'v1' || kind !== 'Pod' || textOf(name) === '') {
    throw refusal(attributes, 'node requested token not bound to a pod')
  }
  if (textOf(uid) === '')
    throw refusal(attributes, 'node requested token with a pod binding without a uid')
  const pod = await readPod(options, namespace, textOf(name))
  if (uid !== pod.metadata.uid) {
    const why =
      'does not match the UID in record. The object might have been deleted and then recreated'
    throw refusal(attributes, `the UID in the bound object reference (${textOf(uid)}) ${why}`)
  }
  if (nodeOf(pod) !== node) {
    throw refusal(attributes, 'node requested token bound to a pod scheduled on a different node')
  }
  if (!options.gates.isOn('ServiceAccountNodeAudienceRestriction')) return
  const fault = await audienceFault(options, pod, {
    audiences: textsOf(spec['audiences']),
    attributes,
  })
  if (fault !== undefined) throw refusal(attributes, fault)
}

type AudienceRequest = { readonly audiences: readonly string[]; readonly attributes: Attributes }

async function audienceFault(
  options: TokenRestrictionOptions,
  pod: KubeObject,
  { audiences, attributes }: AudienceRequest,
): Promise<string | undefined> {
  // A token without an audience is for the API server itself.
  const [audience = '', ...others] = audiences
  if (others.length > 0) return 'node may only request 0 or 1 audiences'
  const { isFound, errors } = await findAudience(options, pod, audience)
  if (isFound) return undefined
  if (errors.length > 0) return `error validating audience ${quote(audience)}: ${aggregate(errors)}`
  const { user } = attributes.context
  const { verdict, error } = await options.authorize(
    user,
    {
      kind: 'resource',
      verb: 'request-serviceaccounts-token-audience',
      group: '',
      version: 'v1',
      plural: audience,
      subresource: '',
      namespace: attributes.namespace,
      name: attributes.name,
    },
    attributes.context,
  )
  if (verdict === 'allow') return undefined
  const about = `audience ${quote(audience)} not found in pod spec volume`
  if (error === undefined)
    return `${about}, ${user.name} is not authorized to request tokens for this audience`
  return `${about}, error authorizing ${user.name} to request tokens for this audience: ${error}`
}

/** Prints an aggregate of errors as Go does. */
function aggregate(errors: readonly string[]): string {
  const different = [...new Set(errors)]
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`
}

type Search = { readonly isFound: boolean; readonly errors: readonly string[] }

async function findAudience(
  options: TokenRestrictionOptions,
  pod: KubeObject,
  audience: string,
): Promise<Search> {
  const errors: string[] = []
  for (const volume of itemsOf(fieldsOf(pod['spec'])['volumes'])) {
    const sources = itemsOf(fieldsOf(volume['projected'])['sources'])
    const isProjected = sources.some(
      ({ serviceAccountToken }) =>
        serviceAccountToken !== undefined &&
        textOf(fieldsOf(serviceAccountToken)['audience']) === audience,
    )
    if (isProjected) return { isFound: true, errors }
    const found = await driverAsks(options, pod, { volume, audience })
    if (found === true) return { isFound: true, errors }
    if (found !== false) errors.push(found.error)
  }
  return { isFound: false, errors }
}

type VolumeAudience = { readonly volume: Fields; readonly audience: string }

/** Returns whether the volume has a CSI driver that requests tokens for the audience. */
async function driverAsks(
  options: TokenRestrictionOptions,
  pod: KubeObject,
  { volume, audience }: VolumeAudience,
): Promise<boolean | { readonly error: string }> {
  const { name: podName = '', namespace = '' } = pod.metadata
  const claim = volumeClaimName(podName, volume)
  const driver =
    claim === undefined ? driverOf(volume) : await driverOfClaim(options, namespace, claim)
  if (typeof driver !== 'string') return driver
  if (driver === '') return false
  const found = await read(options, drivers, { namespace: '', name: driver })
  if ('error' in found) return found
  const requests = itemsOf(fieldsOf(found.object['spec'])['tokenRequests'])
  return requests.some((request) => textOf(request['audience']) === audience)
}

async function driverOfClaim(
  options: TokenRestrictionOptions,
  namespace: string,
  name: string,
): Promise<string | { readonly error: string }> {
  const claim = await read(options, claims, { namespace, name })
  if ('error' in claim) return claim
  const volumeName = textOf(fieldsOf(claim.object['spec'])['volumeName'])
  const volume = await read(options, volumes, { namespace: '', name: volumeName })
  return 'error' in volume ? volume : driverOf(fieldsOf(volume.object['spec']))
}

/** CSI drivers that have replaced built-in volume types of Kubernetes, by volume type. */
const migrated: ReadonlyMap<string, string> = new Map([
  ['awsElasticBlockStore', 'ebs.csi.aws.com'],
  ['azureDisk', 'disk.csi.azure.com'],
  ['azureFile', 'file.csi.azure.com'],
  ['cinder', 'cinder.csi.openstack.org'],
  ['gcePersistentDisk', 'pd.csi.storage.gke.io'],
  ['portworxVolume', 'pxd.portworx.com'],
  ['vsphereVolume', 'csi.vsphere.vmware.com'],
])

/** Returns the CSI driver of a volume source, or an empty string if it has no driver. */
function driverOf(source: Fields): string {
  if (source['csi'] !== undefined) return textOf(fieldsOf(source['csi'])['driver'])
  for (const [kind, driver] of migrated) if (source[kind] !== undefined) return driver
  return ''
}

const claims = { group: '', version: 'v1', plural: 'persistentvolumeclaims' } as const
const volumes = { group: '', version: 'v1', plural: 'persistentvolumes' } as const
const drivers = { group: 'storage.k8s.io', version: 'v1', plural: 'csidrivers' } as const

async function read(
  { objects }: TokenRestrictionOptions,
  resource: ResourceId,
  place: { readonly namespace: string; readonly name: string },
): Promise<{ readonly object: KubeObject } | { readonly error: string }> {
  const object = place.name === '' ? undefined : await getOrLatest(objects, resource, place)
  if (object !== undefined) return { object }
  const singular = resource.plural.replace(/s$/, '')
  const name = resource.group === '' ? singular : `${singular}.${resource.group}`
  return { error: `${name} ${quote(place.name)} not found` }
}
