/**
 * What goes with a request all the way down: who asks, about what, how long they wait, and what is gathered on the way for
 * the answer (warnings) and for the audit log (annotations). Most requests need little of it, so what costs is made when
 * it is first asked for.
 */
import { assert } from '../lib/assert.ts'
import type { User } from './user.ts'

export type RequestInfo = PathInfo | ResourceInfo

/** A path outside of the resources: discovery, health. */
export type PathInfo = { readonly kind: 'path'; readonly verb: string; readonly path: string }

/** What a path says about resources. Nothing is looked up: whether there is such a resource is another question. */
export type ResourceInfo = {
  readonly kind: 'resource'
  /** A Kubernetes verb; empty for a method that means none. */
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly subresource: string
  /** Empty: none was named. */
  readonly namespace: string
  /** From the path, or, for lists and watches, the one name that a field selector lets through. */
  readonly name: string
  /** The words of the path after the version (and `watch`), as they were sent. */
  readonly segments: readonly string[]
  /** `/watch/…`: the old way to ask for a watch. */
  readonly isWatchPath: boolean
}

export type ContextOptions = {
  readonly auditId: string
  readonly info: RequestInfo
  /** Aborted when the client goes away. */
  readonly clientSignal: () => AbortSignal
  /** How long the request may take, from now on. Infinity for watches, which have a time of their own. */
  readonly timeoutMs: number
  readonly monotonicMs: () => number
}

export class RequestContext {
  readonly auditId: string
  readonly info: RequestInfo
  #user: User | undefined
  #impersonator: User | undefined
  /** Why the request was allowed, in the authorizer's words. */
  accessReason = ''
  /** By the monotonic clock. */
  readonly deadlineMs: number
  readonly #options: ContextOptions
  #signal: AbortSignal | undefined
  #release: (() => void) | undefined
  #warnings: Set<string> | undefined
  #ownWarnings: Set<string> | undefined
  #annotations: Map<string, string> | undefined

  constructor(options: ContextOptions) {
    this.auditId = options.auditId
    this.info = options.info
    this.deadlineMs = options.monotonicMs() + options.timeoutMs
    this.#options = options
  }

  /** Who the request is made as. Nobody asks before that is known. */
  get user(): User {
    assert(this.#user !== undefined, 'a request that goes on has been authenticated')
    return this.#user
  }

  /** Undefined in a request that was refused before its user was known. */
  get knownUser(): User | undefined {
    return this.#user
  }

  /** Who was authenticated, where the request is made as somebody else. */
  get impersonator(): User | undefined {
    return this.#impersonator
  }

  /** `caller` was authenticated and acts as `user`, mostly the same. */
  identify(user: User, caller: User): void {
    this.#user = user
    if (caller !== user) this.#impersonator = caller
  }

  /** Aborted when nobody waits for the answer any more: the client has gone, or the time is up (a TimeoutError). */
  get signal(): AbortSignal {
    this.#signal ??= this.#createSignal()
    return this.#signal
  }

  /** There is an answer: nobody needs the signal any more. */
  end(): void {
    this.#release?.()
    this.#release = undefined
  }

  /** Sent with the answer, as a Warning header. The same words are sent once. */
  warn(text: string): void {
    this.#warnings ??= new Set()
    this.#warnings.add(text)
  }

  /** As `warn`, for what is said of this server and not of the API: the header names who says it. */
  warnOfOwn(text: string): void {
    this.#ownWarnings ??= new Set()
    this.#ownWarnings.add(text)
  }

  get ownWarnings(): readonly string[] {
    return this.#ownWarnings === undefined ? none : [...this.#ownWarnings]
  }

  get warnings(): readonly string[] {
    return this.#warnings === undefined ? none : [...this.#warnings]
  }

  /** The first value of a key stays. */
  annotate(key: string, value: string): void {
    this.#annotations ??= new Map()
    if (!this.#annotations.has(key)) this.#annotations.set(key, value)
  }

  get annotations(): ReadonlyMap<string, string> {
    return this.#annotations ?? new Map()
  }

  #createSignal(): AbortSignal {
    const client = this.#options.clientSignal()
    if (this.deadlineMs === Infinity) return client
    if (client.aborted) return client
    const leftMs = Math.max(0, Math.ceil(this.deadlineMs - this.#options.monotonicMs()))
    // By hand: AbortSignal.any with a timeout costs 30 µs, a quarter of a small request.
    const controller = new AbortController()
    const onGone = (): void => controller.abort(client.reason)
    const timer = setTimeout(() => controller.abort(new DOMException('the time is up', 'TimeoutError')), leftMs)
    timer.unref()
    client.addEventListener('abort', onGone, { once: true })
    this.#release = () => {
      clearTimeout(timer)
      client.removeEventListener('abort', onGone)
    }
    return controller.signal
  }
}

const none: readonly string[] = []
