/**
 * A real OpenID provider (npm `oidc-provider`) over TLS, and a simulated user who logs in with a
 * browser.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer, request, type Server } from 'node:https'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider from 'oidc-provider'
import { createAuthority, issue } from '../../../src/lib/x509/certificates.ts'
import { freePorts } from './etcd.ts'

const redirectUri = 'https://127.0.0.1/callback'
/** Maximum number of redirects during a login. A successful login takes seven. */
const HOPS_MAX = 15

export type Login = {
  readonly idToken: string
  /** Returns a new token for the same login. */
  readonly refresh: () => Promise<string>
}

export type OpenIdProviderOptions = {
  readonly clientId: string
  /** Claims of each user, in addition to `sub`. */
  readonly users: { readonly [name: string]: { readonly [claim: string]: unknown } }
  readonly algorithm?: 'RS256' | 'ES256' | 'PS256'
  readonly tokenSeconds?: number
}

export class OpenIdProvider implements AsyncDisposable {
  readonly issuer: string
  /** PEM of the CA that signed the provider's certificate. */
  readonly caPem: string
  /** Paths of all requests so far. */
  readonly requests: string[] = []
  readonly #port: number
  readonly #options: OpenIdProviderOptions
  readonly #tls: { readonly cert: string; readonly key: string }
  readonly #stored = new Map<string, StoredEntity>()
  #keys: JWK[] = []
  #listener: RequestListener = () => undefined
  #server: Server | undefined

  private constructor(port: number, options: OpenIdProviderOptions) {
    const now = Date.now()
    const authority = createAuthority('the authority of an issuer', now)
    const { certificatePem, keyPem } = issue(authority, {
      commonName: '127.0.0.1',
      usage: 'server',
      hosts: ['127.0.0.1'],
      nowMs: now,
    })
    this.issuer = `https://127.0.0.1:${port}`
    this.caPem = authority.certificatePem
    this.#port = port
    this.#options = options
    this.#tls = { cert: certificatePem, key: keyPem }
  }

  /** Creates a provider. Call `start` to make it listen. */
  static async create(options: OpenIdProviderOptions): Promise<OpenIdProvider> {
    const [port = 0] = await freePorts(1)
    const provider = new OpenIdProvider(port, options)
    await provider.rotate({ keepsOld: false })
    return provider
  }

  async start(): Promise<void> {
    this.#server = createServer(this.#tls, (asked, answer) => {
      this.requests.push(asked.url ?? '')
      this.#listener(asked, answer)
    })
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /**
   * Generates a new key and signs new tokens with it. With `keepsOld`, the provider still publishes
   * the old keys, so that earlier tokens remain valid.
   */
  async rotate({ keepsOld }: { readonly keepsOld: boolean }): Promise<void> {
    const { algorithm = 'RS256', clientId, users, tokenSeconds = 3600 } = this.#options
    const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
    const key = {
      ...(await exportJWK(privateKey)),
      alg: algorithm,
      use: 'sig',
      kid: randomBytes(8).toString('hex'),
    }
    this.#keys = [key, ...(keepsOld ? this.#keys : [])]
    const claims = [...new Set(Object.values(users).flatMap((user) => Object.keys(user)))]
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: clientId,
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
          id_token_signed_response_alg: algorithm,
        },
      ],
      jwks: { keys: this.#keys },
      claims: { openid: ['sub', ...claims] },
      conformIdTokenClaims: false,
      issueRefreshToken: async () => true,
      adapter: (name: string) => new Adapter(name, this.#stored),
      cookies: { keys: ['a cookie key of a test'] },
      ttl: { IdToken: tokenSeconds },
      findAccount: (_: unknown, sub: string) =>
        sub in users ? { accountId: sub, claims: () => ({ sub, ...users[sub] }) } : undefined,
    })
    this.#listener = provider.callback()
  }

  /**
   * Logs in with the authorization code flow and PKCE (RFC 7636), and submits the forms for login
   * and consent.
   */
  async login(user: string): Promise<Login> {
    const browser = new Browser(this.caPem)
    const verifier = randomBytes(32).toString('base64url')
    const query = new URLSearchParams({
      client_id: this.#options.clientId,
      response_type: 'code',
      scope: 'openid offline_access',
      prompt: 'consent',
      redirect_uri: redirectUri,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })
    const code = await browser.logIn(`${this.issuer}/auth?${query.toString()}`, user)
    const first = await this.#exchange(browser, {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
    })
    let { refreshToken } = first
    return {
      idToken: first.idToken,
      refresh: async () => {
        const next = await this.#exchange(browser, {
          grant_type: 'refresh_token',
          refresh_token: refreshToken,
        })
        refreshToken = next.refreshToken
        return next.idToken
      },
    }
  }

  async #exchange(browser: Browser, fields: { readonly [name: string]: string }) {
    const { status, text } = await browser.send(`${this.issuer}/token`, {
      ...fields,
      client_id: this.#options.clientId,
    })
    assert.equal(status, 200, text)
    const { id_token: idToken, refresh_token: refreshToken } = JSON.parse(text)
    return { idToken: String(idToken), refreshToken: String(refreshToken) }
  }
}

type StoredEntity = { readonly [name: string]: unknown }

/** Storage for logins. It is kept when keys are rotated, and nothing expires during a test. */
class Adapter {
  readonly #name: string
  readonly #stored: Map<string, StoredEntity>

  constructor(name: string, stored: Map<string, StoredEntity>) {
    this.#name = name
    this.#stored = stored
  }

  async upsert(id: string, payload: StoredEntity): Promise<void> {
    this.#stored.set(`${this.#name} ${id}`, payload)
  }

  async find(id: string): Promise<StoredEntity | undefined> {
    return this.#stored.get(`${this.#name} ${id}`)
  }

  async findByUid(uid: string): Promise<StoredEntity | undefined> {
    const keys = [...this.#stored].filter(([key]) => key.startsWith(`${this.#name} `))
    return keys.find(([, payload]) => payload['uid'] === uid)?.[1]
  }

  async consume(id: string): Promise<void> {
    const payload = await this.find(id)
    await this.upsert(id, { ...payload, consumed: Math.floor(Date.now() / 1000) })
  }

  async destroy(id: string): Promise<void> {
    this.#stored.delete(`${this.#name} ${id}`)
  }
}

type Page = {
  readonly status: number
  readonly location: string | undefined
  readonly text: string
}

/** A client that follows redirects and stores cookies like a browser. */
class Browser {
  readonly #ca: string
  readonly #cookies = new Map<string, string>()

  constructor(ca: string) {
    this.#ca = ca
  }

  /** Returns the code with which the provider redirects the browser. */
  async logIn(url: string, user: string): Promise<string> {
    let target = url
    for (let hops = 0; hops < HOPS_MAX; hops++) {
      const { status, location, text } = await this.send(target)
      if (location !== undefined) target = new URL(location, target).href
      else {
        assert.equal(status, 200, text)
        const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? ''
        const page = await this.send(target, { prompt, login: user, password: 'x' })
        target = new URL(page.location ?? '', target).href
      }
      const code = target.startsWith(redirectUri) ? new URL(target).searchParams.get('code') : null
      if (code !== null) return code
    }
    throw new Error(`the login did not end: ${target}`)
  }

  /** Sends a request. A form is sent with POST. */
  send(url: string, form?: { readonly [name: string]: string }): Promise<Page> {
    const body = form === undefined ? undefined : new URLSearchParams(form).toString()
    const headers = {
      cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    }
    const { promise, resolve, reject } = Promise.withResolvers<Page>()
    const options = {
      method: body === undefined ? 'GET' : 'POST',
      ca: this.#ca,
      headers,
      agent: false,
    }
    const sent = request(url, options, (response) => {
      for (const cookie of response.headers['set-cookie'] ?? []) this.#keep(cookie)
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, location: response.headers.location, text }),
      )
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
    return promise
  }

  #keep(cookie: string): void {
    const [pair = ''] = cookie.split(';')
    const at = pair.indexOf('=')
    if (pair.slice(at + 1) === '') this.#cookies.delete(pair.slice(0, at))
    else this.#cookies.set(pair.slice(0, at), pair.slice(at + 1))
  }
}
