/**
 * Handlers of subresources that are neither a read nor a write of their object, and of kinds that are created only to be answered. Each has
 * a file in this folder; all.ts has the table.
 */
import { attributesOf } from '../../admission/admission.ts'
import type { Objects } from '../../admission/objects.ts'
import type { Gates } from '../../api/gates.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ApiResponse } from '../../api/request.ts'
import type { Resource, ResourceRequest } from '../../registry/resource.ts'
import type { ObjectSchema } from '../../schema/object-schema.ts'
import type { WriteAccess } from '../access.ts'
import type { FindHost } from './find-host.ts'

export type SubresourceAccess = {
  /** Access to the resource of the path. */
  readonly own: WriteAccess
  readonly pods: { readonly resource: Resource; readonly access: WriteAccess }
  readonly objects: Objects
  readonly kubelet: KubeletAccess
  readonly gates: Gates
  readonly findHost: FindHost
  /** A random number from 0 to below 1. */
  readonly random: () => number
}

/** How to connect to kubelets. */
export type KubeletAccess = {
  /** In order of preference. */
  readonly addressTypes: readonly string[]
  /** The CA of their certificates; null: they are not verified. */
  readonly caPem: string | null
  /** The client certificate that is presented to them; null: none. */
  readonly client: { readonly certificatePem: string; readonly keyPem: string } | null
}

export type SubresourceHandler = (request: ResourceRequest, access: SubresourceAccess) => Promise<ApiResponse>

/** `pods/eviction`, `tokenreviews.authentication.k8s.io/`. */
export function handlerKey({ resource, subresource }: Pick<ResourceRequest, 'resource' | 'subresource'>): string {
  const { group, plural } = resource
  return `${group === '' ? plural : `${plural}.${group}`}/${subresource}`
}

/** Runs admission, which may refuse the request. Returns the object as plugins changed it. */
export async function admit(
  request: ResourceRequest,
  object: KubeObject | undefined,
  { operation, isDryRun, access, shape }: Admitted,
): Promise<KubeObject | undefined> {
  const attributes = attributesOf(request, { operation, object, options: { isDryRun }, shape })
  const mutated = await access.admission.mutate(attributes)
  await access.admission.validate({ ...attributes, object: mutated })
  return mutated
}

type Admitted = {
  readonly operation: 'CREATE' | 'CONNECT'
  readonly isDryRun: boolean
  readonly access: Pick<WriteAccess, 'admission'>
  /** The schema of the object. */
  readonly shape?: ObjectSchema
}
