/**
 * KMS v2: the server has a random seed, which the plugin encrypts once. The keys of values are
 * derived from the seed, so a write needs no call to the plugin. A read calls the plugin only for
 * the first value of a seed, for example after a restart. The plugin is polled every minute for the
 * ID of its key. When the ID changes, a new seed is created. Values with another key ID are stale.
 *
 * If the plugin fails, reads continue with all known seeds, and writes continue for three minutes
 * (KEP-3299).
 */
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { messageOf } from '../../../lib/errors.ts'
import { emptyRequest } from '../../etcd/codec/header.ts'
import { TtlCache } from '../../../lib/cache/ttl-cache.ts'
import type { Log } from '../../../lib/telemetry/log.ts'
import { sleep, type Time } from '../../../lib/time/timers.ts'
import { aggregate } from '../../../api/aggregate.ts'
import type { Key } from '../../engine.ts'
import { StorageError } from '../../errors.ts'
import type { Plain } from '../../transform.ts'
import type { RandomPool } from '../../../lib/bytes/random-pool.ts'
import type { Provider } from '../provider.ts'
import {
  aesKeyOf,
  type DekSource,
  Seed,
  SEED_BYTES,
  SEED_OVERHEAD_BYTES,
  seedOf,
} from './dek-source.ts'
import {
  decodeObject,
  dataHeadBytes,
  encodeSource,
  keyIdFault,
  type SealedSource,
  sourceFault,
  sourceKey,
  sourceTypes,
  splitData,
  writeDataHead,
} from './encrypted-object.ts'
import { FailedStep, KeptCheck } from './health.ts'
import { hashOf, type KeyIdUse, type KmsMetrics } from './metrics.ts'
import { kmsMethod, type KmsPlugin } from './plugin.ts'
import { readFirst } from './v1-messages.ts'
import {
  encodeDecrypt,
  encodeEncrypt,
  type PluginStatus,
  readEncrypted,
  readStatus,
} from './v2-messages.ts'

/** Poll intervals, as in kube-apiserver. */
const POLL_MS = 60_000
const POLL_FAILED_MS = 10_000
/**
 * Time for which a seed is used for writes after the plugin last confirmed that its key is current.
 */
const WRITE_MS_MAX = 3 * 60_000
/**
 * Time for which the source of data encryption keys is cached, as in kube-apiserver. The source
 * that is used for writes does not expire.
 */
const SOURCE_MS_MAX = 24 * 60 * 60_000
/**
 * Maximum number of cached sources. The number of sources in use is the number of servers times the
 * number of restarts and key changes since all values were last written.
 */
const SOURCES_MAX = 10_000

const service = '/v2.KeyManagementService'
const status = kmsMethod(`${service}/Status`, readStatus)
const encrypt = kmsMethod(`${service}/Encrypt`, readEncrypted)
const decrypt = kmsMethod(`${service}/Decrypt`, readFirst)

export type KmsV2Options = {
  readonly plugin: KmsPlugin
  readonly nonces: RandomPool
  readonly metrics: KmsMetrics
  readonly time: Time
  readonly log: Log
}

/** A decrypted source of keys. */
type OpenSource = {
  readonly keyId: string
  readonly type: SealedSource['type']
  readonly source: DekSource
  readonly onRead: KeyIdUse
}

/** The seed that is used for writes. */
type WriteSeed = {
  readonly keyId: string
  readonly seed: Seed
  /** The encoded fields that follow the data of every value. */
  readonly tail: Buffer
  /** The key under which the source is cached (`sourceKey`). */
  readonly name: string
  readonly opened: OpenSource
  readonly onWrite: KeyIdUse
  untilMs: number
}

export class KmsV2 implements Disposable {
  readonly provider: Provider
  readonly health: KeptCheck
  readonly #options: KmsV2Options
  readonly #prefix: Buffer
  /**
   * Decrypted sources. Each is cached under two keys: the bytes that follow the data of a stored
   * value, and its `sourceKey`.
   */
  readonly #sources: TtlCache<OpenSource>
  readonly #asked = new Map<string, Promise<OpenSource>>()
  readonly #ended = new AbortController()
  #writing: WriteSeed | undefined
  #version = ''

  constructor(options: KmsV2Options) {
    this.#options = options
    this.#sources = new TtlCache({ sizeMax: SOURCES_MAX }, options.time)
    this.#prefix = Buffer.from(`k8s:enc:kms:v2:${options.plugin.name}:`)
    this.health = new KeptCheck(() => this.#check(), options.time)
    this.provider = {
      prefix: this.#prefix,
      seal: (key, plain) => this.#seal(key, plain),
      open: (key, sealed) => this.#open(key, sealed),
    }
  }

  /**
   * Starts to poll the plugin. Resolves after the first check, even if the check fails, because a
   * plugin may start later than the server.
   */
  async start(): Promise<void> {
    const fault = await this.health.fault()
    if (fault !== undefined) this.#logFault(fault)
    void this.#poll(fault)
  }

  [Symbol.dispose](): void {
    this.#ended.abort()
    this.#options.plugin[Symbol.dispose]()
  }

  async #poll(first: string | undefined): Promise<void> {
    const { signal } = this.#ended
    let fault = first
    while (!signal.aborted) {
      try {
        await sleep(this.#options.time, fault === undefined ? POLL_MS : POLL_FAILED_MS, signal)
      } catch {
        // Stop polling, because the provider has been disposed of.
        return
      }
      fault = await this.health.fault()
      if (fault !== undefined && !signal.aborted) this.#logFault(fault)
    }
  }

  #logFault(error: string): void {
    this.#options.log('error', 'kms plugin failed health check probe', {
      name: this.#options.plugin.name,
      error,
    })
  }

  async #check(): Promise<void> {
    const { plugin } = this.#options
    const reported = await plugin.call(status, emptyRequest()).catch((error: unknown) => {
      throw new FailedStep('status', plugin.name, messageOf(error))
    })
    const faults = this.#statusFaults(reported)
    if (keyIdFault(reported.keyId) === undefined) {
      this.#options.metrics.recordKeyId(plugin.name, reported.keyId)
      const why = await this.#renew(reported.keyId)
      if (why !== undefined) faults.push(why)
    }
    if (faults.length > 0)
      throw new Error(`kmsv2 Provider ${plugin.name} is not healthy, error: ${aggregate(faults)}`)
  }

  #statusFaults({ healthz, version, keyId }: PluginStatus): string[] {
    const faults: string[] = []
    if (healthz !== 'ok') faults.push(`got unexpected healthz status: ${healthz}`)
    if (version !== 'v2' && version !== 'v2beta1')
      faults.push(`expected KMSv2 API version v2, got ${version}`)
    else {
      if (this.#version === '') this.#version = version
      if (this.#version !== version) {
        const first = `the initial status response version ${this.#version}`
        faults.push(`KMSv2 API version should not change after ${first}, got ${version}`)
      }
    }
    const idFault = keyIdFault(keyId)
    if (idFault !== undefined) {
      this.#options.metrics.recordInvalidKeyId(this.#options.plugin.name, idFault.error)
      faults.push(
        `got invalid KMSv2 KeyID hash ${JSON.stringify(hashOf(keyId))}: ${idFault.message}`,
      )
    }
    return faults
  }

  /**
   * Extends the use of the seed if the plugin still has the same key. Otherwise creates a new seed.
   * Returns an error message if this fails.
   */
  async #renew(keyId: string): Promise<string | undefined> {
    // Count the time from before the call, so that the limit also applies if the plugin replaces
    // its key during the call.
    const untilMs = this.#options.time.monotonicMs() + WRITE_MS_MAX
    if (this.#writing?.keyId === keyId) {
      this.#writing.untilMs = untilMs
      this.#keepWriting(this.#writing)
      return undefined
    }
    const uid = randomUUID()
    try {
      const made = await this.#newWriting(uid, untilMs)
      if (made.keyId === keyId) {
        this.#keepWriting(made)
        this.#writing = made
        return undefined
      }
      const ids = `statusKeyIDHash=${JSON.stringify(hashOf(keyId))}, encryptKeyIDHash=${JSON.stringify(hashOf(made.keyId))}`
      return `failed to rotate DEK uid=${JSON.stringify(uid)}, ${ids}`
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      return `failed to rotate DEK uid=${JSON.stringify(uid)}, errGen=${error.message}`
    }
  }

  async #newWriting(uid: string, untilMs: number): Promise<WriteSeed> {
    const { plugin, nonces, metrics, time } = this.#options
    const startMs = time.monotonicMs()
    const bytes = randomBytes(SEED_BYTES)
    const secret = createSecretKey(bytes)
    metrics.generated(time.monotonicMs() - startMs)
    const encrypted = await plugin
      .call(encrypt, encodeEncrypt(bytes, uid))
      .finally(() => bytes.fill(0))
    const fault = sourceFault(encrypted)
    if (fault !== undefined) throw new StorageError('corrupt', fault)
    const source = { ...encrypted, type: sourceTypes.seed }
    const seed = new Seed(secret, nonces)
    const onWrite = metrics.keyIdUse(plugin.name, source.keyId, 'to_storage')
    const opened = this.#opened(source, seed)
    return {
      keyId: source.keyId,
      seed,
      tail: encodeSource(source),
      name: sourceKey(source),
      opened,
      onWrite,
      untilMs,
    }
  }

  /** Caches the source again at each check, so that it does not expire while it is in use. */
  #keepWriting({ tail, name, opened }: WriteSeed): void {
    this.#keep(tail.toString('latin1'), opened)
    this.#keep(name, opened)
  }

  #opened({ keyId, type }: SealedSource, source: DekSource): OpenSource {
    const { metrics, plugin } = this.#options
    return { keyId, type, source, onRead: metrics.keyIdUse(plugin.name, keyId, 'from_storage') }
  }

  #keep(name: string, source: OpenSource): void {
    this.#sources.set(name, source, { ttlMs: SOURCE_MS_MAX })
    this.#options.metrics.sourcesKept(this.#options.plugin.name, this.#sources.size)
  }

  #seal(key: Key, plain: Buffer): Buffer {
    const writing = this.#current()
    const nowMs = this.#options.time.monotonicMs()
    if (nowMs > writing.untilMs) throw expired(writing, this.#options.time.wallMs(), nowMs)
    const { tail, seed, onWrite } = writing
    const dataBytes = plain.length + SEED_OVERHEAD_BYTES
    const at = this.#prefix.length + dataHeadBytes(dataBytes)
    const value = Buffer.allocUnsafe(at + dataBytes + tail.length)
    value.set(this.#prefix)
    writeDataHead(value, this.#prefix.length, dataBytes)
    value.set(tail, seed.sealInto(value, at, plain, key))
    onWrite()
    return value
  }

  #current(): WriteSeed {
    if (this.#writing === undefined)
      throw new StorageError('sealed', 'got unexpected nil transformer')
    return this.#writing
  }

  #open(key: Key, sealed: Buffer): Plain | Promise<Plain> {
    const split = splitData(sealed)
    const known = split && this.#sources.get(split.rest.toString('latin1'))
    // Fail if there is no current key, because the server then cannot decide whether the value is
    // stale.
    const writing = this.#current()
    if (split !== undefined && known !== undefined)
      return openBy(known, split.data, { key, writing })
    const object = decodeObject(sealed)
    const name = sourceKey(object.source)
    const same = this.#sources.get(name)
    if (same !== undefined) {
      if (split !== undefined) this.#keep(split.rest.toString('latin1'), same)
      return openBy(same, object.data, { key, writing })
    }
    return this.#ask(name, object.source).then((source) =>
      openBy(source, object.data, { key, writing: this.#current() }),
    )
  }

  /** Decrypts a source. Concurrent callers share one call. */
  #ask(name: string, source: SealedSource): Promise<OpenSource> {
    const asked = this.#asked.get(name)
    if (asked !== undefined) return asked
    this.#options.metrics.missed()
    const asking = this.#decrypt(name, source).finally(() => this.#asked.delete(name))
    this.#asked.set(name, asking)
    return asking
  }

  async #decrypt(name: string, source: SealedSource): Promise<OpenSource> {
    const { plugin, nonces } = this.#options
    const bytes = await plugin
      .call(decrypt, encodeDecrypt(source, randomUUID()))
      .catch((error: unknown) => {
        if (!(error instanceof StorageError)) throw error
        throw new StorageError(error.code, `failed to decrypt DEK, error: ${error.message}`, {
          cause: error.cause,
        })
      })
    try {
      const opened = this.#opened(
        source,
        source.type === sourceTypes.seed ? seedOf(bytes, nonces) : aesKeyOf(bytes, nonces),
      )
      this.#keep(name, opened)
      return opened
    } finally {
      bytes.fill(0)
    }
  }
}

type ReadSeed = { readonly key: Key; readonly writing: WriteSeed }

function openBy(
  { source, keyId, type, onRead }: OpenSource,
  data: Buffer,
  { key, writing }: ReadSeed,
): Plain {
  onRead()
  return {
    value: source.open(data, key),
    stale: keyId !== writing.keyId || type !== sourceTypes.seed,
  }
}

function expired({ keyId, untilMs }: WriteSeed, wallMs: number, nowMs: number): StorageError {
  const [end, now] = [wallMs - (nowMs - untilMs), wallMs].map((ms) =>
    new Date(ms).toISOString().replace(/\.\d+/, ''),
  )
  const what = `encryptedDEKSource with keyID hash ${JSON.stringify(hashOf(keyId))}`
  return new StorageError('sealed', `${what} expired at ${end} (current time is ${now})`)
}
