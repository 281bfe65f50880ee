/**
 * Validates CA bundles in configuration files. Validating a bundle of 150 certificates takes 50 ms.
 * Therefore, when a file is reloaded, its bundles are parsed in advance without blocking the event
 * loop.
 */
import { inSlices, type Steps } from '../../lib/scheduling/slices.ts'
import { certificateBlocks, isCertificate, noCertificates } from '../../lib/x509/trust-anchors.ts'

export class AuthorityChecks {
  readonly #prepared = new Map<string, string | undefined>()

  /**
   * Checks a bundle in advance, without blocking the event loop. `faultOf` then returns the stored
   * result.
   */
  async prepare(pem: string): Promise<void> {
    if (!this.#prepared.has(pem)) this.#prepared.set(pem, await inSlices(check(pem)))
  }

  /** Returns why a bundle cannot be used, or undefined if it can be used. */
  faultOf(pem: string): string | undefined {
    if (this.#prepared.has(pem)) return this.#prepared.get(pem)
    const steps = check(pem)
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) return value
    }
  }
}

function* check(pem: string): Steps<string | undefined> {
  const blocks = certificateBlocks(pem)
  if (blocks.length === 0) return noCertificates
  for (const block of blocks) {
    if (!isCertificate(block)) return 'x509: malformed certificate'
    yield undefined
  }
  return undefined
}
