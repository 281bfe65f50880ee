/**
 * The fields in the expressions of the cost tables, as declared in the scenarios of the compat
 * suite.
 */
import type { Fields } from '../../../../src/api/object.ts'

const string = (more: Fields = {}): Fields => ({ type: 'string', ...more })
const list = (items: Fields, maxItems?: number): Fields => ({
  type: 'array',
  items,
  ...(maxItems === undefined ? {} : { maxItems }),
})
const map = (values: Fields, maxProperties: number): Fields => ({
  type: 'object',
  additionalProperties: values,
  maxProperties,
})
const object = (properties: Fields): Fields => ({ type: 'object', properties })
const integer: Fields = { type: 'integer' }

export const costSchema: Fields = object({
  s: string({ maxLength: 20 }),
  t: string({ maxLength: 100 }),
  u: string(),
  e: string({ enum: ['a', 'bbb'] }),
  i: integer,
  n: { type: 'number' },
  b: { type: 'boolean' },
  l: list(integer, 5),
  ls: list(string({ maxLength: 10 }), 5),
  lu: list(string()),
  lo: list(object({ k: string({ maxLength: 10 }), v: integer }), 5),
  m: map(integer, 5),
  ms: map(string({ maxLength: 10 }), 5),
  o: object({ p: string({ maxLength: 10 }), q: object({ r: integer }) }),
  ts: string({ format: 'date-time' }),
  da: string({ format: 'date' }),
  du: string({ format: 'duration' }),
  by: string({ format: 'byte', maxLength: 20 }),
  is: { 'x-kubernetes-int-or-string': true },
  nul: string({ nullable: true, maxLength: 10 }),
})

/**
 * Returns how kube-apiserver reports the cost of an expression: as the factor by which it exceeds
 * the limit. `cost` is the cost of one evaluation, and `times` is the number of evaluations.
 */
export function factorText(cost: number, times: number): string {
  const factor = (cost * times) / 10_000_000
  if (factor <= 1) return 'within'
  if (factor > 100) return 'more than 100x'
  return factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`
}
