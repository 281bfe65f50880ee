/**
 * Handlers of subresources for which a request is neither a read nor a write of their object. Also
 * handlers of kinds that are created only to get a response. Each handler has a file in this
 * folder, and all.ts contains the table of handlers.
 */
import type { MaybePromise } from '../../../lib/concurrency/maybe-promise.ts'
import { attributesOf } from '../admission-attributes.ts'
import type { Objects } from '../../../api/object-access.ts'
import type { Gates } from '../../../api/gates.ts'
import { type KubeObject, withManagedFields } from '../../../api/object.ts'
import type { ApiResponse } from '../../../api/request.ts'
import type { Dial } from '../../../lib/net/dial.ts'
import type { Resource } from '../../../registry/resource.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { ObjectSchema } from '../../../objects/schema/object-schema.ts'
import type { WriteAccess } from '../access.ts'
import { ownersAfterCreate } from '../write/record-owners.ts'
import type { WriteOptions } from '../write-options.ts'
import type { FindHost } from './find-host.ts'
import type { LogMetrics } from './log-metrics.ts'

export type SubresourceAccess = {
  /** Access to the resource in the path. */
  readonly own: WriteAccess
  readonly pods: { readonly resource: Resource; readonly access: WriteAccess }
  readonly objects: Objects
  readonly kubelet: KubeletAccess
  /** Connects to nodes, pods and Services. If undefined, the server connects directly. */
  readonly dial?: Dial | undefined
  readonly logMetrics: LogMetrics
  readonly gates: Gates
  readonly findHost: FindHost
  /** Maximum bytes per second for each direction of a tunnel. 0 means no limit. */
  readonly tunnelBytesPerSecondMax: number
  /** Returns a random number in the range [0, 1). */
  readonly random: () => number
}

/** Settings for connections to kubelets. */
export type KubeletAccess = {
  /** Types of node addresses to use, in order of preference. */
  readonly addressTypes: readonly string[]
  /** CA certificates for kubelets in PEM format. Null if their certificates are not verified. */
  readonly caPem: string | null
  /** Client certificate for connections to kubelets. Null if no certificate is presented. */
  readonly client: { readonly certificatePem: string; readonly keyPem: string } | null
  /** Port of kubelets whose Node objects do not contain it. */
  readonly port: number
}

export type SubresourceHandler = (
  request: ResourceRequest,
  access: SubresourceAccess,
) => Promise<ApiResponse>

/**
 * Returns the key of a handler, such as `pods/eviction` or `tokenreviews.authentication.k8s.io/`.
 */
export function handlerKey({
  resource,
  subresource,
}: Pick<ResourceRequest, 'resource' | 'subresource'>): string {
  const { group, plural } = resource
  return `${group === '' ? plural : `${plural}.${group}`}/${subresource}`
}

/**
 * Runs mutating admission, which can reject the request. Returns the object as changed by the
 * plugins.
 */
export async function mutate(
  request: ResourceRequest,
  object: KubeObject,
  { operation, isDryRun, access, shape }: AdmitOptions,
): Promise<MutationResult> {
  const attributes = attributesOf(request, { operation, object, options: { isDryRun }, shape })
  return {
    object: (await access.admission.mutate(attributes)) ?? object,
    validate: async (checked) => access.admission.validate({ ...attributes, object: checked }),
  }
}

/**
 * Adds managedFields to an object that is not stored. They show admission plugins which manager set
 * which fields. `kind` is the kind of the object.
 */
export function withOwners(
  request: ResourceRequest,
  object: KubeObject,
  { kind, options, access }: OwnerContext,
): MaybePromise<KubeObject> {
  const { context, resource } = request
  const asked = { ...request, resource: { ...resource, ...kind } }
  const own = (): KubeObject =>
    withManagedFields(object, ownersAfterCreate(asked, object, { options, access }))
  return context.isLarge ? context.inParts(own) : own()
}

type OwnerContext = {
  readonly kind: Pick<Resource, 'group' | 'version' | 'kind' | 'shape'>
  readonly options: WriteOptions
  readonly access: WriteAccess
}

type MutationResult = {
  readonly object: KubeObject
  /**
   * Runs validating admission, which can reject the request. Must be called after the subresource's
   * own checks of the object.
   */
  readonly validate: (object: KubeObject) => Promise<void>
}

type AdmitOptions = {
  readonly operation: 'CREATE' | 'CONNECT'
  readonly isDryRun: boolean
  readonly access: Pick<WriteAccess, 'admission'>
  /** The schema of the object that admission receives. */
  readonly shape?: ObjectSchema
}
