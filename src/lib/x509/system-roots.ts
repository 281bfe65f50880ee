/**
 * The root certificates of the system, for TLS servers whose CA is not configured. Go programs use
 * these roots by default, while Node uses a list of its own. Node finds the system's roots in the
 * same places as OpenSSL: in SSL_CERT_FILE and SSL_CERT_DIR, or their defaults. The certificates in
 * NODE_EXTRA_CA_CERTS are added.
 *
 * The roots are loaded on first use and then retained, as in Go, because loading takes about 60 ms
 * of CPU time.
 */
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { hasKnownKey, type ServerTrustAnchors } from './trust-anchors.ts'

/** A client certificate and its key, in PEM. */
export type ClientPair = { readonly cert?: string | Buffer; readonly key?: string | Buffer }

/**
 * Maximum number of TLS contexts in the cache. A server has few client certificates, and each
 * context takes about 1 MB.
 */
const CONTEXTS_MAX = 8

class SystemRoots {
  #anchors: ServerTrustAnchors | undefined
  readonly #contexts = new Map<string, SecureContext>()

  /**
   * Returns a TLS context for this client certificate. Building a context with all roots takes
   * about 10 ms, so the most recent ones are cached.
   */
  contextFor(own: ClientPair): SecureContext {
    const key = `${own.cert?.toString() ?? ''}${own.key?.toString() ?? ''}`
    const kept = this.#contexts.get(key)
    if (kept !== undefined) return kept
    const [oldest] = this.#contexts.keys()
    if (this.#contexts.size === CONTEXTS_MAX && oldest !== undefined) this.#contexts.delete(oldest)
    const context = createSecureContext({ ...this.#load(), ...own })
    this.#contexts.set(key, context)
    return context
  }

  #load(): ServerTrustAnchors {
    if (this.#anchors !== undefined) return this.#anchors
    const found = new Set([...getCACertificates('system'), ...getCACertificates('extra')])
    this.#anchors = { ca: [...found].filter(hasKnownKey), allowPartialTrustChain: true }
    return this.#anchors
  }
}

const systemRoots = new SystemRoots()

/**
 * Returns a TLS context that trusts the roots of the system and uses the client certificate `own`.
 */
export const systemContext = (own: ClientPair = {}): SecureContext => systemRoots.contextFor(own)
