/**
 * Finds the flow schema of a request: the first schema by precedence that has a rule for its user
 * and its target.
 *
 * The rules that apply to a user are cached, because they are few and most users send many
 * requests. Requests of the same token, or of a connection with a client certificate, share one
 * user object. An impersonated user, or a user that a front proxy has authenticated, is a new
 * object each time and is not cached.
 */
import type { RequestInfo } from '../../api/context.ts'
import type { User } from '../../api/user.ts'
import { type FlowRule, type FlowSchema, isFor, takes } from './flow-schema.ts'

/** A flow schema, and the flow of its requests, which has the type `T`. */
type Entry<T> = { readonly schema: FlowSchema; readonly flow: T }

/** A rule that applies to a user. */
type Rule<T> = { readonly rule: FlowRule; readonly flow: T }

const catchAll = 'catch-all'

/**
 * Number of recent users that are remembered. If a remembered user sends another request, the rules
 * of the user are cached.
 */
const NEWCOMERS = 8

export class Classifier<T> {
  /** Flow schemas in the order in which they are matched. */
  readonly #entries: readonly Entry<T>[]
  readonly #fallback: T | undefined
  readonly #ofUser = new WeakMap<User, readonly Rule<T>[]>()
  readonly #newcomers: (User | undefined)[] = new Array(NEWCOMERS).fill(undefined)
  #newcomerAt = 0
  /** The last user and its rules, because consecutive requests often have the same user. */
  #lastUser: User | undefined
  #lastRules: readonly Rule<T>[] = []

  /**
   * Creates a classifier. `flowOf` returns undefined if the priority level of the flow schema does
   * not exist. The flow schema is then ignored.
   */
  constructor(schemas: Iterable<FlowSchema>, flowOf: (schema: FlowSchema) => T | undefined) {
    this.#entries = [...schemas]
      .toSorted(
        (one, other) => one.precedence - other.precedence || (one.name < other.name ? -1 : 1),
      )
      .flatMap((schema) => {
        const flow = flowOf(schema)
        return flow === undefined ? [] : [{ schema, flow }]
      })
    this.#fallback = this.#entries.find(({ schema }) => schema.name === catchAll)?.flow
  }

  /**
   * Returns the flow of a request. If no rule matches the request, returns the flow of the flow
   * schema `catch-all`. Returns undefined if `catch-all` does not exist.
   */
  classify(user: User, info: RequestInfo): T | undefined {
    for (const { rule, flow } of this.#rulesOf(user)) if (takes(rule, info)) return flow
    return this.#fallback
  }

  #rulesOf(user: User): readonly Rule<T>[] {
    if (user === this.#lastUser) return this.#lastRules
    let rules = this.#ofUser.get(user)
    if (rules === undefined) {
      rules = this.#findRules(user)
      if (this.#newcomers.includes(user)) this.#ofUser.set(user, rules)
      else this.#newcomers[this.#newcomerAt++ % NEWCOMERS] = user
    }
    this.#lastUser = user
    this.#lastRules = rules
    return rules
  }

  /** Returns the rules that apply to a user, in the order in which they are matched. */
  #findRules(user: User): readonly Rule<T>[] {
    const found: Rule<T>[] = []
    for (const { schema, flow } of this.#entries) {
      for (const rule of schema.rules) if (isFor(rule, user)) found.push({ rule, flow })
    }
    return found
  }
}
