/** The rules of a custom kind on its objects, compiled when an object is first written. */
import { type FaultReason, type FieldFault, invalidValue } from '../../api/field-fault.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { Slice } from '../../cel/run.ts'
import { inTurns, type Turns } from '../../cel/turns.ts'
import { Remade } from '../../lib/lingering.ts'
import { compileRules, type RuleNode } from '../../schema/structural/rules.ts'
import { runRules } from '../../schema/structural/run-rules.ts'

/** With a fault like these an object is not what rules expect. */
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
  /** As they were compiled; undefined: there are none. */
  readonly root: RuleNode | undefined
  readonly slice: Slice
  /** What the object was; undefined: it is new. */
  readonly current?: KubeObject
  /** Those of the metadata are told by others, but with them rules are not looked at either. */
  readonly metadataFaults: () => readonly FieldFault[]
  /** Takes what is wrong with values that were there before. */
  readonly warn?: ((text: string) => void) | undefined
}

/** Long patterns in rules were looked at when the definition was written. */
const isAccepted = (): Promise<true> => Promise.resolve(true)

export class CustomRules {
  /** In slices of their own: whoever is first may go before the others have theirs. */
  readonly #compiled: Remade<Promise<RuleNode | undefined>>

  constructor(schema: () => Fields, unusedMs: number) {
    const compile = () => inTurns((slice) => compileRules(schema(), { isRoot: true, slice }), { answer: isAccepted })
    this.#compiled = new Remade(compile, unusedMs)
  }

  /** To be had before they are used. */
  async compiled(): Promise<RuleNode | undefined> {
    try {
      return await this.#compiled.value
    } catch (error) {
      this.#compiled.drop()
      throw error
    }
  }

  /** With the faults that were found already. */
  *validate(
    object: KubeObject,
    found: readonly FieldFault[],
    { root, current, metadataFaults, slice, warn }: RuleContext,
  ): Turns<FieldFault[]> {
    if (root === undefined) return [...found]
    if (found.some(isBlocking) || metadataFaults().some(isBlocking)) {
      return [...found, invalidValue('<nil>', null, unchecked)]
    }
    const { faults, warnings } = yield* runRules(object, root, { old: current, slice })
    for (const warning of warnings) warn?.(warning)
    return [...found, ...faults]
  }
}
