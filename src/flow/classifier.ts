/**
 * Which flow schema a request falls under: the first one by precedence that has a rule for its user and for
 * what it asks. Nothing is remembered of users: to look through the schemas that every cluster has takes less than a microsecond.
 */
import type { RequestInfo } from '../api/context.ts'
import type { User } from '../api/user.ts'
import { type FlowSchema, takes } from './flow-schema.ts'

/** What is kept with a schema: of type `T`. */
type Entry<T> = { readonly schema: FlowSchema; readonly flow: T }

const catchAll = 'catch-all'

export class Classifier<T> {
  /** In the order of matching. */
  readonly #entries: readonly Entry<T>[]
  readonly #fallback: T | undefined

  /** `flowOf` undefined: the level of the schema does not exist, and it counts for nothing. */
  constructor(schemas: Iterable<FlowSchema>, flowOf: (schema: FlowSchema) => T | undefined) {
    this.#entries = [...schemas]
      .toSorted((one, other) => one.precedence - other.precedence || (one.name < other.name ? -1 : 1))
      .flatMap((schema) => {
        const flow = flowOf(schema)
        return flow === undefined ? [] : [{ schema, flow }]
      })
    this.#fallback = this.#entries.find(({ schema }) => schema.name === catchAll)?.flow
  }

  /** What no rule takes falls under `catch-all`. Undefined: there is no such schema. */
  classify(user: User, info: RequestInfo): T | undefined {
    for (const { schema, flow } of this.#entries) if (takes(schema, user, info)) return flow
    return this.#fallback
  }
}
