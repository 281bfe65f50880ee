/**
 * An external signer of service account tokens behind a Unix domain socket (KEP-740). The signer
 * has the private keys; this server creates the claims.
 */
import { parseText } from '../../../api/json-value.ts'
import { isFields } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { messageOf } from '../../../lib/errors.ts'
import { Channel, type Method } from '../../../net/grpc/channel.ts'
import { emptyRequest } from '../../../storage/etcd/codec/header.ts'
import { Endpoints } from '../../../net/grpc/endpoints.ts'
import { GrpcError } from '../../../net/grpc/errors.ts'
import { unixEndpoint } from '../../../net/grpc/unix-socket.ts'
import type { Log } from '../../../lib/telemetry/log.ts'
import type { Metrics } from '../../../lib/telemetry/metrics.ts'
import { sleep, type Time } from '../../../lib/time/timers.ts'
import { ExternalKeys } from './external-keys.ts'
import { encodeSign, readKeys, readMetadata, readSigned, type SignJwtResponse } from './messages.ts'
import { SignerMetrics } from './signer-metrics.ts'

/** Time limit of one call. */
const CALL_MS_MAX = 10_000
/** How long the server waits for the signer at startup, as in kube-apiserver. */
const START_MS_MAX = 60_000
const START_RETRY_MS = 1_000
const KEY_ID_CHARACTERS_MAX = 1024
/** Minimum value that the signer may report as the maximum lifetime of its tokens. */
const SECONDS_MIN = 600

export type ExternalSignerOptions = {
  readonly time: Time
  readonly log: Log
  readonly metrics: Metrics
}

export class ExternalSigner implements Disposable {
  readonly keys: ExternalKeys
  /** Maximum token lifetime that the signer supports, in seconds. Set by `start`. */
  secondsMax = 0
  readonly #endpoints: Endpoints
  readonly #channel: Channel
  readonly #time: Time
  readonly #metrics: SignerMetrics

  /**
   * Creates a client for the signer. `path` is the path of its socket. A path that begins with `@`
   * is a name in the abstract socket namespace.
   */
  constructor(path: string, { time, log, metrics }: ExternalSignerOptions) {
    this.#time = time
    this.#metrics = new SignerMetrics(metrics, time)
    this.#endpoints = new Endpoints({
      urls: [unixEndpoint(path)],
      tls: undefined,
      clock: time,
      log,
    })
    this.#channel = new Channel({ endpoints: this.#endpoints, clock: time, timeoutMs: CALL_MS_MAX })
    this.keys = new ExternalKeys({
      fetch: () => this.#metrics.countFetch(this.#call(fetchKeys, emptyRequest())),
      time,
      log,
      onFetched: (dataSeconds) => this.#metrics.dataTimestamp(dataSeconds),
    })
  }

  /**
   * Connects to the signer, and waits for it if it is not running yet. Rejects if the signer does
   * not start in time or has no valid keys.
   */
  async start(): Promise<void> {
    const untilMs = this.#time.monotonicMs() + START_MS_MAX
    for (;;) {
      try {
        await this.keys.start()
        break
      } catch (error) {
        const isAbsent = error instanceof GrpcError && error.code === 'Unavailable'
        if (!isAbsent || this.#time.monotonicMs() >= untilMs) throw startFault(error)
      }
      await sleep(this.#time, START_RETRY_MS)
    }
    this.secondsMax = await this.#call(metadata, emptyRequest()).catch((error: unknown) => {
      throw startFault(error)
    })
    if (this.secondsMax < SECONDS_MIN) {
      const reported = `max token life supported by external-jwt-signer (${this.secondsMax}s)`
      throw new Error(`${reported} is less than acceptable (min ${SECONDS_MIN}s)`)
    }
  }

  /** Returns a signed token with these claims. */
  sign(claims: object): Promise<string> {
    return this.#metrics.countSign(
      this.#sign(Buffer.from(JSON.stringify(claims)).toString('base64url')),
    )
  }

  async #sign(payload: string): Promise<string> {
    const signed = await this.#call(sign, encodeSign(payload)).catch((cause: Error) => {
      throw new Error(`while signing jwt: ${cause.message}`, { cause })
    })
    const why = await this.#headerFault(signed)
    if (why !== undefined) throw new Error(`while validating header: ${why}`)
    if (!isBase64Url(signed.signature)) throw new Error('empty signature returned')
    return `${signed.header}.${payload}.${signed.signature}`
  }

  /**
   * Returns an error message if the header is invalid. A header must have a type, a key id and an
   * algorithm, and no other field.
   */
  async #headerFault({ header }: SignJwtResponse): Promise<string | undefined> {
    const fields = headerFields(header)
    if (fields === undefined) return 'while parsing header JSON: it is not an object'
    const { alg, kid, typ, ...others } = fields
    const [unknown] = Object.keys(others)
    if (unknown !== undefined)
      return `while parsing header JSON: json: unknown field ${quote(unknown)}`
    if (typ !== 'JWT') return 'bad type'
    if (typeof kid !== 'string' || kid === '') return 'key id missing'
    if (kid.length > KEY_ID_CHARACTERS_MAX) return 'key id longer than 1 kb'
    const algorithm = typeof alg === 'string' ? alg : ''
    if (!algorithms.includes(algorithm)) return `bad signing algorithm ${quote(algorithm)}`
    if (!(await this.keys.isExcluded(kid))) return undefined
    return `key used for signing JWT (kid: ${kid}) is excluded from OIDC discovery docs`
  }

  #call<T>(method: Method<T>, frame: Buffer): Promise<T> {
    return this.#metrics.measure(method.path, this.#channel.unary(method, frame))
  }

  [Symbol.dispose](): void {
    this.keys[Symbol.dispose]()
    this.#endpoints.close()
  }
}

const algorithms: readonly string[] = ['RS256', 'ES256', 'ES384', 'ES512']

const isBase64Url = (text: string): boolean => /^[A-Za-z0-9_-]+$/.test(text)

function headerFields(header: string): { readonly [name: string]: unknown } | undefined {
  if (!isBase64Url(header)) return undefined
  try {
    const fields = parseText(Buffer.from(header, 'base64url').toString('utf8'))
    return isFields(fields) ? fields : undefined
  } catch {
    // The header is not valid JSON, which the caller reports.
    return undefined
  }
}

const startFault = (cause: unknown): Error => {
  const why = messageOf(cause)
  return new Error(
    `while setting up external-jwt-signer: ${why}: check --service-account-signing-endpoint`,
    { cause },
  )
}

const service = '/v1alpha1.ExternalJWTSigner'
const sign = { path: `${service}/Sign`, read: readSigned, isRead: true, requireLeader: false }
const fetchKeys = {
  path: `${service}/FetchKeys`,
  read: readKeys,
  isRead: true,
  requireLeader: false,
}
const metadata = {
  path: `${service}/Metadata`,
  read: readMetadata,
  isRead: true,
  requireLeader: false,
}
