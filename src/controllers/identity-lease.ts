/** The Lease by which others see that this server is up. */
import { createHash } from 'node:crypto'
import type { Fields } from '../api/object.ts'
import { type Handle, request } from '../api/own-request.ts'

/** Upstream's figures: renewed often, valid long, so that nobody is taken for dead by mistake. */
export const RENEW_MS = 10_000
const VALID_SECONDS = 3600

const component = 'kube-apiserver'
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'
const folder = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

export type Identity = {
  readonly hostname: string
  /** Of this process. */
  readonly uid: string
}

/** `now`: as a timestamp with microseconds. */
export async function renewIdentity(
  handle: Handle,
  identity: Identity,
  { now, signal }: { readonly now: string; readonly signal: AbortSignal },
): Promise<void> {
  const name = serverName(identity.hostname)
  const spec = { holderIdentity: `${name}_${identity.uid}`, leaseDurationSeconds: VALID_SECONDS, renewTime: now }
  const path = `${folder}/${name}`
  const patched = await request(handle, { method: 'PATCH', path, body: { spec }, isMergePatch: true, signal })
  if (patched.status !== NOT_FOUND) return refuseFailure(patched.status)
  const body: Fields = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      labels: { 'apiserver.kubernetes.io/identity': component, 'kubernetes.io/hostname': identity.hostname },
    },
    spec,
  }
  const created = await request(handle, { method: 'POST', path: folder, body, signal })
  // Another one of the same name was first; the next renewal will see.
  if (created.status !== CONFLICT) refuseFailure(created.status)
}

/**
 * The same for each start of a server, and upstream's: who is put in the place of a kube-apiserver renews its lease. Servers on one
 * host share it.
 */
export function serverName(hostname: string): string {
  const hash = createHash('sha256').update(lengthPrefixed(hostname)).update(lengthPrefixed(component)).digest()
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
  if (status >= FAILURE) throw new Error(`the server's own lease was not renewed: status ${status}`)
}

const NOT_FOUND = 404
const CONFLICT = 409
const FAILURE = 400
