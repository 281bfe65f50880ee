/** The rules of a custom kind on its objects, compiled when an object is first written. */
import { type FaultReason, type FieldFault, invalidValue } from '../../api/field-fault.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { AnswerPattern } from '../../cel/pattern-thread.ts'
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
  /** What the object was; undefined: it is new. */
  readonly current?: KubeObject
  /** Those of the metadata are told by others, but with them rules are not looked at either. */
  readonly metadataFaults: () => readonly FieldFault[]
}

export type RulesOptions = { readonly unusedMs: number; readonly answer: AnswerPattern | undefined }

export class CustomRules {
  readonly #answer: AnswerPattern | undefined
  readonly #compiled: Remade<{ readonly root: RuleNode | undefined }>
  /** What is told of an object besides its faults, until somebody asks. */
  readonly #warnings = new WeakMap<KubeObject, readonly string[]>()

  constructor(schema: () => Fields, { unusedMs, answer }: RulesOptions) {
    this.#answer = answer
    this.#compiled = new Remade(() => ({ root: compileRules(schema(), { isRoot: true }) }), unusedMs)
  }

  /** With the faults that were found already. */
  async validate(
    object: KubeObject,
    found: readonly FieldFault[],
    { current, metadataFaults }: RuleContext,
  ): Promise<FieldFault[]> {
    const { root } = this.#compiled.value
    if (root === undefined) return [...found]
    if (found.some(isBlocking) || metadataFaults().some(isBlocking)) {
      return [...found, invalidValue('<nil>', null, unchecked)]
    }
    const { faults, warnings } = await runRules(object, root, {
      old: current,
      ...(this.#answer && { answer: this.#answer }),
    })
    if (warnings.length > 0) this.#warnings.set(object, warnings)
    return [...found, ...faults]
  }

  warnings(object: KubeObject): string[] {
    return [...(this.#warnings.get(object) ?? [])]
  }
}
