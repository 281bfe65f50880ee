/**
 * Data for the validation of a value: the path of the value, its old value, and the list to which
 * errors are added.
 */
import { FAULTS_MAX, type FieldFault } from '../../../api/field-fault.ts'
import type { Json } from '../../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'
import type { Patterns } from './patterns.ts'
import { Trail } from './trail.ts'

/**
 * Creates an error. Called only for errors that are reported, because most errors are those of
 * failed alternatives, which are not reported.
 */
export type Fault = () => FieldFault

export type Walk = {
  /** Prefix of the paths in all errors. */
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
  /** The value before the update, or undefined if the value is new. */
  readonly old: Json | undefined

  constructor(trail: Trail, { prefix, faults, patterns, slice }: Walk, old: Json | undefined) {
    this.#trail = trail
    this.prefix = prefix
    this.faults = faults
    this.patterns = patterns
    this.slice = slice
    this.old = old
  }

  /** Path from the root of the validated value, such as `spec.a[0]`. */
  get name(): string {
    return this.#trail.name
  }

  get isRoot(): boolean {
    return this.#trail.isRoot
  }

  /** Adds errors that were first collected in a separate list, as for an alternative in anyOf. */
  addFaults(faults: readonly Fault[]): void {
    addAll(this.faults, faults, FAULTS_MAX)
  }

  below(step: string | number, old: Json | undefined): ValidationContext {
    return new ValidationContext(new Trail(this.#trail, step), this, old)
  }

  /**
   * Returns a context for an alternative in the schema of the same value. It has its own list of
   * errors, and no old value, because kube-apiserver does not tolerate errors of unchanged values
   * inside alternatives.
   */
  withFaults(faults: Fault[]): ValidationContext {
    const { prefix, patterns, slice } = this
    return new ValidationContext(this.#trail, { prefix, faults, patterns, slice }, undefined)
  }
}
