/**
 * Publishes the ConfigMap extension-apiserver-authentication. Extension API servers read from it
 * which client CAs to trust, and which headers of front proxies contain the user. The ConfigMap
 * combines the settings of all servers of the cluster. As in kube-apiserver, each server adds its
 * own settings, and only expired certificates are removed.
 */
import { type Fields, fieldsOf, textOf } from '../api/object.ts'
import { parseJson } from '../api/json-value.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { pem } from '../lib/x509/der.ts'
import { certificateBlocks, parseCertificates } from '../lib/x509/trust-anchors.ts'
import { create, type RequiredObject } from './wanted.ts'

export type AuthenticationInfo = {
  /** PEM bundle of the client CAs, or null if no client CAs are configured. */
  readonly clientCaPem: string | null
  /** Settings of front proxies, or null if no front proxies are configured. */
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

/** Interval between checks of the ConfigMap. */
export const INFO_CHECK_MS = 10_000
/**
 * Maximum number of attempts if the write fails with a conflict. Conflicts can occur because all
 * replicas write the same ConfigMap.
 */
const TRIES = 5
const FAILURE = 300
const NOT_FOUND = 404
const CONFLICT = 409

/**
 * Adds missing settings to the ConfigMap, or creates it. Rejects if the ConfigMap cannot be read or
 * written.
 */
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
 * Makes one attempt, and returns the status of the last response. Writes nothing if the ConfigMap
 * cannot be read.
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

/**
 * Reads a JSON list of strings. Returns an empty list if the JSON is invalid, and the caller then
 * replaces it.
 */
function listOf(text: string): readonly string[] {
  try {
    const list = text === '' ? [] : parseJson(Buffer.from(text))
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/**
 * Joins PEM bundles without duplicate certificates, in the order of the bundles. The certificates
 * are encoded again, so that equal certificates become equal strings.
 */
function combinedPem(bundles: readonly string[], nowMs: number): string {
  const all = bundles.flatMap((text) =>
    certificateBlocks(text).map((block) => pem('CERTIFICATE', block)),
  )
  return [...new Set(all)].filter((one) => !isExpired(one, nowMs)).join('')
}

/**
 * Whether a certificate has expired. A certificate that cannot be parsed counts as expired, because
 * no server can use it.
 */
function isExpired(text: string, nowMs: number): boolean {
  try {
    const [certificate] = parseCertificates(text)
    return certificate === undefined || Date.parse(certificate.validTo) < nowMs
  } catch {
    return true
  }
}
