/** The CEL expressions of a validating policy, compiled once. An expression with a fault fails whenever it is evaluated. */
import { type Fields, fieldsOf, itemsOf, textOf } from '../../api/object.ts'
import { type AdmissionNames, admissionEnvironment, PolicyVariables } from '../../cel/admission.ts'
import { compileInTurns, type Program } from '../../cel/compile.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import type { Type } from '../../cel/types.ts'

export type Expression = { readonly text: string } & (
  | { readonly program: Program; readonly fault?: undefined }
  | { readonly program?: undefined; readonly fault: string }
)

export type Validation = {
  readonly expression: Expression
  /** Trimmed; empty: none. */
  readonly message: string
  readonly messageExpression: Expression | undefined
  readonly reason: string
}

export type CompiledPolicy = {
  readonly conditions: readonly Expression[]
  /** By name, in the order of their declarations: each may use those before it. */
  readonly variables: ReadonlyMap<string, Expression>
  readonly validations: readonly Validation[]
  readonly auditAnnotations: readonly { readonly key: string; readonly expression: Expression }[]
}

/** Invalid is also the reason of errors. */
const defaultReason = 'Invalid'

export function* compilePolicy(spec: Fields, slice: Slice): Turns<CompiledPolicy> {
  const declared = new PolicyVariables()
  const hasParams = isParameterized(spec)
  const variables = new Map<string, Expression>()
  const names: AdmissionNames = { hasParams, hasAuthorizer: true, variables: declared.type }
  for (const { name, expression } of itemsOf(spec['variables'])) {
    const { compiled, type } = yield* compileOne(textOf(expression), names, slice)
    declared.declare(textOf(name), type)
    variables.set(textOf(name), compiled)
  }
  const compileAll = function* (list: string, field: string, given: AdmissionNames): Turns<Expression[]> {
    const all: Expression[] = []
    for (const one of itemsOf(spec[list])) all.push((yield* compileOne(textOf(one[field]), given, slice)).compiled)
    return all
  }
  const conditions = yield* compileAll('matchConditions', 'expression', { ...names, variables: undefined })
  const expressions = yield* compileAll('validations', 'expression', names)
  const messages = yield* compileAll('validations', 'messageExpression', { ...names, hasAuthorizer: false })
  const values = yield* compileAll('auditAnnotations', 'valueExpression', names)
  return {
    conditions,
    variables,
    validations: itemsOf(spec['validations']).flatMap(({ message, messageExpression, reason }, at) => {
      const expression = expressions[at]
      if (expression === undefined) return []
      return {
        expression,
        message: textOf(message).trim(),
        messageExpression: textOf(messageExpression) === '' ? undefined : messages[at],
        reason: textOf(reason) || defaultReason,
      }
    }),
    auditAnnotations: itemsOf(spec['auditAnnotations']).flatMap(({ key }, at) => {
      const expression = values[at]
      return expression === undefined ? [] : { key: textOf(key), expression }
    }),
  }
}

/** Whether its expressions may use `params`. */
export const isParameterized = (spec: Fields): boolean => Object.keys(fieldsOf(spec['paramKind'])).length > 0

/** Stored expressions may use all that this version has. */
function* compileOne(
  text: string,
  names: AdmissionNames,
  slice: Slice,
): Turns<{ readonly compiled: Expression; readonly type: Type | undefined }> {
  const compiled = yield* compileInTurns(text, admissionEnvironment('1.33', names), slice)
  if ('program' in compiled) return { compiled: { text, program: compiled.program }, type: compiled.type }
  return { compiled: { text, fault: compiled.fault }, type: 'type' in compiled ? compiled.type : undefined }
}
