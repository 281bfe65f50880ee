/**
 * Which flow schema a request falls under: the first one by precedence that has a rule for its user
 * and for what it asks. Which rules are for a user is remembered of users that come again: nearly
 * all rules are for others. One user object stands for all requests of a token or of a connection
 * with a certificate; who is impersonated, or named by a proxy, is a new one each time, and nothing
 * is remembered of those.
 */
import type { RequestInfo } from '../../api/context.ts'
import type { User } from '../../api/user.ts'
import { type FlowRule, type FlowSchema, isFor, takes } from './flow-schema.ts'

/** What is kept with a schema: of type `T`. */
type Entry<T> = { readonly schema: FlowSchema; readonly flow: T }

/** A rule that is for a user. */
type Rule<T> = { readonly rule: FlowRule; readonly flow: T }

const catchAll = 'catch-all'

/**
 * Users that came lately and were not known. Who is among them when he comes again is remembered
 * from then on.
 */
const NEWCOMERS = 8

export class Classifier<T> {
  /** In the order of matching. */
  readonly #entries: readonly Entry<T>[]
  readonly #fallback: T | undefined
  readonly #ofUser = new WeakMap<User, readonly Rule<T>[]>()
  readonly #newcomers: (User | undefined)[] = new Array(NEWCOMERS).fill(undefined)
  #newcomerAt = 0
  /** Requests of one user often come one after the other. */
  #lastUser: User | undefined
  #lastRules: readonly Rule<T>[] = []

  /** `flowOf` undefined: the level of the schema does not exist, and it counts for nothing. */
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

  /** What no rule takes falls under `catch-all`. Undefined: there is no such schema. */
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

  /** In the order of matching. */
  #findRules(user: User): readonly Rule<T>[] {
    const found: Rule<T>[] = []
    for (const { schema, flow } of this.#entries) {
      for (const rule of schema.rules) if (isFor(rule, user)) found.push({ rule, flow })
    }
    return found
  }
}
