/**
 * The ConfigMap extension-apiserver-authentication, from which extension API servers learn the
 * client CAs and how front proxies name users. It has what all servers of the cluster accept: each
 * adds its own, and nothing is removed but expired certificates, as upstream.
 */
import { type Fields, fieldsOf, textOf } from '../api/object.ts'
import { parseJson } from '../api/json-value.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { pem } from '../lib/x509/der.ts'
import { certificateBlocks, parseCertificates } from '../lib/x509/trust-anchors.ts'
import { create, type RequiredObject } from './wanted.ts'

export type AuthenticationInfo = {
  /** PEM; null: there are no client CAs. */
  readonly clientCaPem: string | null
  /** Null: there are no front proxies. */
  readonly requestHeader: RequestHeaderInfo | null
}

export type RequestHeaderInfo = {
  readonly caPem: string
  readonly allowedNames: readonly string[]
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

const collection = '/api/v1/namespaces/kube-system/configmaps'
const name = 'extension-apiserver-authentication'
const path = `${collection}/${name}`

/** How often it is checked. */
export const INFO_CHECK_MS = 10_000
/** Attempts in spite of conflicts: every other replica may write once at the same time. */
const TRIES = 5
const FAILURE = 300
const NOT_FOUND = 404
const CONFLICT = 409

/** Adds what is missing to the ConfigMap, or creates it. Fails if that is not possible. */
export async function publishInfo(
  handle: Handler,
  info: AuthenticationInfo,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<void> {
  if (info.clientCaPem === null && info.requestHeader === null) return
  let status = CONFLICT
  for (let tries = 0; tries < TRIES && status === CONFLICT; tries++) {
    status = await publishOnce(handle, info, { nowMs, signal })
  }
  if (status >= FAILURE) throw new Error(`${path} could not be written: status ${status}`)
}

/**
 * Returns the status of the last response. Nothing is written if the ConfigMap could not be read.
 */
async function publishOnce(
  handle: Handler,
  info: AuthenticationInfo,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<number> {
  const found = await request(handle, { method: 'GET', path, signal })
  if (found.status === NOT_FOUND) return (await create(handle, wantedMap(info, nowMs), signal)) ?? 0
  if (found.status >= FAILURE) return found.status
  const { metadata, data } = fieldsOf(objectOf(found))
  const before = fieldsOf(data)
  const after = combinedData(before, info, nowMs)
  if (Object.entries(after).every(([key, value]) => before[key] === value)) return found.status
  const resourceVersion = textOf(fieldsOf(metadata)['resourceVersion'])
  const body = { metadata: { resourceVersion }, data: after }
  const { status } = await request(handle, {
    method: 'PATCH',
    path,
    body,
    isMergePatch: true,
    signal,
  })
  return status
}

const wantedMap = (info: AuthenticationInfo, nowMs: number): RequiredObject => ({
  collection,
  object: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: combinedData({}, info, nowMs),
  },
})

function combinedData(
  before: Fields,
  { clientCaPem, requestHeader }: AuthenticationInfo,
  nowMs: number,
): { readonly [key: string]: string } {
  const certificates = (key: string, own: string): string =>
    combinedPem([textOf(before[key]), own], nowMs)
  const list = (key: string, own: readonly string[]): string =>
    JSON.stringify([...new Set([...listOf(textOf(before[key])), ...own])])
  const client =
    clientCaPem === null ? {} : { 'client-ca-file': certificates('client-ca-file', clientCaPem) }
  if (requestHeader === null) return client
  const { caPem, allowedNames, usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } =
    requestHeader
  const uid = list('requestheader-uid-headers', uidHeaders)
  return {
    ...client,
    'requestheader-allowed-names': list('requestheader-allowed-names', allowedNames),
    'requestheader-client-ca-file': certificates('requestheader-client-ca-file', caPem),
    'requestheader-extra-headers-prefix': list(
      'requestheader-extra-headers-prefix',
      extraHeaderPrefixes,
    ),
    'requestheader-group-headers': list('requestheader-group-headers', groupHeaders),
    ...(uid === '[]' ? {} : { 'requestheader-uid-headers': uid }),
    'requestheader-username-headers': list('requestheader-username-headers', usernameHeaders),
  }
}

/** Empty for what is no list of texts: it is replaced. */
function listOf(text: string): readonly string[] {
  try {
    const list = text === '' ? [] : parseJson(Buffer.from(text))
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/**
 * Each certificate once, in the order of the bundles, encoded anew, so that equal certificates are
 * equal texts.
 */
function combinedPem(bundles: readonly string[], nowMs: number): string {
  const all = bundles.flatMap((text) =>
    certificateBlocks(text).map((block) => pem('CERTIFICATE', block)),
  )
  return [...new Set(all)].filter((one) => !isExpired(one, nowMs)).join('')
}

/** What cannot be parsed is of no use to anyone either. */
function isExpired(text: string, nowMs: number): boolean {
  try {
    const [certificate] = parseCertificates(text)
    return certificate === undefined || Date.parse(certificate.validTo) < nowMs
  } catch {
    return true
  }
}
