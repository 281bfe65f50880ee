/** Updates the ConfigMap extension-apiserver-authentication, from which extension API servers learn the client CAs, when the CAs change. */
import { fieldsOf, textOf } from '../api/object.ts'
import { type HandleAs, objectOf, request } from '../api/own-request.ts'
import type { Log } from '../lib/log.ts'

const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Attempts in spite of conflicts: every other replica may write once at the same time. */
const TRIES = 5
const FAILURE = 300
const CONFLICT = 409

/** Adds the CAs to the existing ones, which stay, as upstream: another replica may still use them. Never fails. */
export async function addClientCa(handle: HandleAs, clientCaPem: string, log: Log, signal: AbortSignal): Promise<void> {
  let status = CONFLICT
  for (let tries = 0; tries < TRIES && status === CONFLICT; tries++) {
    status = await addOnce(handle, clientCaPem, signal)
  }
  if (status >= FAILURE) log('warn', 'the client authorities could not be told to other servers', { path, status })
}

/** Returns the status of the last answer. Nothing is written if the ConfigMap could not be read. */
async function addOnce(handle: HandleAs, clientCaPem: string, signal: AbortSignal): Promise<number> {
  const found = await request(handle, { method: 'GET', path, signal })
  if (found.status >= FAILURE) return found.status
  const { metadata, data } = fieldsOf(objectOf(found))
  const known = textOf(fieldsOf(data)['client-ca-file'])
  const all = new Set([...certificatesOf(known), ...certificatesOf(clientCaPem)])
  const resourceVersion = textOf(fieldsOf(metadata)['resourceVersion'])
  const body = { metadata: { resourceVersion }, data: { 'client-ca-file': [...all].map((one) => `${one}\n`).join('') } }
  const { status } = await request(handle, { method: 'PATCH', path, body, isMergePatch: true, signal })
  return status
}

/** Line ends are normalized, so that equal certificates are equal strings. */
const certificatesOf = (pem: string): readonly string[] => pem.replaceAll('\r', '').match(certificate) ?? []
