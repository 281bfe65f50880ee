/** Follows the files of a certificate: who renews them need not restart the server. */
import { readFile } from 'node:fs/promises'
import type { Log } from '../lib/log.ts'
import type { Certificate } from '../lib/x509/certificates.ts'

/** As kube-apiserver, which looks at its files once a minute too. */
const LOOK_MS = 60_000

export type CertificateFiles = { readonly certificatePath: string; readonly keyPath: string }

export class CertificateReloader implements Disposable {
  readonly #files: CertificateFiles
  readonly #use: (certificate: Certificate) => void
  readonly #log: Log
  readonly #timer: NodeJS.Timeout
  #current: Certificate

  /** `use` is called with what the files have become, and fails when that is of no use. */
  constructor(
    files: CertificateFiles,
    current: Certificate,
    parts: { readonly use: (certificate: Certificate) => void; readonly log: Log; readonly lookMs?: number },
  ) {
    this.#files = files
    this.#current = current
    this.#use = parts.use
    this.#log = parts.log
    this.#timer = setInterval(() => void this.look(), parts.lookMs ?? LOOK_MS).unref()
  }

  /** Never fails: what cannot be used is told to the operator, and the server goes on with what it has. */
  async look(): Promise<void> {
    const { certificatePath, keyPath } = this.#files
    try {
      const [certificatePem, keyPem] = await Promise.all([readFile(certificatePath, 'utf8'), readFile(keyPath, 'utf8')])
      if (certificatePem === this.#current.certificatePem && keyPem === this.#current.keyPem) return
      // Fails when only one of the two has been written yet: the next look finds both.
      this.#use({ certificatePem, keyPem })
      this.#current = { certificatePem, keyPem }
      this.#log('info', 'the certificate was renewed', { certificatePath })
    } catch (error) {
      this.#log('warn', 'the renewed certificate cannot be used yet', { certificatePath, error: String(error) })
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
