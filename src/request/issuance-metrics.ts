/**
 * Counts certificates issued for requests that specify a duration. Also counts how many of them
 * have this duration.
 */
import { X509Certificate } from 'node:crypto'
import { fieldsOf, type KubeObject, textOf } from '../api/object.ts'
import type { Counter, Metrics } from '../lib/telemetry/metrics.ts'
import { decodePem } from '../lib/x509/pem.ts'

/**
 * Tolerances within which a requested duration counts as honored. The signer can backdate the
 * certificate by up to five minutes, and the duration can differ by a twentieth.
 */
const BACKDATED_SECONDS_MAX = 300
const ROUNDED_SHARE_MAX = 1 / 20

const knownSigners = 'kubernetes.io/'

export class IssuanceMetrics {
  readonly #requested: Counter
  readonly #honored: Counter

  constructor(metrics: Metrics) {
    this.#requested = metrics.counter(
      about('requested', 'Certificates issued for requests that specify a duration'),
    )
    this.#honored = metrics.counter(
      about('honored', 'Certificates issued with the duration that was requested'),
    )
  }

  /**
   * Counts a CertificateSigningRequest that was updated. `previous` is the object before the
   * update.
   */
  count(request: KubeObject, previous: KubeObject): void {
    const { expirationSeconds, signerName } = fieldsOf(previous['spec'])
    const issued = certificateOf(request)
    if (issued === '' || certificateOf(previous) !== '' || typeof expirationSeconds !== 'number')
      return
    const signer = textOf(signerName)
    const label = signer.startsWith(knownSigners) ? signer : 'other'
    this.#requested.with(label).add()
    if (isHonored(expirationSeconds, validSeconds(issued))) this.#honored.with(label).add()
  }
}

const about = (what: string, help: string) => ({
  name: `apiserver_certificates_registry_csr_${what}_duration_total`,
  help: `${help}, by signer. Signers outside of kubernetes.io are counted as other.`,
  labels: ['signerName'],
})

const certificateOf = ({ status }: KubeObject): string => textOf(fieldsOf(status)['certificate'])

/**
 * Returns the validity in seconds of the first certificate, which is the issued certificate.
 * Validation has already parsed it.
 */
function validSeconds(base64: string): number {
  const [first] = decodePem(Buffer.from(base64, 'base64').toString('latin1'))
  if (first === undefined) return 0
  const { validFrom, validTo } = new X509Certificate(first.bytes)
  return (Date.parse(validTo) - Date.parse(validFrom)) / 1_000
}

const isHonored = (wantedSeconds: number, seconds: number): boolean =>
  Math.abs(wantedSeconds - seconds) < BACKDATED_SECONDS_MAX + wantedSeconds * ROUNDED_SHARE_MAX
