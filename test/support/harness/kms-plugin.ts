/**
 * A KMS plugin with the versions v1beta1 and v2 on a Unix domain socket. Its keys are random,
 * unless a test provides a cipher.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type { Http2Server, ServerHttp2Session } from 'node:http2'
import { bytesField, createGrpcService } from './grpc-service.ts'

/** Encrypts and decrypts with the keys of the plugin. */
export type PluginCipher = {
  readonly seal: (plain: Buffer, keyId: string) => Buffer
  /** Returns the plaintext. Throws if the value cannot be decrypted. */
  readonly open: (sealed: Buffer) => Buffer
}

/** AES-GCM with one key per ID. Ciphertexts begin with the ID. */
export class PluginKeys implements PluginCipher {
  readonly #keys = new Map<string, Buffer>()

  seal(plain: Buffer, keyId: string): Buffer {
    const key = this.#keys.get(keyId) ?? randomBytes(32)
    this.#keys.set(keyId, key)
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
    return Buffer.concat([
      Buffer.from([keyId.length]),
      Buffer.from(keyId),
      nonce,
      cipher.getAuthTag(),
      sealed,
    ])
  }

  open(sealed: Buffer): Buffer {
    const at = 1 + (sealed[0] ?? 0)
    const keyId = sealed.subarray(1, at).toString()
    const key = this.#keys.get(keyId)
    if (key === undefined) throw new Error(`key ${keyId} is gone`)
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(at, at + 12))
    decipher.setAuthTag(sealed.subarray(at + 12, at + 28))
    return Buffer.concat([decipher.update(sealed.subarray(at + 28)), decipher.final()])
  }

  lose(keyId: string): void {
    this.#keys.delete(keyId)
  }
}

export class KmsPluginServer implements AsyncDisposable {
  readonly path: string
  readonly cipher: PluginCipher
  /** Version and method of all calls so far, such as `v2 Encrypt`. */
  readonly calls: string[] = []
  keyId = 'key-1'
  healthz = 'ok'
  version = 'v2'
  annotations: { readonly [name: string]: string } = {
    'mode.plugin.example.com': 'test',
    'version.plugin.example.com': '1',
  }
  /** Delays every response until this promise resolves. */
  pause: Promise<void> = Promise.resolve()
  readonly #sessions = new Set<ServerHttp2Session>()
  #server: Http2Server | undefined

  constructor(path: string, cipher: PluginCipher = new PluginKeys()) {
    this.path = path
    this.cipher = cipher
  }

  get endpoint(): string {
    return `unix://${this.path}`
  }

  async start(): Promise<void> {
    rmSync(this.path, { force: true })
    const server = createGrpcService(async ({ path, message, isGone }) => {
      await this.pause
      if (isGone()) return undefined
      const [, version = '', method = ''] =
        /^\/(v1beta1|v2)\.KeyManagementService\/(\w+)$/.exec(path) ?? []
      this.calls.push(`${version === 'v2' ? 'v2' : 'v1'} ${method}`)
      return this.#messageFor(version, method, fieldsOf(message))
    })
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.on('close', () => this.#sessions.delete(session))
      session.on('error', () => undefined)
    })
    server.listen(this.path)
    await once(server, 'listening')
    this.#server = server
  }

  /** Stops as if the process had been killed: open connections break. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    for (const session of this.#sessions) session.destroy()
    await closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #messageFor(
    version: string,
    method: string,
    fields: ReadonlyMap<number, Buffer>,
  ): Buffer | undefined {
    const bytes = (field: number): Buffer => fields.get(field) ?? Buffer.alloc(0)
    if (version === 'v1beta1') {
      if (method === 'Version') return bytesField(1, 'v1beta1')
      if (method === 'Encrypt') return bytesField(1, this.cipher.seal(bytes(2), this.keyId))
      return method === 'Decrypt' ? bytesField(1, this.cipher.open(bytes(2))) : undefined
    }
    if (method === 'Status') {
      return Buffer.concat([
        bytesField(1, this.version),
        bytesField(2, this.healthz),
        bytesField(3, this.keyId),
      ])
    }
    if (method === 'Decrypt') return bytesField(1, this.cipher.open(bytes(1)))
    if (method !== 'Encrypt') return undefined
    const annotations = Object.entries(this.annotations).map(([name, value]) =>
      bytesField(3, Buffer.concat([bytesField(1, name), bytesField(2, value)])),
    )
    return Buffer.concat([
      bytesField(1, this.cipher.seal(bytes(1), this.keyId)),
      bytesField(2, this.keyId),
      ...annotations,
    ])
  }
}

/**
 * Parses the fields of a request, which are all strings or bytes. If a field is repeated, only its
 * last value is returned.
 */
function fieldsOf(message: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>()
  for (let at = 0; at < message.length; ) {
    const field = (message[at++] ?? 0) >> 3
    let [length, scale] = [0, 1]
    for (let more = true; more; scale *= 128) {
      const byte = message[at++] ?? 0
      length += (byte & 127) * scale
      more = byte >= 128
    }
    fields.set(field, message.subarray(at, at + length))
    at += length
  }
  return fields
}
