/** Where a validation is, the old value there, and where its errors are collected. */
import { FAULTS_MAX, type FieldFault } from '../../../api/field-fault.ts'
import type { Json } from '../../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'
import type { Patterns } from './patterns.ts'
import { Trail } from './trail.ts'

/**
 * An error, whose message is made only if it is reported: most errors of failed alternatives are
 * not.
 */
export type Fault = () => FieldFault

export type Walk = {
  /** Precedes all paths. */
  readonly prefix: string
  readonly faults: Fault[]
  readonly patterns: Patterns
  readonly slice: Slice
}

export class ValidationContext {
  readonly #trail: Trail
  readonly prefix: string
  readonly faults: Fault[]
  readonly patterns: Patterns
  readonly slice: Slice
  /** The value before the update; undefined: it is new. */
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

  /** Adds the errors of an alternative. */
  addFaults(faults: readonly Fault[]): void {
    addAll(this.faults, faults, FAULTS_MAX)
  }

  below(step: string | number, old: Json | undefined): ValidationContext {
    return new ValidationContext(new Trail(this.#trail, step), this, old)
  }

  /**
   * The same place in an alternative, with an error list of its own. There is no ratcheting inside
   * of alternatives, as upstream.
   */
  withFaults(faults: Fault[]): ValidationContext {
    const { prefix, patterns, slice } = this
    return new ValidationContext(this.#trail, { prefix, faults, patterns, slice }, undefined)
  }
}
