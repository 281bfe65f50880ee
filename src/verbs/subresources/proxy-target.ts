/** Which pod, service or node a proxy leads to: `[scheme:]name[:port]`. */
import { badRequest, notFound, serviceUnavailable } from '../../api/errors.ts'
import { isGlobalUnicast } from '../../api/ip.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, numberOf, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import type { ResourceRequest } from '../../registry/resource.ts'
import { isPort } from '../../registry/rules/ports.ts'
import { podOf } from './log.ts'
import { addressOf, hostPort } from './node-address.ts'
import type { KubeletAccess, SubresourceAccess } from './handler.ts'

type Named = { readonly scheme: string; readonly name: string; readonly port: string }

/** The URL begins with `base`. A kubelet is spoken to as such, anybody else as a stranger. */
export type ProxyTarget = { readonly base: string; readonly kubelet?: KubeletAccess }

/** Fails with what says why there is none. */
export async function proxyTarget(request: ResourceRequest, parts: SubresourceAccess): Promise<ProxyTarget> {
  switch (request.resource.plural) {
    case 'pods':
      return { base: await podTarget(request, parts) }
    case 'services':
      return { base: await serviceTarget(request, parts) }
    default:
      return nodeTarget(request, parts)
  }
}

function split(text: string, what: string): Named {
  const parts = text.split(':')
  const [first = '', second = '', third = ''] = parts
  if (parts.length === 1) return { scheme: '', name: first, port: '' }
  if (parts.length === 2) return { scheme: '', name: first, port: second }
  if (parts.length === 3 && ['', 'http', 'https'].includes(first)) return { scheme: first, name: second, port: third }
  throw badRequest(`invalid ${what} request ${quote(text)}`)
}

/** Only the ports of services have names. Whatever else stood there would become a part of the URL. */
function numbered(named: Named, { name }: ResourceRequest, what: string): Named {
  if (named.port === '' || (/^[0-9]{1,5}$/.test(named.port) && isPort(Number(named.port)))) return named
  throw badRequest(`invalid ${what} request ${quote(name)}`)
}

async function podTarget(request: ResourceRequest, parts: SubresourceAccess): Promise<string> {
  const { scheme, name, port } = numbered(split(request.name, 'pod'), request, 'pod')
  const pod = await podOf(request, parts, name)
  const status = fieldsOf(pod['status'])
  const ip = textOf(itemsOf(status['podIPs'])[0]?.['ip'] ?? status['podIP'])
  // Nobody gets at what listens on the server's own machine.
  if (!isGlobalUnicast(ip)) throw badRequest('address not allowed')
  const own = port === '' ? firstPort(pod) : port
  const host = ip.includes(':') ? `[${ip}]` : ip
  return `${scheme === '' ? 'http' : scheme}://${own === '' ? host : `${host}:${own}`}`
}

function firstPort(pod: KubeObject): string {
  const ports = itemsOf(fieldsOf(pod['spec'])['containers']).flatMap((container) => itemsOf(container['ports']))
  return ports[0] === undefined ? '' : `${numberOf(ports[0]['containerPort'])}`
}

const services = { group: '', version: 'v1', plural: 'services' } as const
const pods = { group: '', version: 'v1', plural: 'pods' } as const
const endpoints = { group: '', version: 'v1', plural: 'endpoints' } as const

/** Upstream's way: by Endpoints, and only to what is a pod of the namespace, or a service would lead to anything at all. */
async function serviceTarget(request: ResourceRequest, parts: SubresourceAccess): Promise<string> {
  const { scheme, name, port } = split(request.name, 'service')
  const { objects, random } = parts
  const place = { namespace: request.namespace, name }
  const portName = /^[+-]?[0-9]+$/.test(port) ? await portNameOf(place, Number(port), parts) : port
  const found = await objects.get(endpoints, place, 'latest')
  if (found === undefined) throw notFound(services, name)
  const subsets = itemsOf(found['subsets'])
  if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${quote(name)}`)
  for (const { addresses, ports } of fromAnywhere(subsets, random)) {
    const open = itemsOf(ports).find((one) => textOf(one['name']) === portName)
    if (open === undefined) continue
    const ip = await podAddress(itemsOf(addresses), request, parts)
    if (ip === undefined) continue
    return `${scheme === '' ? 'http' : scheme}://${hostPort({ host: ip, port: numberOf(open['port']) })}`
  }
  throw serviceUnavailable(`no endpoints available for service ${quote(request.name)}`)
}

/** All of them once, from a random one on: one client after the other is led elsewhere. */
function fromAnywhere<T>(items: readonly T[], random: () => number): T[] {
  const first = Math.floor(random() * items.length)
  return [...items.slice(first), ...items.slice(0, first)]
}

/** Who may write Endpoints may write any address into them. A pod of the namespace has it, or nobody is led there. */
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

async function portNameOf(place: Place, port: number, { objects }: SubresourceAccess): Promise<string> {
  const service = await objects.get(services, place, 'latest')
  if (service === undefined) throw notFound(services, place.name)
  const found = itemsOf(fieldsOf(service['spec'])['ports']).find((one) => one['port'] === port)
  if (found !== undefined) return textOf(found['name'])
  throw serviceUnavailable(`no service port ${port} found for service ${quote(place.name)}`)
}

type Place = { readonly namespace: string; readonly name: string }

async function nodeTarget(request: ResourceRequest, parts: SubresourceAccess): Promise<ProxyTarget> {
  const { scheme, name, port } = numbered(split(request.name, 'node'), request, 'node')
  const address = await addressOf(name, request.resource, parts)
  // Who may write the status of a node may write any address into it.
  const found = await parts.lookUp(address.host)
  if (found.length === 0) throw badRequest(`lookup ${address.host}: no such host`)
  if (!found.every(isGlobalUnicast)) throw badRequest('address not allowed')
  if (port === '' || Number(port) === address.port) {
    return { base: `https://${hostPort(address)}`, kubelet: parts.kubelet }
  }
  // Another port than the kubelet's may be anybody's.
  const target = hostPort({ host: address.host, port: Number(port) })
  return { base: `${scheme === '' ? 'http' : scheme}://${target}` }
}
