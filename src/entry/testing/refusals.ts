/** The newest requests for resources that the server refused. */
import type { ResourceInfo } from '../../api/context.ts'
import type { Status } from '../../api/errors.ts'
import { readVerbs } from '../../api/verbs.ts'
import { Deque } from '../../lib/collections/deque.ts'
import { ownText } from '../../lib/text/own-text.ts'
import type { Revision } from '../../storage/engine.ts'
import {
  charactersOf,
  ENTRY_BYTES,
  type RequestSender,
  type RequestTarget,
  targetOf,
} from './recorded-request.ts'

/** Maximum number of refused requests. An operator that retries without a pause sends many. */
export const REFUSALS_MAX = 10_000
/** Maximum size of the refused requests. */
const BYTES_MAX = 8 << 20

export type Refusal = RequestSender &
  RequestTarget & {
    readonly timeMs: number
    /** The revision of the database when the response was sent. */
    readonly revision: Revision
    readonly code: number
    readonly reason: string
    readonly message: string
  }

/** The response to a request that was refused. */
export type RefusedResponse = {
  readonly status: number
  readonly shownStatus?: Status | undefined
}

/** A refused request, apart from its response. */
export type RefusedContext = {
  readonly info: ResourceInfo
  readonly sender: RequestSender
  readonly timeMs: number
  readonly revision: Revision
  /** Whether the authorizers have allowed the request. */
  readonly isAuthorized: boolean
}

export class Refusals {
  readonly #kept = new Deque<Refusal>()
  #bytes = 0

  add(context: RefusedContext, response: RefusedResponse): void {
    if (isExpected(context, response)) return
    const refusal = toRefusal(context, response)
    this.#kept.push(refusal)
    this.#bytes += bytesOf(refusal)
    while (this.#kept.length > REFUSALS_MAX || this.#bytes > BYTES_MAX) {
      const oldest = this.#kept.shift()
      if (oldest === undefined) return
      this.#bytes -= bytesOf(oldest)
    }
  }

  clear(): void {
    this.#kept.clear()
    this.#bytes = 0
  }

  /** Returns the refused requests, the oldest first. */
  *all(): Generator<Refusal> {
    for (let i = 0; i < this.#kept.length; i++) {
      const refusal = this.#kept.at(i)
      if (refusal !== undefined) yield refusal
    }
  }
}

/**
 * Whether a refusal is normal and therefore not recorded. Controllers read objects to find out
 * whether they exist, and tests read objects again and again until a condition holds.
 */
const isExpected = ({ info, sender }: RefusedContext, { status }: RefusedResponse): boolean =>
  (info.verb === 'get' && status === NOT_FOUND) ||
  (sender.source === 'test' && readVerbs.has(info.verb))

const NOT_FOUND = 404

function toRefusal(
  { info, sender, timeMs, revision, isAuthorized }: RefusedContext,
  { status, shownStatus }: RefusedResponse,
): Refusal {
  // Messages of webhooks, policies and validation may quote the object. Messages of authorization
  // contain only its name.
  const { resource, group, namespace, name } = targetOf(info)
  const isSecret = group === '' && resource === 'secrets'
  const message = isSecret && isAuthorized ? '' : (shownStatus?.message ?? '')
  return {
    ...sender,
    timeMs,
    revision,
    resource: ownText(resource),
    group: ownText(group),
    namespace: ownText(namespace),
    name: ownText(name || (shownStatus?.details?.name ?? '')),
    code: status,
    reason: shownStatus?.reason ?? '',
    message: ownText(message),
  }
}

function bytesOf(refusal: Refusal): number {
  const { resource, group, namespace, name, message } = refusal
  const texts = [resource, group, namespace, name, message]
  return texts.reduce((sum, { length }) => sum + length, charactersOf(refusal) + ENTRY_BYTES)
}
