/**
 * A client for a KMS plugin at a Unix domain socket. Calls have a timeout, and error messages are
 * the same as kube-apiserver's.
 */
import { Channel, type Method } from '../../../net/grpc/channel.ts'
import { Endpoints } from '../../../net/grpc/endpoints.ts'
import { type GrpcCode, GrpcError } from '../../../net/grpc/errors.ts'
import { unixEndpoint } from '../../../net/grpc/unix-socket.ts'
import type { Log } from '../../../lib/telemetry/log.ts'
import type { Time } from '../../../lib/time/timers.ts'
import { StorageError } from '../../errors.ts'
import type { KmsMetrics } from './metrics.ts'

export type PluginOptions = {
  readonly name: string
  /** Path of the socket. `@name` is a name in the abstract namespace. */
  readonly path: string
  readonly timeoutMs: number
}

export type KmsPluginEnvironment = {
  readonly time: Time
  readonly log: Log
  readonly metrics: KmsMetrics
}

export class KmsPlugin implements Disposable {
  readonly name: string
  readonly #endpoints: Endpoints
  readonly #channel: Channel
  readonly #metrics: KmsMetrics

  constructor(
    { name, path, timeoutMs }: PluginOptions,
    { time, log, metrics }: KmsPluginEnvironment,
  ) {
    this.name = name
    this.#metrics = metrics
    this.#endpoints = new Endpoints({
      urls: [unixEndpoint(path)],
      tls: undefined,
      clock: time,
      log,
    })
    this.#channel = new Channel({ endpoints: this.#endpoints, clock: time, timeoutMs })
  }

  /**
   * Calls the plugin. Rejects with a StorageError: 'sealed' if there was no response, or 'corrupt'
   * if the plugin returned an error.
   */
  async call<T>(method: Method<T>, frame: Buffer): Promise<T> {
    const done = this.#metrics.measureCall(this.name, method.path)
    try {
      const answer = await this.#channel.unary(method, frame)
      done('OK')
      return answer
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error
      done(goCodeOf(error.code))
      const code = withoutAnswer.has(error.code) ? 'sealed' : 'corrupt'
      throw new StorageError(
        code,
        `rpc error: code = ${goCodeOf(error.code)} desc = ${error.message}`,
        {
          cause: error,
        },
      )
    }
  }

  [Symbol.dispose](): void {
    this.#endpoints.close()
  }
}

/** Returns the code with Go's spelling, which is Canceled with one l. */
const goCodeOf = (code: GrpcCode): string => (code === 'Cancelled' ? 'Canceled' : code)

/**
 * Codes that mean that the plugin is unreachable, too slow or too busy. The same call may succeed
 * later.
 */
const withoutAnswer: ReadonlySet<GrpcCode> = new Set([
  'Unavailable',
  'DeadlineExceeded',
  'Cancelled',
  'ResourceExhausted',
  'Aborted',
])

/**
 * Defines a method of the plugin. Receiving the same request twice does no harm, so every call can
 * be retried.
 */
export const kmsMethod = <T>(path: string, read: Method<T>['read']): Method<T> => ({
  path,
  read,
  isRead: true,
  requireLeader: false,
})
