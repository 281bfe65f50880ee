/**
 * The objects of one resource of a remote API server. A failed request does not show that an object
 * is gone: only a response that names the object proves that it does not exist. While the server is
 * unreachable, it is called only occasionally, so that callers need not wait for it.
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

/** Initial and maximum backoff after a call to a server fails. */
const AWAY_MS_FIRST = 500
const AWAY_MS_MAX = 30_000
/**
 * Maximum number of concurrent calls to all remote servers. It is lower than the number of a
 * controller's workers, so that some workers can process other objects while remote servers do not
 * respond.
 */
const CALLS_MAX = 8
/**
 * Status codes of responses to names that are too long or invalid. They do not mean that the server
 * is unreachable.
 */
const nameRefusals: ReadonlySet<number> = new Set([400, 414, 431])

/** Counts the calls of one controller to remote servers that are in progress. */
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
   * Whether a response proves that the object does not exist. A server that does not serve the
   * resource also responds with 404, but does not name the object. The response can also name
   * another object with the same name, such as the namespace.
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

  /** Records a failure. Calls that fail at the same time count as one failure. */
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
