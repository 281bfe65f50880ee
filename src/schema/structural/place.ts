/** Where a validation is, what stood there before, and who is told what is wrong. */
import { FAULTS_MAX, type FieldFault } from '../../api/field-fault.ts'
import type { Json } from '../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import { addAll } from '../../lib/long-lists.ts'
import type { Patterns } from './patterns.ts'
import { Trail } from './trail.ts'

/** What is wrong, put into words only if it is told: of alternatives that fail, most are not. */
export type Fault = () => FieldFault

export type Walk = {
  /** What stands before all places in paths. */
  readonly prefix: string
  readonly faults: Fault[]
  readonly patterns: Patterns
  readonly slice: Slice
}

export class Place {
  readonly #trail: Trail
  readonly prefix: string
  readonly faults: Fault[]
  readonly patterns: Patterns
  readonly slice: Slice
  /** What the value was before the update; undefined: it is new. */
  readonly old: Json | undefined

  constructor(trail: Trail, { prefix, faults, patterns, slice }: Walk, old: Json | undefined) {
    this.#trail = trail
    this.prefix = prefix
    this.faults = faults
    this.patterns = patterns
    this.slice = slice
    this.old = old
  }

  /** From the root of what is validated: `spec.a[0]`. */
  get name(): string {
    return this.#trail.name
  }

  get isRoot(): boolean {
    return this.#trail.isRoot
  }

  /** Those of an alternative. */
  tell(faults: readonly Fault[]): void {
    addAll(this.faults, faults, FAULTS_MAX)
  }

  below(step: string | number, old: Json | undefined): Place {
    return new Place(new Trail(this.#trail, step), this, old)
  }

  /** The same place in an alternative, with others to tell: nothing is forgiven inside of one, as upstream. */
  telling(faults: Fault[]): Place {
    const { prefix, patterns, slice } = this
    return new Place(this.#trail, { prefix, faults, patterns, slice }, undefined)
  }
}
