/**
 * Reads the endpoints of a Service: from its Endpoints, or in later releases from its
 * EndpointSlices.
 */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import type { Objects } from '../../api/object-access.ts'
import { type MaybePromise, thenMaybe } from '../../lib/concurrency/maybe-promise.ts'

/** The first release in which kube-apiserver reads EndpointSlices. */
const SLICES_SINCE = 34

export type EndpointsSource = 'endpoints' | 'endpointslices'

/** Returns the resource with the endpoints of Services, which is also its name in messages. */
export const endpointsSource = (release: number): EndpointsSource =>
  release < SLICES_SINCE ? 'endpoints' : 'endpointslices'

export type ServiceEndpoints = {
  readonly source: EndpointsSource
  /** Undefined if there is no object with endpoints of the Service. */
  readonly subsets: readonly EndpointSubset[] | undefined
}

export type EndpointSubset = {
  /** IP family of the addresses, if all of them have the same family. */
  readonly family?: string
  /** Addresses that are ready. */
  readonly ready: readonly string[]
  readonly ports: readonly { readonly name: string; readonly port: number }[]
}

/** Returns the current endpoints of a Service. */
export type GetEndpoints = (namespace: string, name: string) => MaybePromise<ServiceEndpoints>

const endpointsId = { group: '', version: 'v1', plural: 'endpoints' } as const
const slicesId = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices' } as const

/** The label of an EndpointSlice with the name of its Service. */
export const serviceLabel = 'kubernetes.io/service-name'

export function createGetEndpoints(
  objects: Pick<Objects, 'get' | 'select'>,
  release: number,
): GetEndpoints {
  const source = endpointsSource(release)
  if (source === 'endpoints') {
    return (namespace, name) =>
      thenMaybe(objects.get(endpointsId, { namespace, name }, 'any'), (found) => ({
        source,
        subsets: found && itemsOf(found['subsets']).map(subsetOf),
      }))
  }
  return async (namespace, name) => {
    const selected = { key: serviceLabel, operator: 'in', values: new Set([name]) } as const
    const slices = await objects.select(slicesId, namespace, [selected])
    const subsets = slices.map((slice) => subsetOfSlice(slice()))
    return { source, subsets: subsets.length === 0 ? undefined : subsets }
  }
}

const subsetOf = ({ addresses, ports }: Fields): EndpointSubset => ({
  ready: itemsOf(addresses).map(({ ip }) => textOf(ip)),
  ports: itemsOf(ports).map(portOf),
})

/** Like `subsetOf`. Only the first address of an endpoint is used. */
function subsetOfSlice({ addressType, endpoints, ports }: KubeObject): EndpointSubset {
  const ready = itemsOf(endpoints).flatMap(({ addresses, conditions }) => {
    const [address] = Array.isArray(addresses) ? addresses : []
    const isReady = fieldsOf(conditions)['ready'] !== false
    return isReady && typeof address === 'string' ? [address] : []
  })
  const open = itemsOf(ports).filter(({ port }) => port !== undefined)
  return { family: textOf(addressType), ready, ports: open.map(portOf) }
}

const portOf = ({ name, port }: Fields): EndpointSubset['ports'][number] => ({
  name: textOf(name),
  port: numberOf(port),
})
