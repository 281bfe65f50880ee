/**
 * Faults between clients and the server: errors, delays, lost connections, ended watches and stale
 * reads. They do not affect the server's own controllers or requests by `cluster.request`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ResourceInfo } from '../../api/context.ts'
import {
  ApiError,
  conflict,
  modifiedMeanwhile,
  type Reason,
  TextError,
  toStatus,
} from '../../api/errors.ts'
import type { ApiRequest, ApiResponse, Handler } from '../../api/request.ts'
import { printError } from '../../request/discovery/print.ts'
import { requestInfo } from '../../request/filters/request-info.ts'
import { canMeet, checkEffect, checkMatch } from './check-fault.ts'
import { type AddedResources, checkResource } from './check-resource.ts'
import { cutFrames, type OpenWatch } from './cut-watch.ts'
import { discard } from './discard.ts'
import type { FaultEffect } from './fault-effect.ts'
import { type FaultMatch, isMatch, nameInBody } from './fault-match.ts'
import type { RefusedResponse } from './refusals.ts'

/** A server with a copy of the state at some time. This copy never changes. */
export type FrozenServer = AsyncDisposable & { readonly handler: Handler }

export type FaultsOptions = {
  /** Minor version of Kubernetes that the cluster implements. */
  readonly release: number
  /** Returns the custom and aggregated resources that the cluster has. */
  readonly addedResources: () => AddedResources
  /**
   * Returns a server with a copy of the current state. The server starts with its first request.
   */
  readonly freeze: () => FrozenServer
  /** Called when a fault has rejected a request. */
  readonly onRefused: (request: ApiRequest, info: ResourceInfo, response: RefusedResponse) => void
}

/** A fault that a test has set. */
export class Fault implements Disposable {
  readonly match: FaultMatch
  readonly effect: FaultEffect
  /** The number of requests to which the fault was applied. */
  hits = 0
  /** @internal */
  readonly frozen: FrozenServer | undefined
  readonly #remove: (fault: Fault) => void
  #passed = 0

  /** @internal */
  constructor(
    match: FaultMatch,
    effect: FaultEffect,
    {
      frozen,
      remove,
    }: { readonly frozen: FrozenServer | undefined; readonly remove: (fault: Fault) => void },
  ) {
    this.match = match
    this.effect = effect
    this.frozen = frozen
    this.#remove = remove
  }

  /** Turns the fault off. Requests are served normally from then on. */
  off(): void {
    this.#remove(this)
  }

  /** Turns the fault off at the end of a block that begins with `using`. */
  [Symbol.dispose](): void {
    this.off()
  }

  /**
   * Counts a matching request. Returns true if the fault applies to the request.
   * @internal
   */
  take(): boolean {
    if (this.#passed < (this.match.after ?? 0)) {
      this.#passed++
      return false
    }
    if (this.hits >= (this.match.times ?? Infinity)) return false
    this.hits++
    return true
  }
}

/**
 * The faults of a cluster. They do not apply to the server's own controllers, or to
 * `cluster.request`.
 */
export class Faults {
  readonly #options: FaultsOptions
  readonly #set = new Set<Fault>()
  readonly #watches = new Set<OpenWatch>()
  /**
   * The servers that faults with staleRead used, and that are stopping after these faults were
   * turned off.
   */
  readonly #ending = new Set<Promise<void>>()
  #stopping = new AbortController()

  /** @internal */
  constructor(options: FaultsOptions) {
    this.#options = options
  }

  /**
   * Sets a fault for requests from now on. If several faults match a request, all delays apply, and
   * then the first other fault. Fails if a field is unknown, of the wrong type, or out of range, or
   * if the resource does not exist. For a custom resource, create the CustomResourceDefinition
   * before you set the fault.
   */
  on(match: FaultMatch, effect: FaultEffect): Fault {
    checkMatch(match)
    checkEffect(effect, match)
    const { release, addedResources } = this.#options
    if (match.resource !== undefined) checkResource(match.resource, addedResources(), release)
    const frozen = 'staleRead' in effect ? this.#options.freeze() : undefined
    const fault = new Fault(match, effect, { frozen, remove: (one) => this.#remove(one) })
    this.#set.add(fault)
    if ('closeWatch' in effect) void this.#closeOpen(fault, effect.closeWatch)
    return fault
  }

  /** Turns all faults off. */
  clear(): void {
    for (const fault of this.#set) this.#remove(fault)
    this.#stopping.abort()
    this.#stopping = new AbortController()
  }

  /** @internal */
  around(handler: Handler): Handler {
    return (request) =>
      this.#set.size === 0 ? this.#passOn(request, handler) : this.#applyFaults(request, handler)
  }

  /** @internal */
  async end(): Promise<void> {
    this.clear()
    await Promise.all(this.#ending)
  }

  #remove(fault: Fault): void {
    if (!this.#set.delete(fault) || fault.frozen === undefined) return
    const ending = Promise.resolve(fault.frozen[Symbol.asyncDispose]())
    this.#ending.add(ending)
    void ending.then(() => this.#ending.delete(ending))
  }

  async #applyFaults(request: ApiRequest, handler: Handler): Promise<ApiResponse> {
    const info = infoOf(request)
    if (info === undefined) return handler(request)
    for (const fault of this.#set) {
      const { match, effect } = fault
      if (!canMeet(effect, info.verb)) continue
      if (
        !(await isMatch(match, info, () => nameOf(request))) ||
        !this.#set.has(fault) ||
        !fault.take()
      )
        continue
      if ('delayMs' in effect) await this.#delay(effect.delayMs, request)
      else return this.#apply(fault, { request, info, handler })
    }
    return this.#passOn(request, handler, info)
  }

  async #apply(
    { effect, frozen }: Fault,
    { request, info, handler }: { request: ApiRequest; info: ResourceInfo; handler: Handler },
  ): Promise<ApiResponse> {
    if ('status' in effect || 'conflict' in effect) {
      const isCreate = info.name === '' && info.verb === 'create'
      const name = isCreate ? await nameOf(request) : info.name
      const error =
        'status' in effect ? statusError(effect) : conflict(info, name, modifiedMeanwhile)
      const response = errorResponse(error, request)
      this.#options.onRefused(request, { ...info, name }, response)
      return response
    }
    if ('staleRead' in effect && frozen !== undefined) return frozen.handler(request)
    if ('dropConnection' in effect) {
      if (effect.dropConnection === 'after') discard(await handler(request))
      // If the handler throws, the listener closes the connection.
      throw new Error('a fault that the test has set drops the connection')
    }
    const afterEvents =
      'closeWatch' in effect && effect.closeWatch !== true ? effect.closeWatch.afterEvents : 0
    return this.#passOn(request, handler, info, afterEvents)
  }

  /**
   * Passes a request to the handler. If the request is a watch and `afterEvents` is given, ends the
   * watch after this number of events.
   */
  async #passOn(
    request: ApiRequest,
    handler: Handler,
    info: ResourceInfo | undefined = infoOf(request),
    afterEvents?: number,
  ): Promise<ApiResponse> {
    const response = await handler(request)
    if (!('frames' in response) || info === undefined) return response
    const isLines = String(response.headers['content-type']).startsWith('application/json')
    const onEnd = (): void => void this.#watches.delete(watch)
    const { frames, watch } = cutFrames(response.frames, { info, isLines, onEnd })
    if (afterEvents !== undefined) watch.closeAfter(afterEvents)
    this.#watches.add(watch)
    return { ...response, frames }
  }

  async #closeOpen(fault: Fault, close: true | { readonly afterEvents: number }): Promise<void> {
    for (const watch of this.#watches) {
      if (!(await isMatch(fault.match, watch.info, async () => '')) || !fault.take()) continue
      watch.closeAfter(close === true ? 0 : close.afterEvents)
    }
  }

  /** Waits for this time, but returns early if the client disconnects or the faults are cleared. */
  async #delay(ms: number, { signal }: ApiRequest): Promise<void> {
    await sleep(ms, undefined, { signal: AbortSignal.any([signal, this.#stopping.signal]) }).catch(
      () => undefined,
    )
  }
}

/** Returns the resource of a request, or undefined if the path does not name a resource. */
function infoOf(request: ApiRequest): ResourceInfo | undefined {
  try {
    const info = requestInfo(request)
    return info.kind === 'resource' ? info : undefined
  } catch (error) {
    // The path is malformed, which the handler reports.
    if (error instanceof TextError) return undefined
    throw error
  }
}

const nameOf = async (request: ApiRequest): Promise<string> => {
  try {
    return nameInBody(await request.body())
  } catch (error) {
    // The body cannot be read, which the handler reports.
    if (error instanceof ApiError) return ''
    throw error
  }
}

const reasons: ReadonlyMap<number, Reason> = new Map([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [409, 'Conflict'],
  [410, 'Expired'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
])

function statusError(effect: Extract<FaultEffect, { status: number }>): ApiError {
  const {
    status,
    reason = reasons.get(status),
    message = `a fault that the test has set: ${status}`,
    retryAfterSeconds,
  } = effect
  return new ApiError(
    status,
    reason,
    message,
    retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } },
  )
}

function errorResponse(error: ApiError, request: ApiRequest) {
  const status = toStatus(error)
  const { type, body } = printError(status, request)
  const seconds = error.details?.retryAfterSeconds
  const retry = seconds === undefined ? {} : { 'retry-after': `${seconds}` }
  return {
    status: error.code,
    headers: { 'content-type': type, 'cache-control': 'no-cache, private', ...retry },
    body,
    shownStatus: status,
  }
}
