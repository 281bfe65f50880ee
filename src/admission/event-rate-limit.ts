/**
 * Limits the rate of writes to Events with token buckets. There can be one bucket for the server,
 * or one for each namespace, each user, or each source and object. As in kube-apiserver, only
 * events of the core group are limited, and dry runs are not limited.
 */
import { aggregate } from '../api/aggregate.ts'
import { limitReached } from '../api/errors.ts'
import { fieldsOf, textOf } from '../api/object.ts'
import type { EventLimit } from '../config/files/event-rate-limit.ts'
import { boundedKey } from '../lib/text/bounded-texts.ts'
import { TokenBucket } from '../lib/time/token-bucket.ts'
import type { Clock } from '../lib/time/clock.ts'
import { ownText } from '../lib/text/own-text.ts'
import type { Attributes, Plugin } from './admission.ts'

export function createEventRateLimit(
  limits: readonly EventLimit[],
  clock: Pick<Clock, 'monotonicMs'>,
): Plugin {
  const enforced = limits.map((limit) => ({ type: limit.type, buckets: new Buckets(limit) }))
  return {
    name: 'EventRateLimit',
    resources: new Set(['events']),
    validate: (attributes) => {
      const { operation, isDryRun } = attributes
      if (isDryRun || (operation !== 'CREATE' && operation !== 'UPDATE')) return
      const nowMs = clock.monotonicMs()
      // Every configured limit loses a token for each event, even if another limit rejects the
      // event.
      const reached = enforced.flatMap(({ type, buckets }) => {
        const key = keyOf[type](attributes)
        return buckets.take(key, nowMs) ? [] : [`limit reached on type ${type} for key ${key}`]
      })
      if (reached.length > 0) throw limitReached(aggregate(reached))
    },
  }
}

const keyOf: { readonly [type in EventLimit['type']]: (attributes: Attributes) => string } = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ context }) => context.user.name,
  SourceAndObject: ({ object }) => {
    const { component, host } = fieldsOf(object?.['source'])
    const { kind, namespace, name, uid, apiVersion } = fieldsOf(object?.['involvedObject'])
    return [component, host, kind, namespace, name, uid, apiVersion].map(textOf).join('')
  },
}

/**
 * Token buckets by key. If there are too many, the least recently used bucket is dropped. When the
 * key of a dropped bucket occurs again, a new full bucket is created.
 */
class Buckets {
  readonly #limit: EventLimit
  /** Buckets by key, least recently used first. */
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(limit: EventLimit) {
    this.#limit = limit
  }

  take(key: string, nowMs: number): boolean {
    const { burst, perSecond, bucketsMax } = this.#limit
    // Copy the key. It may be a substring of a long path, and would then retain the whole path in
    // memory.
    const kept = ownText(boundedKey(key))
    const bucket = this.#buckets.get(kept) ?? new TokenBucket(burst, perSecond, nowMs)
    this.#buckets.delete(kept)
    this.#buckets.set(kept, bucket)
    const [oldest] = this.#buckets.size > bucketsMax ? this.#buckets.keys() : []
    if (oldest !== undefined) this.#buckets.delete(oldest)
    return bucket.take(nowMs)
  }
}
