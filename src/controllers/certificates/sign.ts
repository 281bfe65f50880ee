/**
 * The certificatesigningrequest-signing-controller. It signs approved CSRs for those kubernetes.io
 * signers that have a CA. A CSR that violates the rules of its signer gets the Failed condition.
 */
import {
  fieldsOf,
  type Fields,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { createNow } from '../../api/timestamps.ts'
import { contentOf } from '../../storage/cache/informer.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { readPemRequest, RequestError, type WholeRequest } from '../../lib/x509/request.ts'
import { ObjectController, type ObjectControllerOptions } from '../object-controller.ts'
import { faultOf } from './signer-rules.ts'
import type { Signers } from './signers.ts'
import { usagesOf } from './usages.ts'

/** Number of workers. kube-controller-manager has this number of workers for each signer. */
const WORKERS_MAX = 5
/**
 * How far the start of the validity of a certificate is moved into the past, for clients whose
 * clocks are slow.
 */
const BACKDATE_MS = 5 * 60_000
/**
 * For a lifetime of at least this length, the end of the validity is moved into the past by the
 * same time as the start. For a shorter lifetime, only the start is moved.
 */
const SHORT_MS = 8 * 60 * 60_000
const DURATION_MS_MIN = 10 * 60_000

export function signRequests(
  signers: Signers,
  options: ObjectControllerOptions & { readonly clock: Clock },
): AsyncDisposable {
  if (signers.isEmpty) {
    options.log(
      'info',
      'certificates are not signed, because no CA is configured (--cluster-signing-cert-file)',
    )
    return new AsyncDisposableStack()
  }
  const { wallMs } = options.clock
  const now = createNow(wallMs)
  return new ObjectController(
    {
      name: 'the signing of a certificate',
      queue: 'certificate',
      workersMax: WORKERS_MAX,
      group: 'certificates.k8s.io',
      plural: 'certificatesigningrequests',
      concerns: (item) => isDue(contentOf(item), signers),
      work: async (object, write) => {
        if (isDue(object, signers))
          await write.update(await decided(object, { signers, wallMs, now }), 'status')
        return undefined
      },
    },
    options,
  )
}

function isDue({ spec, status }: Fields, signers: Signers): boolean {
  const { certificate, conditions } = fieldsOf(status)
  if (
    textOf(certificate) !== '' ||
    signers.authorityOf(textOf(fieldsOf(spec)['signerName'])) === undefined
  )
    return false
  const has = (wanted: string): boolean => itemsOf(conditions).some(({ type }) => type === wanted)
  const hasFailed = itemsOf(conditions).some(
    ({ type, status: is }) => type === 'Failed' && is === 'True',
  )
  return has('Approved') && !has('Denied') && !hasFailed
}

type Signing = {
  readonly signers: Pick<Signers, 'authorityOf' | 'durationMs'>
  readonly wallMs: () => number
  readonly now: () => string
}

/**
 * Returns the CSR with its certificate, or with a condition that says why it cannot be signed.
 * Rejects if another attempt may succeed later.
 */
export async function decided(
  object: KubeObject,
  { signers, wallMs, now }: Signing,
): Promise<KubeObject> {
  const { request, signerName, usages, expirationSeconds } = fieldsOf(object['spec'])
  const status = fieldsOf(object['status'])
  const fail = (message: string): KubeObject => {
    const reason = 'SignerValidationFailure'
    const failed = { type: 'Failed', status: 'True', reason, message, lastUpdateTime: now() }
    return {
      ...object,
      status: { ...status, conditions: [...itemsOf(status['conditions']), failed] },
    }
  }
  const asked = readOrWhyNot(textOf(request))
  if (typeof asked === 'string') return fail(asked)
  const fault = faultOf(textOf(signerName), asked, textsOf(usages))
  if (fault !== undefined) return fail(fault)
  const authority = signers.authorityOf(textOf(signerName))
  if (authority === undefined) throw new Error(`the CA for ${textOf(signerName)} was removed`)
  const wanted = expirationSeconds === undefined ? undefined : 1000 * numberOf(expirationSeconds)
  const { notAfterMs } = authority
  const validity = validityOf({
    nowMs: wallMs(),
    wantedMs: wanted,
    longestMs: signers.durationMs,
    notAfterMs,
  })
  const certificate = await authority.issue(asked, { ...validity, ...usagesOf(textsOf(usages)) })
  return {
    ...object,
    status: { ...status, certificate: Buffer.from(certificate).toString('base64') },
  }
}

/**
 * Parses the CSR, or returns why it cannot be parsed. An older version or another server may have
 * accepted an invalid CSR. Retrying is useless, because the CSR does not change.
 */
function readOrWhyNot(base64: string): WholeRequest | string {
  try {
    return readPemRequest(base64)
  } catch (error) {
    if (error instanceof RequestError) return `the request cannot be read: ${error.message}`
    throw error
  }
}

type Term = {
  readonly nowMs: number
  /** The requested lifetime. Undefined means the maximum lifetime. */
  readonly wantedMs: number | undefined
  readonly longestMs: number
  /** The expiration of the CA certificate. */
  readonly notAfterMs: number
}

/** Computes the validity period. Throws if the CA has expired. */
export function validityOf({ nowMs, wantedMs, longestMs, notAfterMs }: Term): {
  readonly notBeforeMs: number
  readonly notAfterMs: number
} {
  if (nowMs >= notAfterMs)
    throw new Error(`the signer has expired: NotAfter=${new Date(notAfterMs).toISOString()}`)
  const durationMs =
    wantedMs === undefined || wantedMs > longestMs ? longestMs : Math.max(wantedMs, DURATION_MS_MIN)
  const endMs = nowMs + (durationMs < SHORT_MS ? durationMs : durationMs - BACKDATE_MS)
  return { notBeforeMs: nowMs - BACKDATE_MS, notAfterMs: Math.min(endMs, notAfterMs) }
}
