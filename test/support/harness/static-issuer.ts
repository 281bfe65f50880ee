/**
 * A token issuer that signs arbitrary claims and headers, and serves its discovery document and its
 * keys over TLS.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { createAuthority, issue } from '../../../src/lib/x509/certificates.ts'
import { freePorts } from './etcd.ts'

export type Respond = (request: IncomingMessage, response: ServerResponse) => void

export class StaticIssuer implements AsyncDisposable {
  readonly url: string
  /** PEM of the CA that signed the issuer's certificate. */
  readonly caPem: string
  readonly requests: string[] = []
  /** Responses for additional paths that a test defines. */
  readonly pages = new Map<string, Respond>()
  readonly privateKey: CryptoKey
  publicJwk: JWK
  readonly #server: Server

  private constructor(
    port: number,
    keys: { readonly privateKey: CryptoKey; readonly publicJwk: JWK },
  ) {
    const nowMs = Date.now()
    const authority = createAuthority('the authority of a static issuer', nowMs)
    const { certificatePem, keyPem } = issue(authority, {
      commonName: '127.0.0.1',
      usage: 'server',
      hosts: ['127.0.0.1'],
      nowMs,
    })
    this.url = `https://127.0.0.1:${port}`
    this.caPem = authority.certificatePem
    this.privateKey = keys.privateKey
    this.publicJwk = keys.publicJwk
    this.#server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
      this.requests.push(request.url ?? '')
      const respond = this.pages.get(request.url ?? '')
      if (respond !== undefined) respond(request, response)
      else response.writeHead(404).end()
    })
    this.pages.set('/.well-known/openid-configuration', (_, response) =>
      response.end(JSON.stringify({ issuer: this.url, jwks_uri: `${this.url}/keys` })),
    )
    this.pages.set('/keys', (_, response) =>
      response.end(JSON.stringify({ keys: [this.publicJwk] })),
    )
  }

  static async start(algorithm = 'ES256'): Promise<StaticIssuer> {
    const [port = 0] = await freePorts(1)
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
    const publicJwk = { ...(await exportJWK(publicKey)), kid: 'own', alg: algorithm, use: 'sig' }
    const issuer = new StaticIssuer(port, { privateKey, publicJwk })
    issuer.#server.listen(port, '127.0.0.1')
    await once(issuer.#server, 'listening')
    return issuer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /**
   * Signs a token. By default, the token is valid for a minute and has the audience `kubernetes`.
   * The claims can override both.
   */
  sign(
    claims: { readonly [name: string]: unknown },
    header: { readonly [name: string]: unknown } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const all = { iss: this.url, aud: 'kubernetes', iat: now, exp: now + 60, ...claims }
    const head = { alg: String(this.publicJwk.alg), kid: String(this.publicJwk.kid), ...header }
    return new SignJWT(all).setProtectedHeader(head).sign(this.privateKey)
  }
}
