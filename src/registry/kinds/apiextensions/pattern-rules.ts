/** The patterns of a schema must be regular expressions. To compile one takes time, and a schema may have thousands. */
import { RE2JS } from 're2js'
import { type FieldFault, invalidValue } from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../../../api/object.ts'
import type { Slice } from '../../../cel/run.ts'
import type { Turns } from '../../../cel/turns.ts'

export function* validatePatterns(schema: Fields, path: string, slice: Slice): Turns<FieldFault[]> {
  const faults: FieldFault[] = []
  for (const fault of patternFaults(schema, path)) {
    if (fault !== undefined) faults.push(fault)
    if (slice.isOver()) yield undefined
  }
  return faults
}

/** One after the other; undefined for a good one. */
export function* patternFaults(schema: Fields, path: string): Generator<FieldFault | undefined> {
  const pattern = textOf(schema['pattern'])
  if (pattern !== '') yield validatePattern(pattern, `${path}.pattern`)
  for (const name of ['items', 'additionalProperties', 'not']) {
    const part = schema[name]
    if (isFields(part)) yield* patternFaults(part, `${path}.${name}`)
  }
  for (const [name, property] of Object.entries(fieldsOf(schema['properties'])))
    yield* patternFaults(fieldsOf(property), `${path}.properties[${name}]`)
  for (const name of ['allOf', 'anyOf', 'oneOf'])
    for (const [at, part] of itemsOf(schema[name]).entries()) yield* patternFaults(part, `${path}.${name}[${at}]`)
}

function validatePattern(pattern: string, path: string): FieldFault | undefined {
  try {
    RE2JS.compile(pattern)
    return undefined
  } catch (error) {
    const why = error instanceof Error ? error.message : ''
    return invalidValue(path, pattern, `must be a valid regular expression, but isn't: ${why}`)
  }
}
