/**
 * KMS v1: each value has a random key, which the plugin encrypts. Therefore every write calls the
 * plugin, and so does every read whose key is not cached. A stored value consists of the length of
 * the encrypted key (two bytes), the encrypted key, and the data in AES-GCM. Servers before 1.25
 * wrote the data in AES-CBC.
 */
import { createSecretKey, randomBytes } from 'node:crypto'
import { messageOf } from '../../../lib/errors.ts'
import type { Time } from '../../../lib/time/timers.ts'
import type { Key } from '../../engine.ts'
import { isCode, StorageError } from '../../errors.ts'
import type { Plain } from '../../transform.ts'
import { AesCbc } from '../aes-cbc.ts'
import { AesGcm } from '../aes-gcm.ts'
import { unreadable } from '../cipher.ts'
import { unreadableBy } from '../failures.ts'
import type { RandomPool } from '../../../lib/bytes/random-pool.ts'
import type { Provider } from '../provider.ts'
import { FailedStep, KeptCheck } from './health.ts'
import type { KmsMetrics } from './metrics.ts'
import { kmsMethod, type KmsPlugin } from './plugin.ts'
import { encodeV1Bytes, encodeVersion, readFirst, readVersion, v1Version } from './v1-messages.ts'

const KEY_BYTES = 32
const LENGTH_BYTES = 2
const LENGTH_MAX = 0xffff

const service = '/v1beta1.KeyManagementService'
const version = kmsMethod(`${service}/Version`, readVersion)
const encrypt = kmsMethod(`${service}/Encrypt`, readFirst)
const decrypt = kmsMethod(`${service}/Decrypt`, readFirst)

export type KmsV1Options = {
  readonly plugin: KmsPlugin
  /** Maximum number of cached keys. 0 or less disables the cache. */
  readonly keysMax: number
  readonly nonces: RandomPool
  readonly metrics: KmsMetrics
  readonly time: Time
}

type Ciphers = { readonly gcm: AesGcm; readonly cbc: AesCbc }

export class KmsV1 implements Disposable {
  readonly provider: Provider
  readonly health: KeptCheck
  readonly #options: KmsV1Options
  readonly #prefix: Buffer
  /** Ciphers by their encrypted key, with the least recently used first. */
  readonly #kept = new Map<string, Ciphers>()
  readonly #asked = new Map<string, Promise<Ciphers>>()
  #isVersionChecked = false

  constructor(options: KmsV1Options) {
    this.#options = options
    this.#prefix = Buffer.from(`k8s:enc:kms:v1:${options.plugin.name}:`)
    this.health = new KeptCheck(() => this.#check(), options.time)
    this.provider = {
      prefix: this.#prefix,
      seal: (key, plain) => this.#seal(key, plain),
      open: (key, sealed) => this.#open(key, sealed),
    }
  }

  [Symbol.dispose](): void {
    this.#options.plugin[Symbol.dispose]()
  }

  async #check(): Promise<void> {
    const { name } = this.#options.plugin
    const failed = (step: 'encrypt' | 'decrypt') => (error: unknown) => {
      throw new FailedStep(step, name, messageOf(error))
    }
    const sealed = await this.#call(encrypt, Buffer.from('ping')).catch(failed('encrypt'))
    await this.#call(decrypt, sealed).catch(failed('decrypt'))
  }

  async #call(method: typeof encrypt, bytes: Buffer): Promise<Buffer> {
    if (!this.#isVersionChecked) await this.#checkVersion()
    return this.#options.plugin.call(method, encodeV1Bytes(bytes))
  }

  async #checkVersion(): Promise<void> {
    const reported = await this.#options.plugin
      .call(version, encodeVersion())
      .catch((error: unknown) => {
        if (!(error instanceof StorageError)) throw error
        throw new StorageError(
          error.code,
          `failed get version from remote KMS provider: ${error.message}`,
          {
            cause: error.cause,
          },
        )
      })
    if (reported !== v1Version) {
      const why = `KMS provider api version ${reported} is not supported, only ${v1Version} is supported now`
      throw new StorageError('sealed', why)
    }
    this.#isVersionChecked = true
  }

  async #seal(key: Key, plain: Buffer): Promise<Buffer> {
    const { metrics, time } = this.#options
    const startMs = time.monotonicMs()
    const bytes = randomBytes(KEY_BYTES)
    const ciphers = this.#ciphersOf(bytes)
    metrics.generated(time.monotonicMs() - startMs)
    const sealedKey = await this.#call(encrypt, bytes).finally(() => bytes.fill(0))
    if (sealedKey.length > LENGTH_MAX)
      throw new StorageError('sealed', 'the KMS plugin returned a key that is too long')
    this.#keep(sealedKey.toString('latin1'), ciphers)
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt16BE(sealedKey.length)
    return ciphers.gcm.seal(Buffer.concat([this.#prefix, length, sealedKey]), plain, key)
  }

  #open(key: Key, sealed: Buffer): Plain | Promise<Plain> {
    const keyBytes = sealed.length < LENGTH_BYTES ? Number.POSITIVE_INFINITY : sealed.readUInt16BE()
    if (sealed.length < LENGTH_BYTES + keyBytes) {
      const what = 'failed to read uint16 length prefixed data'
      throw unreadable(`invalid data encountered by envelope transformer: ${what}`)
    }
    const sealedKey = sealed.subarray(LENGTH_BYTES, LENGTH_BYTES + keyBytes)
    const data = sealed.subarray(LENGTH_BYTES + keyBytes)
    const name = sealedKey.toString('latin1')
    const kept = this.#kept.get(name)
    if (kept !== undefined) {
      this.#keep(name, kept)
      return openBy(kept, data, key)
    }
    // Copy the bytes, because they are decrypted later and the caller may reuse their memory.
    const own = Buffer.from(data)
    return this.#ask(name, Buffer.from(sealedKey)).then((ciphers) => openBy(ciphers, own, key))
  }

  #ask(name: string, sealedKey: Buffer): Promise<Ciphers> {
    const asked = this.#asked.get(name)
    if (asked !== undefined) return asked
    if (this.#options.keysMax > 0) this.#options.metrics.missed()
    const asking = this.#decrypt(name, sealedKey).finally(() => this.#asked.delete(name))
    this.#asked.set(name, asking)
    return asking
  }

  async #decrypt(name: string, sealedKey: Buffer): Promise<Ciphers> {
    const bytes = await this.#call(decrypt, sealedKey)
    if (![16, 24, 32].includes(bytes.length))
      throw unreadable(`crypto/aes: invalid key size ${bytes.length}`)
    const ciphers = this.#ciphersOf(bytes)
    bytes.fill(0)
    this.#keep(name, ciphers)
    return ciphers
  }

  #ciphersOf(bytes: Buffer): Ciphers {
    const secret = createSecretKey(bytes)
    const { nonces } = this.#options
    return { gcm: new AesGcm(secret, nonces), cbc: new AesCbc(secret, nonces) }
  }

  #keep(name: string, ciphers: Ciphers): void {
    const { keysMax, metrics } = this.#options
    if (keysMax <= 0) return
    this.#kept.delete(name)
    this.#kept.set(name, ciphers)
    if (this.#kept.size > keysMax)
      for (const first of this.#kept.keys()) return void this.#kept.delete(first)
    metrics.keysKept(this.#kept.size / keysMax)
  }
}

function openBy({ gcm, cbc }: Ciphers, data: Buffer, key: Key): Plain {
  const errors: unknown[] = []
  for (const [at, cipher] of [gcm, cbc].entries()) {
    try {
      return { value: cipher.open(data, key), stale: at > 0 }
    } catch (error) {
      if (!isCode(error, 'corrupt')) throw error
      errors.push(error)
    }
  }
  throw unreadableBy(errors)
}
