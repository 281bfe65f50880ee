/**
 * Finds the pod, service or node to which a proxy request is sent. The path contains
 * `[scheme:]name[:port]`.
 */
import { badRequest, notFound, serviceUnavailable } from '../../../api/errors.ts'
import { isGlobalUnicast } from '../../../api/ip.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { hostPort } from '../../../lib/net/hosts.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import { isPort } from '../../../registry/rules/ports.ts'
import { podOf } from './log.ts'
import { addressOf } from './node-address.ts'
import type { KubeletAccess, SubresourceAccess } from './handler.ts'

type NamedPort = { readonly scheme: string; readonly name: string; readonly port: string }

export type ProxyTarget = {
  /** The beginning of the URL, up to the path. */
  readonly base: string
  /** The address that was resolved and checked for the host of the URL. */
  readonly address?: string
  /**
   * How to connect to a kubelet, to which the client certificate is presented. Absent for other
   * targets.
   */
  readonly kubelet?: KubeletAccess
}

/** Finds the target. Fails if it does not exist or is not allowed. */
export async function proxyTarget(
  request: ResourceRequest,
  parts: SubresourceAccess,
): Promise<ProxyTarget> {
  switch (request.resource.plural) {
    case 'pods':
      return { base: await podTarget(request, parts) }
    case 'services':
      return { base: await serviceTarget(request, parts) }
    default:
      return nodeTarget(request, parts)
  }
}

function split(text: string, what: string): NamedPort {
  const parts = text.split(':')
  const [first = '', second = '', third = ''] = parts
  if (parts.length === 1) return { scheme: '', name: first, port: '' }
  if (parts.length === 2) return { scheme: '', name: first, port: second }
  if (parts.length === 3 && ['', 'http', 'https'].includes(first))
    return { scheme: first, name: second, port: third }
  throw badRequest(`invalid ${what} request ${quote(text)}`)
}

/**
 * Checks that the port is a number. Only ports of services have names. Any other string would
 * become part of the URL.
 */
function numbered(named: NamedPort, { name }: ResourceRequest, what: string): NamedPort {
  if (named.port === '' || (/^[0-9]{1,5}$/.test(named.port) && isPort(Number(named.port))))
    return named
  throw badRequest(`invalid ${what} request ${quote(name)}`)
}

async function podTarget(request: ResourceRequest, parts: SubresourceAccess): Promise<string> {
  const { scheme, name, port } = numbered(split(request.name, 'pod'), request, 'pod')
  const pod = await podOf(request, parts, name)
  const status = fieldsOf(pod['status'])
  const ip = textOf(itemsOf(status['podIPs'])[0]?.['ip'] ?? status['podIP'])
  // Clients must not reach services that run on the server's own machine.
  if (!isGlobalUnicast(ip)) throw badRequest('address not allowed')
  const own = port === '' ? firstPort(pod) : port
  const host = ip.includes(':') ? `[${ip}]` : ip
  return `${scheme === '' ? 'http' : scheme}://${own === '' ? host : `${host}:${own}`}`
}

function firstPort(pod: KubeObject): string {
  const ports = itemsOf(fieldsOf(pod['spec'])['containers']).flatMap((container) =>
    itemsOf(container['ports']),
  )
  return ports[0] === undefined ? '' : `${numberOf(ports[0]['containerPort'])}`
}

const services = { group: '', version: 'v1', plural: 'services' } as const
const pods = { group: '', version: 'v1', plural: 'pods' } as const
const endpoints = { group: '', version: 'v1', plural: 'endpoints' } as const

/**
 * Returns the target of a service. As in kube-apiserver, the address comes from Endpoints and must
 * belong to a pod in the namespace. Otherwise, a service could direct the proxy to any address.
 */
async function serviceTarget(request: ResourceRequest, parts: SubresourceAccess): Promise<string> {
  const { scheme, name, port } = split(request.name, 'service')
  const { objects, random } = parts
  const place = { namespace: request.namespace, name }
  const portName = /^[+-]?[0-9]+$/.test(port) ? await portNameOf(place, Number(port), parts) : port
  const found = await objects.get(endpoints, place, 'latest')
  if (found === undefined) throw notFound(services, name)
  const subsets = itemsOf(found['subsets'])
  if (subsets.length === 0)
    throw serviceUnavailable(`no endpoints available for service ${quote(name)}`)
  for (const { addresses, ports } of fromAnywhere(subsets, random)) {
    const open = itemsOf(ports).find((one) => textOf(one['name']) === portName)
    if (open === undefined) continue
    const ip = await podAddress(itemsOf(addresses), request, parts)
    if (ip === undefined) continue
    return `${scheme === '' ? 'http' : scheme}://${hostPort({ host: ip, port: numberOf(open['port']) })}`
  }
  throw serviceUnavailable(`no endpoints available for service ${quote(request.name)}`)
}

/**
 * Returns all items in their order, but beginning with a random item and wrapping around, to
 * distribute the load.
 */
function fromAnywhere<T>(items: readonly T[], random: () => number): T[] {
  const first = Math.floor(random() * items.length)
  return [...items.slice(first), ...items.slice(0, first)]
}

/**
 * Returns an address that belongs to a pod in the namespace. Other addresses are not used, because
 * users with write access to Endpoints can store any address there.
 */
async function podAddress(
  addresses: readonly Fields[],
  { namespace }: ResourceRequest,
  { objects, random }: SubresourceAccess,
): Promise<string | undefined> {
  for (const { ip, targetRef } of fromAnywhere(addresses, random)) {
    const target = fieldsOf(targetRef)
    if (textOf(target['namespace']) !== namespace || textOf(target['name']) === '') continue
    const pod = await objects.get(pods, { namespace, name: textOf(target['name']) }, 'latest')
    const podIps = itemsOf(fieldsOf(pod?.['status'])['podIPs'])
    if (podIps.some((one) => one['ip'] === ip) && isGlobalUnicast(textOf(ip))) return textOf(ip)
  }
  return undefined
}

async function portNameOf(
  place: ObjectName,
  port: number,
  { objects }: SubresourceAccess,
): Promise<string> {
  const service = await objects.get(services, place, 'latest')
  if (service === undefined) throw notFound(services, place.name)
  const found = itemsOf(fieldsOf(service['spec'])['ports']).find((one) => one['port'] === port)
  if (found !== undefined) return textOf(found['name'])
  throw serviceUnavailable(`no service port ${port} found for service ${quote(place.name)}`)
}

type ObjectName = { readonly namespace: string; readonly name: string }

async function nodeTarget(
  request: ResourceRequest,
  parts: SubresourceAccess,
): Promise<ProxyTarget> {
  const { scheme, name, port } = numbered(split(request.name, 'node'), request, 'node')
  const node = await addressOf(name, request.resource, parts)
  // Check the address of the node, because users with write access to the status of a node can
  // store any address there.
  const address = await parts.findHost(node.host)
  if (port === '' || Number(port) === node.port) {
    return { base: `https://${hostPort(node)}`, address, kubelet: parts.kubelet }
  }
  // On a port other than the kubelet's, any program could listen, so the client certificate must
  // not be presented there.
  const target = hostPort({ host: node.host, port: Number(port) })
  return { base: `${scheme === '' ? 'http' : scheme}://${target}`, address }
}
