/** The CEL validation rules of a custom kind, compiled when an object is first written. */
import { type FaultReason, type FieldFault, invalidValue } from '../../api/field-fault.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { Slice } from '../../objects/cel/run.ts'
import { inTurns, type Turns } from '../../objects/cel/turns.ts'
import { LazyValue } from '../../lib/cache/idle-cache.ts'
import { compileRules, type RuleNode } from '../../objects/schema/structural/rules.ts'
import { runRules } from '../../objects/schema/structural/run-rules.ts'
import type { Structural } from '../../objects/schema/structural/structural.ts'

/**
 * Faults with which an object does not match the types that rules expect, so that rules are not
 * evaluated.
 */
const blocking: ReadonlySet<FaultReason> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

const isBlocking = ({ reason }: FieldFault): boolean => blocking.has(reason)

export type RuleContext = {
  /** The compiled rules; undefined if there are none. */
  readonly root: RuleNode | undefined
  /** The schema that the rules are from. */
  readonly schema: Structural
  readonly slice: Slice
  /** The stored object; undefined for a new one. */
  readonly current?: KubeObject
  /** Faults of metadata, which are reported by others, but also prevent the evaluation of rules. */
  readonly metadataFaults: () => readonly FieldFault[]
  /** Called with the faults of values that have not changed. */
  readonly warn?: ((text: string) => void) | undefined
}

/** Long patterns in rules were checked when the CRD was written. */
const isAccepted = (): Promise<true> => Promise.resolve(true)

export class CustomRules {
  /**
   * Compiled in slices of its own, not of the first request that needs it: that one may be
   * cancelled while others still wait.
   */
  readonly #compiled: LazyValue<Promise<RuleNode | undefined>>

  constructor(schema: () => Fields, unusedMs: number) {
    const compile = () =>
      inTurns((slice) => compileRules(schema(), { isRoot: true, slice }), { answer: isAccepted })
    this.#compiled = new LazyValue(compile, unusedMs)
  }

  /** To be awaited before `validate`. */
  async compiled(): Promise<RuleNode | undefined> {
    try {
      return await this.#compiled.value
    } catch (error) {
      this.#compiled.clear()
      throw error
    }
  }

  /** Returns the faults of the rules after those that were found before. */
  *validate(
    object: KubeObject,
    found: readonly FieldFault[],
    { root, schema, current, metadataFaults, slice, warn }: RuleContext,
  ): Turns<FieldFault[]> {
    if (root === undefined) return [...found]
    if (found.some(isBlocking) || metadataFaults().some(isBlocking)) {
      return [...found, invalidValue('<nil>', null, unchecked)]
    }
    const { faults, warnings } = yield* runRules(object, root, { old: current, schema, slice })
    for (const warning of warnings) warn?.(warning)
    return [...found, ...faults]
  }
}
