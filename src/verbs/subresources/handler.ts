/**
 * What can be done to an object that is neither a read nor a write of it has a path below the object's, and a file in this folder: a
 * handler. So has what is created only to be answered. all.ts has the table.
 */
import { attributesOf } from '../../admission/admission.ts'
import type { Objects } from '../../admission/objects.ts'
import type { Gates } from '../../api/gates.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ApiResponse } from '../../api/request.ts'
import type { LookUp } from '../../lib/look-up.ts'
import type { Resource, ResourceRequest } from '../../registry/resource.ts'
import type { WriteAccess } from '../access.ts'

export type SubresourceAccess = {
  /** To the resource of the path. */
  readonly own: WriteAccess
  readonly pods: { readonly resource: Resource; readonly access: WriteAccess }
  readonly objects: Objects
  readonly kubelet: KubeletAccess
  readonly gates: Gates
  readonly lookUp: LookUp
  /** From 0 to below 1. */
  readonly random: () => number
}

/** How kubelets are reached. */
export type KubeletAccess = {
  /** The first type that a node has an address of is taken. */
  readonly addressTypes: readonly string[]
  /** Who signs their certificates; null: nobody is asked. */
  readonly caPem: string | null
  /** What they are shown; null: nothing. */
  readonly client: { readonly certificatePem: string; readonly keyPem: string } | null
}

export type SubresourceHandler = (request: ResourceRequest, access: SubresourceAccess) => Promise<ApiResponse>

/** `pods/eviction`, `tokenreviews.authentication.k8s.io/`. */
export function handlerKey({ resource, subresource }: Pick<ResourceRequest, 'resource' | 'subresource'>): string {
  const { group, plural } = resource
  return `${group === '' ? plural : `${plural}.${group}`}/${subresource}`
}

/** What stands in the way of any write is told before anything else. Gives what plugins have made of the object. */
export async function admit(
  request: ResourceRequest,
  object: KubeObject | undefined,
  { operation, isDryRun, access }: Admitted,
): Promise<KubeObject | undefined> {
  const attributes = attributesOf(request, { operation, object, options: { isDryRun } })
  const mutated = await access.admission.mutate(attributes)
  await access.admission.validate({ ...attributes, object: mutated })
  return mutated
}

type Admitted = {
  readonly operation: 'CREATE' | 'CONNECT'
  readonly isDryRun: boolean
  readonly access: Pick<WriteAccess, 'admission'>
}
