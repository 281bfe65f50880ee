/** The ConfigMap by which other servers of the API find out whom to trust, kept when the client authorities change. */
import { fieldsOf, textOf } from '../api/object.ts'
import { type Handle, objectOf, request } from '../api/own-request.ts'
import type { Log } from '../lib/log.ts'

const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----\n?/g

/** Those that are there stay, as upstream: another replica may still go by them. Never fails. */
export async function addClientCa(handle: Handle, clientCaPem: string, log: Log, signal: AbortSignal): Promise<void> {
  const found = await request(handle, { method: 'GET', path, signal })
  const known = textOf(fieldsOf(fieldsOf(objectOf(found))['data'])['client-ca-file'])
  const all = new Set([...(known.match(certificate) ?? []), ...(clientCaPem.match(certificate) ?? [])])
  const body = { data: { 'client-ca-file': [...all].join('') } }
  const { status } = await request(handle, { method: 'PATCH', path, body, isMergePatch: true, signal })
  if (status >= FAILURE) log('warn', 'the client authorities could not be told to other servers', { path, status })
}

const FAILURE = 300
