/**
 * The CEL expressions of webhooks and policies: which variables they may use, and which type they
 * must have.
 */
import { type FieldFault, internalFault, invalidValue } from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../../api/object.ts'
import {
  type AdmissionNames,
  admissionEnvironment,
  PolicyVariables,
} from '../../../objects/cel/admission.ts'
import { type CompileResult, compileInTurns } from '../../../objects/cel/compile.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import type { Turns } from '../../../objects/cel/turns.ts'
import { bool, isSame, outputNameOf, type Type } from '../../../objects/cel/types.ts'

/**
 * The limit for all expressions of an object: compiling a hundred thousand characters takes tenths
 * of a second.
 */
const CHARACTERS_MAX = 256 * 1024

type ExpressionOptions = {
  /** The types that the expression may evaluate to; any, if absent. */
  readonly types?: readonly Type[]
  /** A messageExpression has no `authorizer`. */
  readonly hasAuthorizer?: boolean
  /** For a mutation, whose expression constructs objects. */
  readonly hasPatchTypes?: boolean
  /** What errors show instead of the expression. */
  readonly shown?: string
  /** The text by which it is looked up among the stored expressions, if it is another one. */
  readonly given?: string
}

/** The expressions of one object, which may refer to earlier ones. */
export class Expressions {
  readonly #hasParams: boolean
  readonly #variables: PolicyVariables | undefined
  readonly #stored: ReadonlySet<string>
  readonly slice: Slice
  #characters = 0

  /**
   * `stored`: the expressions that the stored object has, which may use the newest version of the
   * CEL environment.
   */
  constructor(
    slice: Slice,
    { hasParams = false, hasVariables = false, stored = new Set<string>() } = {},
  ) {
    this.slice = slice
    this.#hasParams = hasParams
    this.#variables = hasVariables ? new PolicyVariables() : undefined
    this.#stored = stored
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

  /** Declares a variable that later expressions may use. */
  *declare(name: string, text: string, path: string): Turns<FieldFault[]> {
    const compiled = yield* this.#compile(text, {
      hasAuthorizer: true,
      variables: this.#variables?.type,
    })
    this.#variables?.declare(name, 'fault' in compiled ? undefined : compiled.type)
    return faultsOf(compiled, path, { types: undefined, shown: text })
  }

  /** A match condition, which is evaluated before there are variables. */
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
        fault: `the expressions of an object may have ${CHARACTERS_MAX} characters in all`,
        stage: 'compilation',
      }
    }
    const version = this.#stored.has(given) ? '1.33' : '1.32'
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
 * The expressions in an object that count as stored: not those of variables, nor those of JSON
 * patches.
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
