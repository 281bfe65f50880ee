/** How a client of a kubeconfig shows who it is: headers, and a client certificate. Files are read again as they are renewed. */
import { readFile } from 'node:fs/promises'
// Does not fail with escapes that are not UTF-8, as Go's does not.
import { unescape } from 'node:querystring'
import type { Impersonation, Kubeconfig } from '../config/files/kubeconfig.ts'
import type { Clock } from '../lib/clock.ts'

/** A file that is older is read again, as client-go does with token files. */
const REREAD_MS = 60_000

export type Headers = Readonly<Record<string, string | readonly string[]>>

export class KubeconfigCredentials {
  readonly #kubeconfig: Kubeconfig
  readonly #token: RenewedFile | undefined
  readonly #certificate: RenewedFile | undefined
  readonly #key: RenewedFile | undefined

  constructor(kubeconfig: Kubeconfig, clock: Clock) {
    this.#kubeconfig = kubeconfig
    const { credentials, clientCertificate } = kubeconfig
    if (credentials.kind === 'token' && credentials.path !== null) {
      this.#token = new RenewedFile(credentials.path, clock, credentials.token)
    }
    if (clientCertificate?.kind === 'files') {
      this.#certificate = new RenewedFile(clientCertificate.certificatePath, clock)
      this.#key = new RenewedFile(clientCertificate.keyPath, clock)
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

  /** Undefined: without a certificate. */
  async certificate(): Promise<{ readonly cert: string; readonly key: string } | undefined> {
    const { clientCertificate } = this.#kubeconfig
    if (clientCertificate?.kind === 'pem') return { cert: clientCertificate.certificate, key: clientCertificate.key }
    if (this.#certificate === undefined || this.#key === undefined) return undefined
    const [cert, key] = await Promise.all([this.#certificate.read(), this.#key.read()])
    return { cert, key }
  }

  async #authorization(): Promise<string> {
    const { credentials, server } = this.#kubeconfig
    switch (credentials.kind) {
      case 'token':
        return `Bearer ${(await this.#token?.read())?.trim() ?? credentials.token}`
      case 'basic':
        return basic(credentials.username, credentials.password)
      case 'none': {
        const { username, password } = new URL(server)
        return username === '' && password === '' ? '' : basic(unescape(username), unescape(password))
      }
    }
  }
}

const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

function impersonationHeaders({ name, uid, groups, extra }: Impersonation): Headers {
  const others = Object.entries(extra).map(([key, values]) => [`impersonate-extra-${escapeKey(key)}`, values] as const)
  return {
    'impersonate-user': name,
    ...(uid === '' ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(others),
  }
}

/** Characters that a header's name cannot have are percent-encoded. */
const escapeKey = (key: string): string => key.replace(/[^!#$&'*+.^_`|~\w-]+/g, (text) => encodeURIComponent(text))

/** What was read last stays when the file cannot be read or is empty. */
class RenewedFile {
  readonly #path: string
  readonly #clock: Clock
  #text: string
  #readMs = -Infinity
  #reading: Promise<string> | undefined

  constructor(path: string, clock: Clock, text = '') {
    this.#path = path
    this.#clock = clock
    this.#text = text
  }

  read(): Promise<string> {
    if (this.#clock.monotonicMs() - this.#readMs < REREAD_MS) return Promise.resolve(this.#text)
    this.#reading ??= this.#readAgain().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readAgain(): Promise<string> {
    try {
      const text = await readFile(this.#path, 'utf8')
      if (text.trim() === '') throw new Error(`read an empty file: ${this.#path}`)
      this.#text = text
      this.#readMs = this.#clock.monotonicMs()
    } catch (error) {
      if (this.#text === '') throw error
    }
    return this.#text
  }
}
