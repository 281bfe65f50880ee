/** An external signer of ServiceAccount tokens that listens on a Unix domain socket. */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import type { Http2Server } from 'node:http2'
import { bytesField, createGrpcService, varint } from './grpc-service.ts'

const numberField = (field: number, value: number): Buffer =>
  Buffer.from([field * 8, ...varint(value)])

/**
 * Returns the claims in a protobuf message. Skips the length before them, which takes one to three
 * bytes.
 */
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
  /** The method names of all calls so far. */
  readonly calls: string[] = []
  /** Fields that are added to the headers of signed tokens. */
  extraHeader: object = {}
  #keys: readonly Key[] = []
  #server: Http2Server | undefined

  constructor(path: string) {
    this.path = path
    this.rotate('first')
  }

  /** Signs new tokens with a new key. Earlier tokens can still be verified. */
  rotate(id: string, { isExcluded = false } = {}): void {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#keys = [{ id, privateKey, isExcluded }, ...this.#keys]
  }

  async start(): Promise<void> {
    this.#server = createGrpcService(({ path, message }) => {
      const method = path.replace('/v1alpha1.ExternalJWTSigner/', '')
      this.calls.push(method)
      return this.#messageFor(method, message)
    })
    this.#server.listen(this.path)
    await once(this.#server, 'listening')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server?.close()
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
