/** Maps each signer to the CA that signs for it. */
import { SigningAuthority } from '../../lib/x509/signing-authority.ts'

export type SignersOptions = {
  readonly pairs: readonly {
    readonly signers: readonly string[]
    readonly certificatePem: string
    readonly keyPem: string
  }[]
  /** Maximum lifetime of a certificate. */
  readonly durationMs: number
}

export class Signers {
  readonly durationMs: number
  readonly #byName = new Map<string, SigningAuthority>()

  /** Loads the CAs of the signers. Throws if a pair of certificate and key is not valid. */
  constructor({ pairs, durationMs }: SignersOptions) {
    this.durationMs = durationMs
    for (const { signers, certificatePem, keyPem } of pairs)
      this.renew(signers, certificatePem, keyPem)
  }

  /**
   * Replaces the CA of these signers. If the certificate and the key are not valid, throws and
   * keeps the previous CA.
   */
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
