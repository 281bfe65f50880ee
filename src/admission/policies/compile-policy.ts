/** Compiles the expressions of a validating policy. */
import { type Fields, itemsOf, textOf } from '../../api/object.ts'
import { storedVersion } from '../../objects/cel/kubernetes.ts'
import type { Slice } from '../../objects/cel/run.ts'
import type { Turns } from '../../objects/cel/turns.ts'
import {
  compileAll,
  compileConditional,
  type Conditional,
  type Expression,
} from './compile-expressions.ts'

export type Validation = {
  readonly expression: Expression
  /** Message without surrounding white space. Empty if the validation has no message. */
  readonly message: string
  readonly messageExpression: Expression | undefined
  readonly reason: string
}

export type CompiledPolicy = Conditional & {
  readonly validations: readonly Validation[]
  /** The expression of each validation. */
  readonly expressions: readonly Expression[]
  readonly auditAnnotations: readonly { readonly key: string; readonly expression: Expression }[]
}

/**
 * Reason of a denial if the validation does not specify a reason. A denial because of an evaluation
 * error always has this reason.
 */
const defaultReason = 'Invalid'

/**
 * Compiles the spec of a validating policy. `release` is the minor version of Kubernetes that the
 * server implements.
 */
export function* compilePolicy(spec: Fields, release: number, slice: Slice): Turns<CompiledPolicy> {
  const { conditions, variables, names } = yield* compileConditional(
    spec,
    storedVersion(release),
    slice,
  )
  const texts = (list: string, field: string): string[] =>
    itemsOf(spec[list]).map((one) => textOf(one[field]))
  const expressions = yield* compileAll(texts('validations', 'expression'), names, slice)
  const messageNames = { ...names, hasAuthorizer: false }
  const messages = yield* compileAll(texts('validations', 'messageExpression'), messageNames, slice)
  const values = yield* compileAll(texts('auditAnnotations', 'valueExpression'), names, slice)
  return {
    conditions,
    variables,
    expressions,
    validations: itemsOf(spec['validations']).flatMap(
      ({ message, messageExpression, reason }, at) => {
        const expression = expressions[at]
        if (expression === undefined) return []
        return {
          expression,
          message: textOf(message).trim(),
          messageExpression: textOf(messageExpression) === '' ? undefined : messages[at],
          reason: textOf(reason) || defaultReason,
        }
      },
    ),
    auditAnnotations: itemsOf(spec['auditAnnotations']).flatMap(({ key }, at) => {
      const expression = values[at]
      return expression === undefined ? [] : { key: textOf(key), expression }
    }),
  }
}
