/**
 * The objects of one resource of a remote API server. A request that fails says nothing about them: only an answer that names the object says that
 * it is not there. While the server is away, it is asked now and then, so that those who ask do not wait for it.
 */
import { fieldsOf, textOf } from '../../api/object.ts'
import type { HandleAs } from '../../api/own-request.ts'
import type { Log } from '../../lib/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Time } from '../../lib/timers.ts'
import { answeredObject, askRemote, failureText, FAILURE, NOT_FOUND, type RemoteAnswer } from './ask-remote.ts'
import type { RemoteResource } from './remote-content.ts'
import { acceptObject, readHead, type RemoteHead } from './remote-heads.ts'
import { RemoteKeys } from './remote-keys.ts'

/** After a failure it is not asked for so long: the first time, and at the most. */
const AWAY_MS_FIRST = 500
const AWAY_MS_MAX = 30_000
/** Objects that are asked for at the same time: fewer than a controller has workers, so that a server that does not answer leaves some to others. */
const GETS_MAX = 8

export type RemoteObjectsParts = {
  readonly handle: HandleAs
  readonly signal: AbortSignal
  readonly log: Log
  readonly time: Time
}

/** Nobody can say now whether the object is there. */
export class RemoteAway extends Error {
  override readonly name = 'RemoteAway'
  /** Of the keys of its objects. */
  readonly prefix: string

  constructor(prefix: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.prefix = prefix
  }
}

export class RemoteObjects {
  readonly resource: RemoteResource
  readonly keys: RemoteKeys
  readonly parts: RemoteObjectsParts
  #failures = 0
  #awayUntilMs = 0
  #gets = 0

  constructor(resource: RemoteResource, parts: RemoteObjectsParts) {
    this.resource = resource
    this.parts = parts
    this.keys = new RemoteKeys(resource.group, resource.plural, resource.isNamespaced)
  }

  /** Of all namespaces. */
  get path(): string {
    const { group, version, plural } = this.resource
    return `/apis/${group}/${version}/${plural}`
  }

  /** As it is now; undefined: the remote server says that there is none. Fails with RemoteAway. */
  async get(key: string): Promise<RemoteHead | undefined> {
    const { monotonicMs } = this.parts.time
    const place = this.keys.parse(key)
    if (place === undefined) return undefined
    const { prefix } = this.keys
    if (monotonicMs() < this.#awayUntilMs)
      throw new RemoteAway(prefix, `the server of ${this.path} was away a moment ago`)
    if (this.#gets >= GETS_MAX) throw new RemoteAway(prefix, `the server of ${this.path} has enough to answer`)
    this.#gets++
    try {
      const found = await this.#ask(place)
      this.#failures = 0
      return found
    } catch (error) {
      this.#awayUntilMs = monotonicMs() + Math.min(AWAY_MS_FIRST * 2 ** this.#failures++, AWAY_MS_MAX)
      throw new RemoteAway(prefix, messageOf(error), { cause: error })
    } finally {
      this.#gets--
    }
  }

  async #ask({ namespace, name }: { namespace: string | undefined; name: string }): Promise<RemoteHead | undefined> {
    const { handle, signal, time } = this.parts
    const path = this.#pathOf(namespace, name)
    const answer = await askRemote(handle, { method: 'GET', path, accept: acceptObject, signal, timers: time })
    if (isAbsent(answer, name)) return undefined
    if (answer.status >= FAILURE) throw new Error(failureText(path, answer))
    const head = await readHead(answer.bytes)
    if (head.name !== name) throw new Error(`${path} answers with another object`)
    return head
  }

  #pathOf(namespace: string | undefined, name: string): string {
    const { group, version, plural } = this.resource
    const scope = namespace === undefined ? '' : `namespaces/${namespace}/`
    return `/apis/${group}/${version}/${scope}${plural}/${name}`
  }
}

/** A server that does not know the resource, or is not the one that has it, answers 404, too; but it does not name the object. */
function isAbsent(answer: RemoteAnswer, name: string): boolean {
  if (answer.status !== NOT_FOUND) return false
  const { kind, reason, details } = answeredObject(answer)
  return kind === 'Status' && reason === 'NotFound' && textOf(fieldsOf(details)['name']) === name
}
