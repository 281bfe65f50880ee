/** A signer of service account tokens behind a Unix domain socket, as gRPC on Node's own HTTP/2, in bytes written by hand. */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'

const UNIMPLEMENTED = 12

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]
const numberField = (field: number, value: number): Buffer => Buffer.from([field * 8, ...varint(value)])
const bytesField = (field: number, value: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([field * 8 + 2, ...varint(bytes.length)]), bytes])
}

/** The length of the claims takes one to three bytes. */
function readClaims(message: Buffer): string {
  let at = 1
  while ((message[at++] ?? 0) >= 128);
  return message.subarray(at).toString()
}

type Key = { readonly id: string; readonly privateKey: KeyObject; readonly isExcluded: boolean }

export class ExternalSignerServer implements AsyncDisposable {
  readonly path: string
  refreshSeconds = 3600
  secondsMax = 7200
  /** Of each call. */
  readonly calls: string[] = []
  /** Further fields of the header of signed tokens. */
  extraHeader: object = {}
  #keys: readonly Key[] = []
  #server: Http2Server | undefined

  constructor(path: string) {
    this.path = path
    this.rotate('first')
  }

  /** New tokens are signed by a new key; those of before can still be verified. */
  rotate(id: string, { isExcluded = false } = {}): void {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#keys = [{ id, privateKey, isExcluded }, ...this.#keys]
  }

  async start(): Promise<void> {
    this.#server = createServer()
    this.#server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => this.#answer(stream, headers[':path'] ?? '', Buffer.concat(chunks).subarray(5)))
      stream.on('error', () => undefined)
    })
    this.#server.listen(this.path)
    await once(this.#server, 'listening')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server?.close()
  }

  #answer(stream: ServerHttp2Stream, path: string, message: Buffer): void {
    const method = path.replace('/v1alpha1.ExternalJWTSigner/', '')
    this.calls.push(method)
    const answer = this.#messageFor(method, message)
    const trailers = { 'grpc-status': answer === undefined ? UNIMPLEMENTED : 0 }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    if (answer === undefined) return void stream.end()
    const head = Buffer.alloc(5)
    head.writeUInt32BE(answer.length, 1)
    stream.end(Buffer.concat([head, answer]))
  }

  #messageFor(method: string, message: Buffer): Buffer | undefined {
    if (method === 'Metadata') return numberField(1, this.secondsMax)
    if (method === 'FetchKeys') return this.#fetchKeys()
    return method === 'Sign' ? this.#sign(readClaims(message)) : undefined
  }

  #fetchKeys(): Buffer {
    const keys = this.#keys.map(({ id, privateKey, isExcluded }) => {
      const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
      const excluded = isExcluded ? [numberField(3, 1)] : []
      return bytesField(1, Buffer.concat([bytesField(1, id), bytesField(2, der), ...excluded]))
    })
    const timestamp = numberField(1, Math.floor(Date.now() / 1000))
    return Buffer.concat([...keys, bytesField(2, timestamp), numberField(3, this.refreshSeconds)])
  }

  #sign(claims: string): Buffer {
    const [key] = this.#keys
    if (key === undefined) return Buffer.alloc(0)
    const header = { alg: 'ES256', kid: key.id, typ: 'JWT', ...this.extraHeader }
    const head = Buffer.from(JSON.stringify(header)).toString('base64url')
    const signed = Buffer.from(`${head}.${claims}`)
    const signature = sign('sha256', signed, { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
    return Buffer.concat([bytesField(1, head), bytesField(2, signature.toString('base64url'))])
  }
}
