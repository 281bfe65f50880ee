/**
 * The credentials of a kubeconfig's user: headers and a client certificate. Files are read again
 * regularly, because they may be renewed.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
// Like Go's decoder, `unescape` of node:querystring does not throw for escapes that are not UTF-8.
import { unescape } from 'node:querystring'
import type { Impersonation, KubeconfigUser } from './kubeconfig.ts'
import type { Clock } from '../../lib/time/clock.ts'

/** Interval after which a file is read again. client-go uses the same interval for token files. */
const REREAD_MS = 60_000

export type Headers = Readonly<Record<string, string | readonly string[]>>

/**
 * A user of a kubeconfig, with the URL of the server. The URL can contain a user name and a
 * password.
 */
type ServerUser = KubeconfigUser & { readonly server?: string }

export class KubeconfigCredentials {
  readonly #kubeconfig: ServerUser
  readonly #token: RefreshedValue<string> | undefined
  readonly #pair: RefreshedValue<KeyPair> | undefined

  constructor(kubeconfig: ServerUser, clock: Clock) {
    this.#kubeconfig = kubeconfig
    const { credentials, clientCertificate } = kubeconfig
    if (credentials.kind === 'token' && credentials.path !== null) {
      const { path, token } = credentials
      this.#token = new RefreshedValue(() => readFilled(path), clock, token)
    }
    if (clientCertificate?.kind === 'files') {
      this.#pair = new RefreshedValue(() => readPair(clientCertificate), clock)
    }
  }

  async headers(): Promise<Headers> {
    const { impersonate } = this.#kubeconfig
    const authorization = await this.#authorization()
    return {
      ...(authorization === '' ? {} : { authorization }),
      ...(impersonate === null ? {} : impersonationHeaders(impersonate)),
    }
  }

  /** Returns the client certificate, or undefined if there is none. */
  async certificate(): Promise<KeyPair | undefined> {
    const { clientCertificate } = this.#kubeconfig
    if (clientCertificate?.kind === 'pem')
      return { cert: clientCertificate.certificate, key: clientCertificate.key }
    return this.#pair?.read()
  }

  async #authorization(): Promise<string> {
    const { credentials, server } = this.#kubeconfig
    switch (credentials.kind) {
      case 'token':
        return `Bearer ${(await this.#token?.read())?.trim() ?? credentials.token}`
      case 'basic':
        return basic(credentials.username, credentials.password)
      case 'none': {
        const { username = '', password = '' } = server === undefined ? {} : new URL(server)
        return username === '' && password === ''
          ? ''
          : basic(unescape(username), unescape(password))
      }
    }
  }
}

const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

function impersonationHeaders({ name, uid, groups, extra }: Impersonation): Headers {
  const others = Object.entries(extra).map(
    ([key, values]) => [`impersonate-extra-${escapeKey(key)}`, values] as const,
  )
  return {
    'impersonate-user': name,
    ...(uid === '' ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(others),
  }
}

/** Percent-encodes the characters that are not allowed in a header name. */
const escapeKey = (key: string): string =>
  key.replace(/[^!#$&'*+.^_`|~\w-]+/g, (text) => encodeURIComponent(text))

export type KeyPair = { readonly cert: string; readonly key: string }
type PairPaths = { readonly certificatePath: string; readonly keyPath: string }

/**
 * Reads a certificate and its key. If they do not match, rejects: one of the files has been
 * renewed, and the other one not yet.
 */
async function readPair({ certificatePath, keyPath }: PairPaths): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readFilled(certificatePath), readFilled(keyPath)])
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error(
      `the private key in ${keyPath} does not match the certificate in ${certificatePath}`,
    )
  }
  return { cert, key }
}

async function readFilled(path: string): Promise<string> {
  const text = await readFile(path, 'utf8')
  if (text.trim() === '') throw new Error(`read an empty file: ${path}`)
  return text
}

/**
 * A value that is read again regularly. If reading fails, the previous value is returned, and the
 * next call tries again.
 */
class RefreshedValue<Value> {
  readonly #readNow: () => Promise<Value>
  readonly #clock: Clock
  #value: Value | undefined
  #readMs = -Infinity
  #reading: Promise<Value> | undefined

  constructor(readNow: () => Promise<Value>, clock: Clock, value?: Value) {
    this.#readNow = readNow
    this.#clock = clock
    this.#value = value
  }

  read(): Promise<Value> {
    if (this.#value !== undefined && this.#clock.monotonicMs() - this.#readMs < REREAD_MS) {
      return Promise.resolve(this.#value)
    }
    this.#reading ??= this.#readAgain().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readAgain(): Promise<Value> {
    try {
      this.#value = await this.#readNow()
      this.#readMs = this.#clock.monotonicMs()
      return this.#value
    } catch (error) {
      if (this.#value === undefined) throw error
      return this.#value
    }
  }
}
