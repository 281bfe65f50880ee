/**
 * Validates the CEL expressions of webhooks and policies: the variables that they use, and the
 * types to which they evaluate.
 */
import { type FieldFault, internalFault, invalidValue } from '../../../api/field-fault.ts'
import { defaultGates, type Gates } from '../../../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../../api/object.ts'
import {
  type AdmissionNames,
  admissionEnvironment,
  PolicyVariables,
} from '../../../objects/cel/admission.ts'
import { type CompileResult, compileInTurns } from '../../../objects/cel/compile.ts'
import { celVersionOf } from '../../../objects/cel/kubernetes.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import type { Turns } from '../../../objects/cel/turns.ts'
import { bool, isSame, outputNameOf, type Type } from '../../../objects/cel/types.ts'

/**
 * Maximum total length in characters of all expressions of an object. Compiling 100,000 characters
 * takes tenths of a second.
 */
const CHARACTERS_MAX = 256 * 1024

type ExpressionOptions = {
  /** Types to which the expression can evaluate. Absent if all types are allowed. */
  readonly types?: readonly Type[]
  /**
   * Whether the expression can use `authorizer`. All expressions except a messageExpression can.
   */
  readonly hasAuthorizer?: boolean
  /** Whether the expression is a mutation, which constructs objects. */
  readonly hasPatchTypes?: boolean
  /** Text that error messages show instead of the expression. */
  readonly shown?: string
  /**
   * The text of the expression in the object, if it differs from the compiled text. It is used to
   * find out whether the expression is already stored.
   */
  readonly given?: string
}

/**
 * Validates the expressions of one object. An expression can refer to variables that were declared
 * before.
 */
export class Expressions {
  readonly #hasParams: boolean
  readonly #variables: PolicyVariables | undefined
  readonly #stored: ReadonlySet<string>
  readonly #gates: Gates
  readonly slice: Slice
  #characters = 0

  /**
   * Creates a validator. `stored` contains the expressions of the stored object, which can use the
   * newest version of the CEL environment.
   */
  constructor(
    slice: Slice,
    {
      hasParams = false,
      hasVariables = false,
      stored = new Set<string>(),
      gates = defaultGates,
    } = {},
  ) {
    this.slice = slice
    this.#hasParams = hasParams
    this.#variables = hasVariables ? new PolicyVariables() : undefined
    this.#stored = stored
    this.#gates = gates
  }

  *check(text: string, path: string, wanted: ExpressionOptions = {}): Turns<FieldFault[]> {
    const {
      types,
      hasAuthorizer = true,
      hasPatchTypes = false,
      shown = text,
      given = text,
    } = wanted
    const names = { hasAuthorizer, hasPatchTypes, variables: this.#variables?.type }
    const compiled = yield* this.#compile(text, names, given)
    return faultsOf(compiled, path, { types, shown })
  }

  /** Declares a variable for later expressions. */
  *declare(name: string, text: string, path: string): Turns<FieldFault[]> {
    const compiled = yield* this.#compile(text, {
      hasAuthorizer: true,
      variables: this.#variables?.type,
    })
    this.#variables?.declare(name, 'fault' in compiled ? undefined : compiled.type)
    return faultsOf(compiled, path, { types: undefined, shown: text })
  }

  /** Validates a match condition, which cannot use the variables of the policy. */
  *checkCondition(text: string, path: string): Turns<FieldFault[]> {
    const compiled = yield* this.#compile(text, { hasAuthorizer: true, variables: undefined })
    return faultsOf(compiled, path, { types: [bool], shown: text })
  }

  *#compile(
    text: string,
    names: Omit<AdmissionNames, 'hasParams'>,
    given = text,
  ): Turns<CompileResult> {
    if (this.slice.isOver()) yield undefined
    this.#characters += text.length
    if (this.#characters > CHARACTERS_MAX) {
      return {
        fault: `the expressions of an object may have at most ${CHARACTERS_MAX} characters in total`,
        stage: 'compilation',
      }
    }
    const version = celVersionOf(this.#gates, this.#stored.has(given))
    const environment = admissionEnvironment(version, { ...names, hasParams: this.#hasParams })
    return yield* compileInTurns(text, environment, this.slice)
  }
}

type ExpectedTypes = { readonly types: readonly Type[] | undefined; readonly shown: string }

function faultsOf(
  compiled: CompileResult,
  path: string,
  { types, shown }: ExpectedTypes,
): FieldFault[] {
  if (!('type' in compiled))
    return [invalidValue(path, shown, `compilation failed: ${compiled.fault}`)]
  const { type } = compiled
  if (types !== undefined && !types.some((wanted) => isSame(wanted, type))) {
    return [
      invalidValue(path, shown, `must evaluate to ${oneOf(types)} but got ${outputNameOf(type)}`),
    ]
  }
  return 'fault' in compiled
    ? [internalFault(path, `program instantiation failed: ${compiled.fault}`)]
    : []
}

function oneOf(types: readonly Type[]): string {
  const names = types.map(outputNameOf)
  return names.length === 1 ? (names[0] ?? '') : `one of [${names.join(' ')}]`
}

/**
 * Returns the expressions of a stored object that an update may compile with the newest CEL
 * environment. The expressions of variables and JSON patches are not included.
 */
export function expressionsIn(spec: Fields): string[] {
  const texts = (list: string, ...names: readonly string[]): string[] =>
    itemsOf(spec[list]).flatMap((one) => names.map((name) => textOf(one[name])))
  return [
    ...texts('matchConditions', 'expression'),
    ...texts('validations', 'expression', 'messageExpression'),
    ...texts('auditAnnotations', 'valueExpression'),
    ...itemsOf(spec['mutations']).map(({ applyConfiguration }) =>
      textOf(fieldsOf(applyConfiguration)['expression']),
    ),
  ]
}

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/
/** Keywords and reserved words of CEL. */
const reserved: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
)

export const isIdentifier = (name: string): boolean => identifier.test(name) && !reserved.has(name)
