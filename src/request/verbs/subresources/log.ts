/** pods/log: streams the log of a container from the kubelet of its node. */
import { badRequest, internalError, notFound, unclassified } from '../../../api/errors.ts'
import { fieldsOf, type KubeObject, textOf } from '../../../api/object.ts'
import type { ApiResponse } from '../../../api/request.ts'
import { hostPort } from '../../../lib/net/hosts.ts'
import { negotiate } from '../../../objects/codec/negotiate.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import {
  type CertificateError,
  certificateReasonOf,
} from '../../../net/outbound/certificate-reason.ts'
import { reasonOf } from '../../../net/outbound/send.ts'
import { parseBoolean } from '../options.ts'
import { translated } from '../storage-errors.ts'
import { containerOf } from './container-of.ts'
import { chunksOf, type ForwardOptions, forward } from './forward.ts'
import { parseLogOptions } from './log-options.ts'
import { addressOf } from './node-address.ts'
import type { SubresourceHandler, SubresourceAccess } from './handler.ts'

export const readLog: SubresourceHandler = async (request, parts) => {
  const { name, namespace, http } = request
  negotiate(http, { isText: true })
  const options = parseLogOptions(http.query, name, parts.gates)
  // If the client requests this, the kubelet's certificate is not verified. The API server still
  // presents its own certificate.
  const isUnchecked = parseBoolean(http.query.get('insecureSkipTLSVerifyBackend'))
  parts.logMetrics.recordRequest(isUnchecked)
  const pod = await podOf(request, parts)
  const container = containerOf(pod, http.query.get('container') ?? '')
  const nodeName = textOf(fieldsOf(pod['spec'])['nodeName'])
  // A pod that has not been scheduled has no log.
  if (nodeName === '') return { status: 204, headers: {}, body: Buffer.alloc(0) }
  const address = await addressOf(nodeName, parts.pods.resource, parts)
  const path = `containerLogs/${namespace}/${name}/${container}`
  const url = new URL(`https://${hostPort(address)}/${path}?${options.toString()}`)
  const kubelet = isUnchecked ? { ...parts.kubelet, caPem: null } : parts.kubelet
  const asked = { url, method: 'GET', headers: {}, signal: http.signal, kubelet, dial: parts.dial }
  return streamLog(asked, () => parts.logMetrics.unverified.add())
}

export async function podOf(
  request: ResourceRequest,
  { pods }: SubresourceAccess,
  name = request.name,
): Promise<KubeObject> {
  const { resource, access } = pods
  const { namespace, context } = request
  return translated(context, { resource, name, verb: 'get' }, async () => {
    const { item } = await access.reader.get(access.keys.key(namespace, name), 'latest')
    if (item === undefined) throw notFound(resource, name)
    return item.object()
  })
}

/** Maximum number of bytes of a kubelet's error response that are read for the error message. */
const REFUSAL_BYTES_MAX = 2048

async function streamLog(asked: ForwardOptions, onUnverified: () => void): Promise<ApiResponse> {
  const answer = await forward(asked).catch((error: Error & CertificateError) => {
    if (certificateReasonOf(error) !== undefined) onUnverified()
    throw unclassified(`Get "${asked.url.href}": ${reasonOf(error)}`, error)
  })
  const { statusCode = 500 } = answer
  if (statusCode < 300) {
    return { status: 200, headers: { 'content-type': 'text/plain' }, stream: chunksOf(answer) }
  }
  let text = ''
  for await (const chunk of answer) {
    text += String(chunk)
    if (text.length > REFUSAL_BYTES_MAX) break
  }
  const message = text.slice(0, REFUSAL_BYTES_MAX)
  throw statusCode === 400 ? badRequest(message) : internalError(message)
}
