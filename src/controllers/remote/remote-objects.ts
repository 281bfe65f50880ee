/**
 * The objects of one resource of a remote API server. An object counts as gone only if the server
 * says so in a response that names the object. A failed request is not enough. While the server is
 * unreachable, most requests fail immediately, so that callers need not wait for the server.
 */
import { fieldsOf, textOf } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Time } from '../../lib/time/timers.ts'
import {
  answeredObject,
  type RemoteCall,
  askRemote,
  failureText,
  FAILURE,
  NOT_FOUND,
  type RemoteAnswer,
} from './ask-remote.ts'
import type { RemoteResource } from './remote-content.ts'
import { acceptObject, readHead, type RemoteHead } from './remote-heads.ts'
import { RemoteKeys } from './remote-keys.ts'

/** First and maximum time after a failed call in which the server is not called again. */
const AWAY_MS_FIRST = 500
const AWAY_MS_MAX = 30_000
/**
 * Maximum number of concurrent calls to all remote servers. It is lower than the number of a
 * controller's workers, so that some workers can process other objects while remote servers do not
 * respond.
 */
const CALLS_MAX = 8
/**
 * Status codes with which a server rejects names that are too long or invalid. A server that sends
 * them is reachable.
 */
const nameRefusals: ReadonlySet<number> = new Set([400, 414, 431])

/** The number of calls to remote servers that one controller is currently making. */
export class RemoteCalls {
  underWay = 0
}

export type RemoteObjectsOptions = {
  readonly handle: Handler
  readonly signal: AbortSignal
  readonly log: Log
  readonly time: Time
  readonly calls: RemoteCalls
}

/** Thrown if it is currently unknown whether an object exists. */
export class RemoteAway extends Error {
  override readonly name = 'RemoteAway'
  /** Prefix of the keys of the resource's objects. */
  readonly prefix: string

  constructor(prefix: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.prefix = prefix
  }
}

export class RemoteObjects {
  readonly resource: RemoteResource
  readonly keys: RemoteKeys
  readonly options: RemoteObjectsOptions
  #failures = 0
  #awayUntilMs = 0

  constructor(resource: RemoteResource, options: RemoteObjectsOptions) {
    this.resource = resource
    this.options = options
    this.keys = new RemoteKeys(resource)
  }

  /** Path of the collection across all namespaces. */
  get path(): string {
    const { group, version, plural } = this.resource
    return `/apis/${group}/${version}/${plural}`
  }

  /**
   * Returns the current state of the object, or undefined if the remote server reports that it does
   * not exist. Rejects with RemoteAway if it is unknown whether the object exists.
   */
  async get(key: string): Promise<RemoteHead | undefined> {
    const place = this.keys.parse(key)
    return place && this.#limited(() => this.#ask(place))
  }

  /** Sends a write. Rejects with RemoteAway if there is no response. */
  send(
    asked: Pick<RemoteCall, 'method' | 'path' | 'body' | 'isMergePatch'>,
  ): Promise<RemoteAnswer> {
    const { handle, signal, time } = this.options
    return this.#limited(() => askRemote(handle, { ...asked, signal, timers: time }))
  }

  /**
   * Whether a response proves that an object does not exist. It must have the status 404 and name
   * this object. A server without the resource also responds with 404, but names no object. Other
   * responses name another object, such as a missing namespace.
   */
  isAbsent(answer: RemoteAnswer, name: string): boolean {
    if (answer.status !== NOT_FOUND) return false
    const { group, plural, kind } = this.resource
    const { kind: answered, reason, details } = answeredObject(answer)
    if (answered !== 'Status' || reason !== 'NotFound') return false
    const about = fieldsOf(details)
    const [aboutKind, aboutGroup] = [textOf(about['kind']), textOf(about['group'])]
    if (aboutKind !== '' && aboutKind !== plural && aboutKind !== kind) return false
    return textOf(about['name']) === name && (aboutGroup === '' || aboutGroup === group)
  }

  async #limited<T>(call: () => Promise<T>): Promise<T> {
    const { calls, time } = this.options
    const { prefix } = this.keys
    if (time.monotonicMs() < this.#awayUntilMs)
      throw new RemoteAway(prefix, `the server of ${this.path} was unavailable a moment ago`)
    if (calls.underWay >= CALLS_MAX)
      throw new RemoteAway(prefix, 'too many calls to remote servers are in progress')
    calls.underWay++
    try {
      const answer = await call()
      this.#failures = 0
      return answer
    } catch (error) {
      if (error instanceof RemoteAway) throw error
      this.#recordFailure()
      throw new RemoteAway(prefix, messageOf(error), { cause: error })
    } finally {
      calls.underWay--
    }
  }

  /** Records a failure, unless a failure at about the same time is already recorded. */
  #recordFailure(): void {
    const now = this.options.time.monotonicMs()
    if (now < this.#awayUntilMs) return
    this.#awayUntilMs = now + Math.min(AWAY_MS_FIRST * 2 ** this.#failures++, AWAY_MS_MAX)
  }

  async #ask({
    namespace,
    name,
  }: {
    namespace: string | undefined
    name: string
  }): Promise<RemoteHead | undefined> {
    const { handle, signal, time } = this.options
    const path = this.#pathOf(namespace, name)
    const answer = await askRemote(handle, {
      method: 'GET',
      path,
      accept: acceptObject,
      signal,
      timers: time,
    })
    if (this.isAbsent(answer, name)) return undefined
    if (nameRefusals.has(answer.status))
      throw new RemoteAway(this.keys.prefix, failureText(path, answer))
    if (answer.status >= FAILURE) throw new Error(failureText(path, answer))
    const head = await readHead(answer.bytes)
    if (head.name !== name || head.namespace !== (namespace ?? ''))
      throw new Error(`${path} returned another object`)
    return head
  }

  #pathOf(namespace: string | undefined, name: string): string {
    const { group, version, plural } = this.resource
    const scope = namespace === undefined ? '' : `namespaces/${namespace}/`
    return `/apis/${group}/${version}/${scope}${plural}/${name}`
  }
}
