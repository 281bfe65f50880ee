/**
 * Configurations of admission that cannot be decoded, and of which no earlier state is known:
 * nobody can tell what they would refuse.
 */
import { quote } from '../../api/quote.ts'
import { type Attributes, refusal } from '../admission.ts'
import { isReview } from './exempt.ts'

export class UnreadableNames {
  readonly #kind: string
  readonly #names = new Set<string>()

  /** `kind`: for messages. */
  constructor(kind: string) {
    this.#kind = kind
  }

  add(name: string): void {
    this.#names.add(name)
  }

  delete(name: string): void {
    this.#names.delete(name)
  }

  names(): Iterable<string> {
    return this.#names
  }

  /**
   * Fails with a 403 if there is one. To be called for requests that are not exempt from such
   * configurations. Reviews go on: without them nobody could be authenticated or authorized to
   * repair it.
   */
  refuse(attributes: Attributes): void {
    if (this.#names.size === 0 || isReview(attributes)) return
    const [name = ''] = this.#names
    throw refusal(
      attributes,
      `the stored ${this.#kind} ${quote(name)} cannot be decoded; repair or delete it`,
    )
  }
}
