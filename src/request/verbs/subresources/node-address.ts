/** Finds the address of a node's kubelet. */
import { isIP } from 'node:net'
import { type ApiError, notFound, type ResourceName, unclassified } from '../../../api/errors.ts'
import { fieldsOf, itemsOf, type KubeObject, numberOf, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import type { SubresourceAccess } from './handler.ts'

export type NodeAddress = { readonly host: string; readonly port: number }

const nodes = { group: '', version: 'v1', plural: 'nodes' } as const

/**
 * Returns the address of the kubelet. If the node does not exist, the NotFound error contains the
 * resource `as`, which is pods for requests about a pod.
 */
export async function addressOf(
  name: string,
  as: ResourceName,
  { objects, kubelet }: SubresourceAccess,
): Promise<NodeAddress> {
  const node = await objects.get(nodes, { namespace: '', name }, 'latest')
  if (node === undefined) throw notFound(as, name)
  const { addresses, daemonEndpoints } = fieldsOf(node['status'])
  const known = itemsOf(addresses)
  // Bounded: the flag contains only a few address types, so `known` is filtered only a few times.
  const found = kubelet.addressTypes.flatMap((type) =>
    known.filter((one) => one['type'] === type),
  )[0]
  if (found === undefined) throw noAddress(node)
  const host = textOf(found['address'])
  if (isIP(host) === 0 && !/^[A-Za-z0-9.-]{1,253}$/.test(host))
    throw unclassified(`${quote(host)} is not an address`)
  const { Port } = fieldsOf(fieldsOf(daemonEndpoints)['kubeletEndpoint'])
  return { host, port: numberOf(Port) === 0 ? kubelet.port : numberOf(Port) }
}

function noAddress(node: KubeObject): ApiError {
  const known = itemsOf(fieldsOf(node['status'])['addresses']).map(
    ({ type, address }) => `{${textOf(type)} ${textOf(address)}}`,
  )
  return unclassified(`no preferred addresses found; known addresses: [${known.join(' ')}]`)
}
