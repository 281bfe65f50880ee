/**
 * pods/exec, pods/attach and pods/portforward: open a tunnel to the kubelet. The server does not
 * interpret the protocol in the tunnel.
 */
import { badRequest } from '../../../api/errors.ts'
import { type Fields, fieldsOf, textOf, textsOf } from '../../../api/object.ts'
import { hostPort } from '../../../lib/net/hosts.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import { containerOf } from './container-of.ts'
import { isUpgrade } from '../../../api/proxied-headers.ts'
import { podOf } from './log.ts'
import { addressOf } from './node-address.ts'
import { admitConnect, portForwardOptions, streamOptions } from './connect-options.ts'
import type { SubresourceHandler, SubresourceAccess } from './handler.ts'
import { tunnel } from './tunnel.ts'

/** Options of exec and attach: their names in the API, and in requests to the kubelet. */
const streams: readonly (readonly [string, string])[] = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
]

/** If this feature gate is enabled, requests with another method than POST need the verb create. */
const createGate = 'AuthorizePodWebsocketUpgradeCreatePermission'

export const connect: SubresourceHandler = async (request, parts) => {
  const { http, subresource } = request
  if (http.query.has('dryRun')) throw badRequest('dryRun is not supported')
  const given =
    subresource === 'portforward' ? portForwardOptions(http.query) : streamOptions(http.query)
  const options = await admitConnect(request, given, parts.pods.access)
  // A WebSocket is opened by a GET, which must not need fewer permissions than a POST.
  if (parts.gates.isOn(createGate)) await parts.pods.access.permissions.authorizeConnect(request)
  const url = await kubeletUrl(request, options, parts)
  if (!isUpgrade(http)) throw badRequest('Upgrade request required')
  const method = subresource === 'portforward' ? 'POST' : http.method
  const { kubelet, dial, tunnelBytesPerSecondMax } = parts
  return tunnel(http, { url, method, kubelet, dial, bytesPerSecondMax: tunnelBytesPerSecondMax })
}

async function kubeletUrl(
  request: ResourceRequest,
  options: Fields,
  parts: SubresourceAccess,
): Promise<URL> {
  const { name, namespace, subresource, http } = request
  const pod = await podOf(request, parts)
  const isForward = subresource === 'portforward'
  const container = isForward ? '' : containerOf(pod, textOf(options['container']))
  const nodeName = textOf(fieldsOf(pod['spec'])['nodeName'])
  if (nodeName === '') throw badRequest(`pod ${name} does not have a host assigned`)
  const address = await addressOf(nodeName, parts.pods.resource, parts)
  const path = isForward
    ? `portForward/${namespace}/${name}`
    : `${subresource}/${namespace}/${name}/${container}`
  const query = isForward ? forwardQuery(http.query) : streamQuery(options)
  return new URL(`https://${hostPort(address)}/${path}?${query.toString()}`)
}

function streamQuery(options: Fields): URLSearchParams {
  const flags = streams.flatMap(([given, meant]): [string, string][] =>
    options[given] === true ? [[meant, '1']] : [],
  )
  const commands = textsOf(options['command']).map((word): [string, string] => ['command', word])
  return new URLSearchParams([...flags, ...commands])
}

const forwardQuery = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams(query.getAll('ports').map((port): [string, string] => ['port', port]))
