/**
 * Evaluates CEL expressions over claims and users. If an expression fails or costs too much, the
 * token is rejected.
 */
import { valueOf } from '../../../objects/cel/json-values.ts'
import type { AnswerPattern } from '../../../objects/cel/pattern-thread.ts'
import { inTurns } from '../../../objects/cel/turns.ts'
import type { Type } from '../../../objects/cel/types.ts'
import { isList, type Value } from '../../../objects/cel/values.ts'
import type { Fields } from '../../../api/object.ts'
import type { Expression } from '../../../config/files/expressions.ts'
import { TokenFault } from './claim-values.ts'

/** Cost limit of one expression, as elsewhere in Kubernetes. kube-apiserver has no limit here. */
const COST_MAX = 1_000_000

export type Variable = { readonly name: string; readonly value: Fields; readonly type: Type }

/**
 * Evaluates an expression with one variable. Slow regular expressions are matched outside the main
 * thread, by `answer`.
 */
export async function evaluate(
  { text, program }: Expression,
  { name, value, type }: Variable,
  answer: AnswerPattern,
): Promise<Value> {
  const activation = { [name]: valueOf(value, type) }
  const result = await inTurns((slice) => program.inTurns(activation, COST_MAX, slice), { answer })
  if (!('error' in result)) return result.value
  throw new TokenFault(`expression '${text}' resulted in error: ${result.error}`)
}

const notTexts = 'expression must return a string or a list of strings'

/** Reads a value that is a string or a list of strings. Empty strings are left out. */
export function textsOfValue(value: Value): readonly string[] {
  if (value === null || value === '') return []
  if (typeof value === 'string') return [value]
  if (!isList(value)) throw new TokenFault(notTexts)
  const items = Array.from({ length: value.size }, (_, at) => value.at(at))
  return items.flatMap((item) => {
    if (typeof item !== 'string') throw new TokenFault(notTexts)
    return item === '' ? [] : [item]
  })
}
