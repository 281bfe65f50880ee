/** The ConfigMap by which other servers of the API find out whom to trust, kept when the client authorities change. */
import { fieldsOf, textOf } from '../api/object.ts'
import { type HandleAs, objectOf, request } from '../api/own-request.ts'
import type { Log } from '../lib/log.ts'

const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Another replica may write at the same time, each once. */
const TRIES = 5
const FAILURE = 300
const CONFLICT = 409

/** Those that are there stay, as upstream: another replica may still go by them. Never fails. */
export async function addClientCa(handle: HandleAs, clientCaPem: string, log: Log, signal: AbortSignal): Promise<void> {
  let status = CONFLICT
  for (let tries = 0; tries < TRIES && status === CONFLICT; tries++) {
    status = await addOnce(handle, clientCaPem, signal)
  }
  if (status >= FAILURE) log('warn', 'the client authorities could not be told to other servers', { path, status })
}

/** The status of the last answer. Nothing is written where it is not known what is there. */
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

/** The same one is the same text, whatever ends its lines and whether a line ends after it. */
const certificatesOf = (pem: string): readonly string[] => pem.replaceAll('\r', '').match(certificate) ?? []
