/** Which CA signs for which signer. */
import { SigningAuthority } from '../../lib/x509/signing-authority.ts'

export type SignersOptions = {
  readonly pairs: readonly {
    readonly signers: readonly string[]
    readonly certificatePem: string
    readonly keyPem: string
  }[]
  /** Of a certificate, at the most. */
  readonly durationMs: number
}

export class Signers {
  readonly durationMs: number
  readonly #byName = new Map<string, SigningAuthority>()

  /** Fails if a pair cannot be used. */
  constructor({ pairs, durationMs }: SignersOptions) {
    this.durationMs = durationMs
    for (const { signers, certificatePem, keyPem } of pairs)
      this.renew(signers, certificatePem, keyPem)
  }

  /** Fails if the pair cannot be used; then the one before stays. */
  renew(signers: readonly string[], certificatePem: string, keyPem: string): void {
    const authority = new SigningAuthority(certificatePem, keyPem)
    for (const name of signers) this.#byName.set(name, authority)
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  authorityOf(signerName: string): SigningAuthority | undefined {
    return this.#byName.get(signerName)
  }
}
