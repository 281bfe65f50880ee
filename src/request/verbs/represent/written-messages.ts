/**
 * Protobuf messages that were encoded for the responses to writes, kept until the watch events of
 * the same objects. All resources share the limit, because messages are needed only for a moment,
 * and each may keep its object and 64 KB of Node's Buffer pool in memory.
 */
import type { KubeObject } from '../../../api/object.ts'

/**
 * Maximum number of messages. The watch event of a write comes within a tick or two of the event
 * loop after the response, or before it.
 */
const COUNT_MAX = 32
/**
 * Maximum length of a message. Longer messages are encoded again, because keeping one also keeps
 * its object, which is several times as large.
 */
const BYTES_MAX = 8 << 10

export class WrittenMessages {
  /** The messages in insertion order, the oldest first. */
  readonly #messages = new Map<KubeObject, Buffer>()

  keep(object: KubeObject, message: Buffer): void {
    if (message.length > BYTES_MAX) return
    this.#messages.set(object, message)
    if (this.#messages.size <= COUNT_MAX) return
    for (const oldest of this.#messages.keys()) return void this.#messages.delete(oldest)
  }

  /** Removes the message and returns it. Each write has one event. */
  take(object: KubeObject): Buffer | undefined {
    const message = this.#messages.get(object)
    if (message !== undefined) this.#messages.delete(object)
    return message
  }
}
