/**
 * Which flow schema a request falls under, and so which priority level: the first schema by precedence that has a rule for its user and for
 * what it asks. Nothing is remembered of users: to look through the schemas that every cluster has takes less than a microsecond.
 */
import type { RequestInfo } from '../api/context.ts'
import type { Headers } from '../api/request.ts'
import type { User } from '../api/user.ts'
import type { Count, Counter } from '../lib/metrics.ts'
import { type FlowSchema, takes } from './flow-schema.ts'

/** A schema together with its level. */
export type Flow = {
  readonly schema: FlowSchema
  /** What answers say about it. */
  readonly headers: Headers
  /** Requests that were begun. */
  readonly dispatched: Count
}

const catchAll = 'catch-all'

export class Classifier {
  readonly #dispatched: Counter
  readonly #schemas = new Map<string, FlowSchema>()
  /** The uids of levels, by name. */
  readonly #levels = new Map<string, string>()
  /** In the order of matching. Undefined: to be made again. */
  #flows: readonly Flow[] | undefined

  /** `dispatched`: by schema and level. */
  constructor(dispatched: Counter) {
    this.#dispatched = dispatched
  }

  /** Undefined: there is none of this name. */
  setSchema(name: string, schema: FlowSchema | undefined): void {
    if (schema === undefined) this.#schemas.delete(name)
    else this.#schemas.set(name, schema)
    this.#flows = undefined
  }

  setLevel(name: string, uid: string | undefined): void {
    if (uid === undefined) this.#levels.delete(name)
    else this.#levels.set(name, uid)
    this.#flows = undefined
  }

  names(what: 'schemas' | 'levels'): Iterable<string> {
    return what === 'schemas' ? this.#schemas.keys() : this.#levels.keys()
  }

  /** Undefined: the schemas are not there yet. What no rule takes falls under `catch-all`. */
  classify(user: User, info: RequestInfo): Flow | undefined {
    const flows = (this.#flows ??= this.#order())
    for (const flow of flows) if (takes(flow.schema, user, info)) return flow
    return flows.find(({ schema }) => schema.name === catchAll)
  }

  /** Without the schemas whose level does not exist, which count for nothing. */
  #order(): readonly Flow[] {
    return [...this.#schemas.values()]
      .toSorted((one, other) => one.precedence - other.precedence || (one.name < other.name ? -1 : 1))
      .flatMap((schema) => {
        const level = this.#levels.get(schema.level)
        if (level === undefined) return []
        const dispatched = this.#dispatched.with(schema.name, schema.level)
        return [{ schema, headers: headersOf(schema.uid, level), dispatched }]
      })
  }
}

const headersOf = (schema: string, level: string): Headers => ({
  'x-kubernetes-pf-flowschema-uid': schema,
  'x-kubernetes-pf-prioritylevel-uid': level,
})
