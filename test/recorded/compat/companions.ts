/**
 * Runs the servers that scenarios need in this process: webhooks, an extension API server and
 * OpenID issuers. Also creates the CAs of client certificates, and the files that configure the
 * server under test.
 */
import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Authority, type IssuedCertificate } from '../../support/harness/issued-certificate.ts'
import { ExtensionServer } from './extension.ts'
import { HookServer } from './hooks.ts'
import { IssuerKeys, issuerDocuments, makeToken, type TokenOptions } from './issuers.ts'
import { isRecord, type Json } from './json.ts'
import type { SetUp } from './set-ups.ts'
import type { CertificateOptions } from './steps.ts'
import { fill } from './template.ts'

export class Companions implements AsyncDisposable {
  readonly hooks: HookServer
  readonly extension: ExtensionServer
  /** Audit events that the server sent to the webhook `audit`. */
  readonly auditEvents: Json[]
  /** Folder of the server, set by `writeFiles`. */
  dir: string | undefined
  readonly #setUp: SetUp
  readonly #hookUrls: Record<string, string>
  readonly #issuerUrls: Record<string, string>
  readonly #authorities = {
    client: new Authority('client-ca'),
    proxy: new Authority('proxy-ca'),
    unknown: new Authority('client-ca'),
  }
  readonly #certificates = new Map<string, IssuedCertificate>()
  #keys = new IssuerKeys()

  private constructor(setUp: SetUp, hooks: HookServer, extension: ExtensionServer) {
    const events: Json[] = []
    this.#setUp = setUp
    this.hooks = hooks
    this.extension = extension
    this.auditEvents = events
    const audit = (list: Json): Json => {
      if (isRecord(list) && Array.isArray(list['items'])) events.push(...list['items'])
      return {}
    }
    this.#hookUrls = hooks.serveAll({ audit, ...setUp.hooks })
    const issuers = Object.entries(setUp.issuers ?? {})
    this.#issuerUrls = Object.fromEntries(
      issuers.map(([name]) => [name, `${hooks.url}/issuer/${name}`]),
    )
    for (const [name, options] of issuers) {
      const discovery = fill(options.discovery ?? {}, { issuer: this.#issuerUrls })
      const filled = { ...options, discovery: isRecord(discovery) ? discovery : {} }
      const documents = issuerDocuments(this.#issuerUrl(name), filled, this.#keys)
      for (const [path, document] of Object.entries(documents))
        hooks.publish(`/issuer/${name}${path}`, document)
    }
  }

  static async start(setUp: SetUp): Promise<Companions> {
    return new Companions(setUp, await HookServer.start(), await ExtensionServer.start())
  }

  /**
   * Writes the files of the set-up into the folder of the server. In files and flags, replaces
   * references such as `${dir}`. Returns the resulting flags.
   */
  async writeFiles(dir: string, flags: readonly string[]): Promise<string[]> {
    const pem = {
      client: this.#authorities.client.certificatePem,
      proxy: this.#authorities.proxy.certificatePem,
      hook: Buffer.from(this.hooks.caBundle, 'base64').toString(),
    }
    const variables = { dir, pem, hook: this.#hookUrls, issuer: this.#issuerUrls }
    const files = Object.entries(this.#setUp.files ?? {}).map(
      ([name, content]): [string, string] => {
        const filled = fill(content, variables)
        return [name, typeof filled === 'string' ? filled : JSON.stringify(filled)]
      },
    )
    const authorities = Object.entries(pem).map(([name, text]): [string, string] => [
      `${name}-ca.pem`,
      text,
    ])
    const { certificatePem, keyPem } = this.#authorities.proxy.issue({ cn: 'proxy-client' })
    const own: [string, string][] = [
      ['proxy-client.pem', certificatePem],
      ['proxy-client-key.pem', keyPem],
    ]
    for (const [name, text] of [...authorities, ...own, ...files])
      await writeFile(join(dir, name), text, { mode: 0o600 })
    this.dir = dir
    this.#keys = new IssuerKeys(
      new Map([['service-account', createPrivateKey(readFileSync(join(dir, 'sa.key')))]]),
    )
    return flags.map((flag) => String(fill(flag, variables)))
  }

  token(options: TokenOptions, subject: string): string {
    const key = this.#keys.get(options.key ?? 'rsa')
    const url = options.issuer === undefined ? '' : this.#issuerUrl(options.issuer)
    return makeToken(options, { url, subject, key })
  }

  /**
   * Returns a certificate. Always returns the same certificate for equal options, so that
   * connections with it are reused.
   */
  certificate({ ca = 'client', ...wanted }: CertificateOptions): IssuedCertificate {
    const id = JSON.stringify([ca, wanted])
    const known = this.#certificates.get(id)
    if (known !== undefined) return known
    const issued = this.#authorities[ca].issue(wanted)
    this.#certificates.set(id, issued)
    return issued
  }

  #issuerUrl(name: string): string {
    const url = this.#issuerUrls[name]
    if (url === undefined) throw new Error(`the set-up has no issuer named ${name}`)
    return url
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hooks[Symbol.asyncDispose]()
    await this.extension[Symbol.asyncDispose]()
  }
}
