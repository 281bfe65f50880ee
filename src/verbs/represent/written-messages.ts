/**
 * Protobuf messages that were made for the answers to writes, until those who watch are shown the same. All resources share them: they are
 * for a moment, and each may hold on to its object and to 64 KB of Node's pool of small Buffers.
 */
import type { KubeObject } from '../../api/object.ts'

/** The event of a write comes within a turn or two of its answer, or came before it. */
const COUNT_MAX = 32
/** Longer ones are made again: their objects would be held for it, several times as long. */
const BYTES_MAX = 8 << 10

export class WrittenMessages {
  /** The oldest first. */
  readonly #messages = new Map<KubeObject, Buffer>()

  keep(object: KubeObject, message: Buffer): void {
    if (message.length > BYTES_MAX) return
    this.#messages.set(object, message)
    if (this.#messages.size <= COUNT_MAX) return
    for (const oldest of this.#messages.keys()) return void this.#messages.delete(oldest)
  }

  /** For the event, which comes once. */
  take(object: KubeObject): Buffer | undefined {
    const message = this.#messages.get(object)
    if (message !== undefined) this.#messages.delete(object)
    return message
  }
}
