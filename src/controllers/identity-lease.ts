/** The Lease in kube-system that shows that this server is running. */
import { createHash } from 'node:crypto'
import { type Fields, fieldsOf, itemsOf, numberOf, textOf } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'

/**
 * The intervals are the same as in kube-apiserver. A Lease is renewed often but is valid for a long
 * time, so that a running server is not mistaken for a dead one.
 */
export const RENEW_MS = 10_000
const VALID_SECONDS = 3600
export const COLLECT_MS = 3_600_000

const component = 'kube-apiserver'
const componentLabel = 'apiserver.kubernetes.io/identity'
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'
const folder = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

export type Identity = {
  readonly hostname: string
  /** A unique ID of this process. */
  readonly uid: string
}

/** Renews or creates the Lease. `now` is a timestamp with a resolution of microseconds. */
export async function renewIdentity(
  handle: Handler,
  identity: Identity,
  { now, signal }: { readonly now: string; readonly signal: AbortSignal },
): Promise<void> {
  const name = serverName(identity.hostname)
  const spec = {
    holderIdentity: `${name}_${identity.uid}`,
    leaseDurationSeconds: VALID_SECONDS,
    renewTime: now,
  }
  const path = `${folder}/${name}`
  const patched = await request(handle, {
    method: 'PATCH',
    path,
    body: { spec },
    isMergePatch: true,
    signal,
  })
  if (patched.status !== NOT_FOUND) return refuseFailure(patched.status)
  const body: Fields = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      labels: { [componentLabel]: component, 'kubernetes.io/hostname': identity.hostname },
    },
    spec,
  }
  const created = await request(handle, { method: 'POST', path: folder, body, signal })
  // A conflict means that another server with the same name has created the Lease first. The next
  // renewal updates that Lease.
  if (created.status !== CONFLICT) refuseFailure(created.status)
}

/** Deletes the Leases of other servers that have expired. */
export async function collectExpired(
  handle: Handler,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const query = { labelSelector: `${componentLabel}=${component}` }
  const list = objectOf(await request(handle, { method: 'GET', path: folder, query, signal }))
  for (const { metadata, spec } of itemsOf(fieldsOf(list)['items'])) {
    if (!isExpired(fieldsOf(spec), nowMs)) continue
    const { name, resourceVersion } = fieldsOf(metadata)
    // The precondition prevents the deletion of a Lease that was renewed in the meantime.
    const preconditions = { resourceVersion: textOf(resourceVersion) }
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions }
    await request(handle, { method: 'DELETE', path: `${folder}/${textOf(name)}`, body, signal })
  }
}

/**
 * Whether a Lease has expired. A Lease without renewTime or leaseDurationSeconds counts as expired.
 */
function isExpired({ renewTime, leaseDurationSeconds }: Fields, nowMs: number): boolean {
  const renewedMs = Date.parse(textOf(renewTime))
  return !(renewedMs + 1000 * numberOf(leaseDurationSeconds) >= nowMs)
}

/**
 * Returns the name of the server. It is the same after a restart, and the same as the name of a
 * kube-apiserver on this host. A server that replaces a kube-apiserver therefore renews the
 * existing Lease. All servers on a host share the name.
 */
export function serverName(hostname: string): string {
  const hash = createHash('sha256')
    .update(lengthPrefixed(hostname))
    .update(lengthPrefixed(component))
    .digest()
  let bits = BigInt(`0x${hash.subarray(0, 16).toString('hex')}`) << 2n
  let text = ''
  for (let at = 0; at < 26; at++, bits >>= 5n) text = `${base32[Number(bits & 31n)] ?? ''}${text}`
  return `apiserver-${text}`
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function refuseFailure(status: number): void {
  if (status >= FAILURE)
    throw new Error(`renewing the identity Lease of this server failed: status ${status}`)
}

const NOT_FOUND = 404
const CONFLICT = 409
const FAILURE = 400
