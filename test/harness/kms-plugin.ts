/** A KMS plugin, v1beta1 and v2, behind a Unix domain socket: gRPC on Node's own HTTP/2. Its keys are random, or those that a test gives. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'

const UNKNOWN = 2
const UNIMPLEMENTED = 12

/** How the plugin encrypts, with one of its keys. */
export type PluginCipher = {
  readonly seal: (plain: Buffer, keyId: string) => Buffer
  /** Fails if it cannot read it. */
  readonly open: (sealed: Buffer) => Buffer
}

/** AES-GCM with a key for each id; what it sealed begins with the id. */
export class PluginKeys implements PluginCipher {
  readonly #keys = new Map<string, Buffer>()

  seal(plain: Buffer, keyId: string): Buffer {
    const key = this.#keys.get(keyId) ?? randomBytes(32)
    this.#keys.set(keyId, key)
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
    return Buffer.concat([Buffer.from([keyId.length]), Buffer.from(keyId), nonce, cipher.getAuthTag(), sealed])
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
  /** Of each call: `v2 Encrypt`. */
  readonly calls: string[] = []
  keyId = 'key-1'
  healthz = 'ok'
  version = 'v2'
  annotations: { readonly [name: string]: string } = {
    'mode.plugin.example.com': 'test',
    'version.plugin.example.com': '1',
  }
  /** Holds back every answer until it resolves. */
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
    const server = createServer()
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.on('close', () => this.#sessions.delete(session))
      session.on('error', () => undefined)
    })
    server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => void this.#answer(stream, headers[':path'] ?? '', Buffer.concat(chunks).subarray(5)))
      stream.on('error', () => undefined)
    })
    server.listen(this.path)
    await once(server, 'listening')
    this.#server = server
  }

  /** As if the process were killed: connections break. */
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

  async #answer(stream: ServerHttp2Stream, path: string, message: Buffer): Promise<void> {
    await this.pause
    if (stream.destroyed) return
    const [, version = '', method = ''] = /^\/(v1beta1|v2)\.KeyManagementService\/(\w+)$/.exec(path) ?? []
    this.calls.push(`${version === 'v2' ? 'v2' : 'v1'} ${method}`)
    const trailers: { [name: string]: string } = { 'grpc-status': '0' }
    let answer: Buffer | undefined
    try {
      answer = this.#messageFor(version, method, fieldsOf(message))
      if (answer === undefined) trailers['grpc-status'] = String(UNIMPLEMENTED)
    } catch (error) {
      trailers['grpc-status'] = String(UNKNOWN)
      trailers['grpc-message'] = error instanceof Error ? error.message : String(error)
    }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    if (answer === undefined) return void stream.end()
    const head = Buffer.alloc(5)
    head.writeUInt32BE(answer.length, 1)
    stream.end(Buffer.concat([head, answer]))
  }

  #messageFor(version: string, method: string, fields: ReadonlyMap<number, Buffer>): Buffer | undefined {
    const bytes = (field: number): Buffer => fields.get(field) ?? Buffer.alloc(0)
    if (version === 'v1beta1') {
      if (method === 'Version') return bytesField(1, 'v1beta1')
      if (method === 'Encrypt') return bytesField(1, this.cipher.seal(bytes(2), this.keyId))
      return method === 'Decrypt' ? bytesField(1, this.cipher.open(bytes(2))) : undefined
    }
    if (method === 'Status') {
      return Buffer.concat([bytesField(1, this.version), bytesField(2, this.healthz), bytesField(3, this.keyId)])
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

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]

function bytesField(field: number, value: Uint8Array | string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([field * 8 + 2, ...varint(bytes.length)]), bytes])
}

/** All fields of requests have a length; of one that is repeated the last is kept. */
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
