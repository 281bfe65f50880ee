/**
 * Expressions in CEL. That there is one is all that is checked: what it may name and what it must come to will be looked
 * at here, when the server has the language.
 */
import { type FieldFault, required } from '../../../api/field-fault.ts'

export function validateExpression(expression: string, path: string, whyRequired: string): FieldFault[] {
  return expression.trim() === '' ? [required(path, whyRequired)] : []
}

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/
/** Words of the language, and those it keeps for later. */
const reserved: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
)

export const isIdentifier = (name: string): boolean => identifier.test(name) && !reserved.has(name)
