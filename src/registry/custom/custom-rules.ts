/**
 * The CEL validation rules of a custom kind. They are compiled when the first object is written.
 */
import { type FaultReason, type FieldFault, invalidValue } from '../../api/field-fault.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { Slice } from '../../objects/cel/run.ts'
import { storedVersion } from '../../objects/cel/kubernetes.ts'
import { inTurns, type Turns } from '../../objects/cel/turns.ts'
import { LazyValue } from '../../lib/cache/idle-cache.ts'
import { compileRules, type RuleNode } from '../../objects/schema/structural/rules.ts'
import { runRules } from '../../objects/schema/structural/run-rules.ts'
import type { Structural } from '../../objects/schema/structural/structural.ts'

/**
 * Types of validation errors (`reason`) that prevent the evaluation of rules. After such an error,
 * values might not have the types that the rules expect.
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
  /** The compiled rules. Undefined if there are no rules. */
  readonly root: RuleNode | undefined
  /** The schema that contains the rules. */
  readonly schema: Structural
  readonly slice: Slice
  /** The stored object. Undefined for a new object. */
  readonly current?: KubeObject
  /**
   * Returns the validation errors of the metadata. They are reported elsewhere, but also prevent
   * the evaluation of rules.
   */
  readonly metadataFaults: () => readonly FieldFault[]
  /** Called with a warning for each error in a value that the update does not change. */
  readonly warn?: ((text: string) => void) | undefined
}

/**
 * Accepts every long pattern, because the patterns in rules were validated when the CRD was
 * written.
 */
const isAccepted = (): Promise<true> => Promise.resolve(true)

export class CustomRules {
  /**
   * Returns the compiled rules. The compilation runs in its own time slices rather than in those of
   * the first request that needs the rules. That request can be canceled while other requests still
   * wait for the rules.
   */
  readonly #compiled: LazyValue<Promise<RuleNode | undefined>>

  /** `release` is the minor version of the Kubernetes release that the server serves. */
  constructor(schema: () => Fields, release: number, unusedMs: number) {
    const version = storedVersion(release)
    const compile = () =>
      inTurns((slice) => compileRules(schema(), { isRoot: true, version, slice }), {
        answer: isAccepted,
      })
    this.#compiled = new LazyValue(compile, unusedMs)
  }

  /** Returns the compiled rules, which `validate` needs. */
  async compiled(): Promise<RuleNode | undefined> {
    try {
      return await this.#compiled.value
    } catch (error) {
      this.#compiled.clear()
      throw error
    }
  }

  /** Returns the errors in `found`, followed by the errors of the rules. */
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
