/**
 * Validates the patterns of a schema, which must be valid regular expressions. A schema can have
 * thousands of patterns, and compiling them takes time, so validation yields to the event loop.
 */
import { type FieldFault, invalidValue } from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, isFields, listOf, textOf } from '../../../api/object.ts'
import { longPatternFault } from '../../../objects/cel/long-pattern.ts'
import { compilePattern, isLongPattern } from '../../../objects/cel/regex.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import type { Turns } from '../../../objects/cel/turns.ts'
import { CelError } from '../../../objects/cel/values.ts'

export function* validatePatterns(schema: Fields, path: string, slice: Slice): Turns<FieldFault[]> {
  const faults: FieldFault[] = []
  for (const found of patternsIn(schema, path)) {
    if (slice.isOver()) yield undefined
    if (found === undefined) continue
    const { pattern, at } = found
    const wrong = isLongPattern(pattern)
      ? yield* longPatternFault(pattern)
      : compilePattern(pattern)
    if (wrong instanceof CelError) faults.push(describe(pattern, at, wrong))
  }
  return faults
}

/**
 * Returns the errors of patterns that compile quickly. Does not yield to the event loop. Long
 * patterns are skipped, because they were validated when they were written.
 */
export function shortPatternFaults(schema: Fields, path: string): FieldFault[] {
  return [...patternsIn(schema, path)].flatMap((found) => {
    const wrong =
      found === undefined || isLongPattern(found.pattern)
        ? undefined
        : compilePattern(found.pattern)
    return found !== undefined && wrong instanceof CelError
      ? [describe(found.pattern, found.at, wrong)]
      : []
  })
}

const describe = (pattern: string, path: string, { message }: CelError): FieldFault =>
  invalidValue(path, pattern, `must be a valid regular expression, but isn't: ${message}`)

type PatternField = { readonly pattern: string; readonly at: string }

/**
 * Yields the patterns of a schema. Yields undefined for each schema without a pattern, so that the
 * caller can return to the event loop.
 */
function* patternsIn(schema: Fields, path: string): Generator<PatternField | undefined> {
  const pattern = textOf(schema['pattern'])
  yield pattern === '' ? undefined : { pattern, at: `${path}.pattern` }
  for (const name of ['items', 'additionalProperties', 'not']) {
    const part = schema[name]
    if (isFields(part)) yield* patternsIn(part, `${path}.${name}`)
  }
  const properties = fieldsOf(schema['properties'])
  for (const name of Object.keys(properties))
    yield* patternsIn(fieldsOf(properties[name]), `${path}.properties[${name}]`)
  for (const name of ['allOf', 'anyOf', 'oneOf'])
    for (const [at, part] of listOf(schema[name]).entries())
      yield* patternsIn(fieldsOf(part), `${path}.${name}[${at}]`)
}
