/**
 * Names of admission configurations that cannot be decoded and have no known earlier state. It is
 * unknown which requests they would reject.
 */
import { quote } from '../../api/quote.ts'
import { type Attributes, refusal } from '../admission.ts'
import { isReview } from './exempt.ts'

export class UnreadableNames {
  readonly #kind: string
  readonly #names = new Set<string>()

  /** Creates an empty set. `kind` names the kind of the configurations in error messages. */
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
   * Throws a 403 error if any configuration is unreadable. Call this method for each request to
   * which the configurations might apply. Token and access reviews are not rejected, because users
   * who repair the configuration must be authenticated and authorized.
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
