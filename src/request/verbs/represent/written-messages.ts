/**
 * Protobuf messages that were encoded for the responses to writes. They are retained for the watch
 * events of the same objects.
 *
 * All resources share one limit, because a message is needed only for a short time. A message can
 * keep its object and 64 KB of Node's Buffer pool in memory.
 */
import type { KubeObject } from '../../../api/object.ts'

/**
 * Maximum number of messages. The watch event of a write arrives at most one or two ticks of the
 * event loop after the response, or before it.
 */
const COUNT_MAX = 32
/**
 * Maximum length of a retained message. A longer message is encoded again for the watch event,
 * because a retained message also retains its object, which is several times as large.
 */
const BYTES_MAX = 8 << 10

export class WrittenMessages {
  /** The messages in the order of insertion, the oldest first. */
  readonly #messages = new Map<KubeObject, Buffer>()

  keep(object: KubeObject, message: Buffer): void {
    if (message.length > BYTES_MAX) return
    this.#messages.set(object, message)
    if (this.#messages.size <= COUNT_MAX) return
    for (const oldest of this.#messages.keys()) return void this.#messages.delete(oldest)
  }

  /** Removes the message of a write and returns it, because each write has only one event. */
  take(object: KubeObject): Buffer | undefined {
    const message = this.#messages.get(object)
    if (message !== undefined) this.#messages.delete(object)
    return message
  }
}
