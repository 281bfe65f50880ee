/** pods/exec, pods/attach and pods/portforward: a tunnel to the kubelet, whose protocol this server does not read. */
import { badRequest } from '../../api/errors.ts'
import { fieldsOf, textOf } from '../../api/object.ts'
import type { ResourceRequest } from '../../registry/resource.ts'
import { containerOf } from './container-of.ts'
import { isUpgrade } from './forward.ts'
import { podOf } from './log.ts'
import { addressOf, hostPort } from './node-address.ts'
import { admit, type SubresourceHandler, type SubresourceAccess } from './handler.ts'
import { tunnel } from './tunnel.ts'

/** Options of exec and attach: the names of the API, and those of the kubelet. */
const streams: readonly (readonly [string, string])[] = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
]

export const connect: SubresourceHandler = async (request, parts) => {
  const { http, subresource } = request
  if (http.query.has('dryRun')) throw badRequest('dryRun is not supported')
  await admit(request, undefined, { operation: 'CONNECT', isDryRun: false, access: parts.pods.access })
  const url = await kubeletUrl(request, parts)
  if (!isUpgrade(http)) throw badRequest('Upgrade request required')
  const method = subresource === 'portforward' ? 'POST' : http.method
  return tunnel(http, { url, method, kubelet: parts.kubelet })
}

async function kubeletUrl(request: ResourceRequest, parts: SubresourceAccess): Promise<URL> {
  const { name, namespace, subresource, http } = request
  const pod = await podOf(request, parts)
  const isForward = subresource === 'portforward'
  const container = isForward ? '' : containerOf(pod, http.query.get('container') ?? '')
  const nodeName = textOf(fieldsOf(pod['spec'])['nodeName'])
  if (nodeName === '') throw badRequest(`pod ${name} does not have a host assigned`)
  const address = await addressOf(nodeName, parts.pods.resource, parts)
  const path = isForward ? `portForward/${namespace}/${name}` : `${subresource}/${namespace}/${name}/${container}`
  const query = isForward ? forwardQuery(http.query) : streamQuery(http.query)
  return new URL(`https://${hostPort(address)}/${path}?${query.toString()}`)
}

function streamQuery(query: URLSearchParams): URLSearchParams {
  const flags = streams.flatMap(([given, meant]): [string, string][] =>
    ['true', '1'].includes(query.get(given) ?? '') ? [[meant, '1']] : [],
  )
  const commands = query.getAll('command').map((word): [string, string] => ['command', word])
  return new URLSearchParams([...flags, ...commands])
}

const forwardQuery = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams(query.getAll('ports').map((port): [string, string] => ['port', port]))
