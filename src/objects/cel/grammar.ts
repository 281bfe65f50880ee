/** The sets of tokens that the parser expects, for example at the start of an expression. */
import { next } from './recognizer.ts'
import type { TokenKind } from './tokens.ts'

const literals: readonly TokenKind[] = [
  'true',
  'false',
  'null',
  'float',
  'int',
  'uint',
  'string',
  'bytes',
]
export const memberStart: readonly TokenKind[] = [
  '[',
  '{',
  '(',
  '.',
  '-',
  ...literals,
  'identifier',
]
const start: readonly TokenKind[] = ['!', ...memberStart]
export const relations: readonly TokenKind[] = ['<', '<=', '>=', '>', '==', '!=', 'in']
export const factors: readonly TokenKind[] = ['*', '/', '%']
export const terms: readonly TokenKind[] = ['+', '-']

export const exprStart = next(start)
export const optionalStart = next([...start, '?'])
export const end = next([], true)

/** The tokens that can follow at each position of the grammar. */
export const sets = {
  end: next(['end']),
  question: next(['?'], true),
  colon: next([':']),
  or: next(['||'], true),
  and: next(['&&'], true),
  relation: next(relations, true),
  calculation: next([...factors, ...terms], true),
  memberStart: next(memberStart),
  afterNot: next(start),
  selection: next(['.', '['], true),
  identifier: next(['identifier']),
  field: next(['identifier', 'escaped']),
  optionalField: next(['?', 'identifier', 'escaped']),
  fieldsStart: next(['?', 'identifier', 'escaped', ',', '}']),
  dotOrBrace: next(['.', '{']),
  number: next(['int', 'float']),
  open: next(['(']),
  argsStart: next([...start, ')']),
  parenthesis: next([')']),
  comma: next([','], true),
  listStart: next([...start, '?', ',', ']']),
  listEnd: next([',', ']']),
  bracket: next([']']),
  mapStart: next([...start, '?', ',', '}']),
  mapEnd: next([',', '}']),
  brace: next(['}']),
}
