/**
 * Prints values as JSON according to their schema. The bytes are exactly those of Go: fields are in
 * the order of their declaration, map keys are sorted, empty fields are omitted where Go omits
 * them, and unknown fields are dropped. A schema is compiled to functions once, and printing only
 * calls them.
 */
import { type Fields, fieldsOf, isFields, type Json } from '../../api/object.ts'
import { zeroTime } from '../../api/time.ts'
import { assert } from '../../lib/errors.ts'
import { joinedInParts } from '../../lib/scheduling/join-in-parts.ts'
import { isDivided } from '../../lib/scheduling/parts.ts'
import type { Field, Schema, Struct } from '../schema/schema.ts'
import {
  printOrdered,
  printSorted,
  printString,
  printText,
  sortedInParts,
  sortedKeys,
} from './json.ts'

type Print = (value: Json) => string

type FieldPrinter = {
  readonly name: string
  /**
   * The printed name of the field, as in `"name":`. `nextKey` also has a comma at its start, for
   * all fields but the first.
   */
  readonly key: string
  readonly nextKey: string
  readonly print: Print
  /** Prints the field if it is absent. Undefined if an absent field is omitted. */
  readonly zero: (() => string) | undefined
  readonly omitsZero: boolean
  readonly omitsBraces: boolean
}

/** Printers, cached by schema. They depend only on the schema. */
const printers = new WeakMap<Struct, readonly FieldPrinter[]>()

export function printStruct(value: Fields, struct: Struct): string {
  return `{${printFields(value, struct, 0)}}`
}

export type OpenText = {
  readonly text: string
  /** Position of the end of the metadata in the text. */
  readonly metadataEnd: number
}

/** Prints an object of a custom kind, with its fields sorted by name. */
export function printOpen(object: Fields, struct: Struct): OpenText {
  const { byName } = struct
  let text = '{'
  let metadataEnd = 0
  for (const key of sortedKeys(object)) {
    const value = object[key]
    if (value === undefined) continue
    const schema = byName.get(key)?.schema
    const printed = schema === undefined ? printSorted(value) : printerOf(schema, struct)(value)
    text += `${text === '{' ? '' : ','}${printString(key)}:${printed}`
    if (key === 'metadata') metadataEnd = text.length
  }
  return { text: `${text}}`, metadataEnd }
}

/**
 * Prints the fields of a JSON object, without the braces around them. Leaves out the first `skip`
 * fields of the struct.
 */
export function printFields(value: Fields, struct: Struct, skip: number): string {
  return printInside(value, fieldPrinters(struct), skip)
}

function fieldPrinters(struct: Struct): readonly FieldPrinter[] {
  const known = printers.get(struct)
  if (known !== undefined) return known
  const made: FieldPrinter[] = []
  // Cache the type before its fields are compiled, because they can contain the type again.
  printers.set(struct, made)
  for (const field of struct.fields) made.push(fieldPrinter(field, struct))
  return made
}

function fieldPrinter({ name, schema, isPointer, omit }: Field, owner: Struct): FieldPrinter {
  const print = omit === 'never' && !isPointer ? orNull(schema, owner) : printerOf(schema, owner)
  const zero = isPointer || omit !== 'never' ? () => 'null' : () => print(null)
  return {
    name,
    key: `"${name}":`,
    nextKey: `,"${name}":`,
    print,
    zero: omit === 'never' ? zero : undefined,
    // Go prints an empty JSONSchemaPropsOrArray as null. It is left out here, because null and an
    // absent field mean the same to clients.
    omitsZero:
      omit === 'empty' || (schema.type === 'any' && schema.goName === 'v1.JSONSchemaPropsOrArray'),
    omitsBraces: omit === 'empty',
  }
}

/**
 * Returns the printer of a field that is always printed. It prints an empty list or map as null,
 * because protobuf does not distinguish them from absent values. The rules in a
 * SelfSubjectRulesReview are an exception: they are never stored, and never null.
 */
function orNull(schema: Schema, owner: Struct): Print {
  const print = printerOf(schema, owner)
  if (owner.goName === 'v1.SubjectRulesReviewStatus') return print
  if (schema.type === 'list')
    return (value) => (Array.isArray(value) && value.length === 0 ? 'null' : print(value))
  if (schema.type !== 'map') return print
  return (value) => {
    const text = print(value)
    return text === '{}' ? 'null' : text
  }
}

/**
 * Prints the fields from index `skip` on. The text is only appended to: V8 represents it as a tree,
 * and reading a part of it would first copy the tree to a flat string.
 */
function printInside(value: Fields, fields: readonly FieldPrinter[], skip: number): string {
  let text = ''
  for (let at = skip; at < fields.length; at++) {
    const field = fields[at]
    assert(field !== undefined, 'the field is one of the fields')
    const given = value[field.name] ?? null
    if (given === null) {
      if (field.zero !== undefined) text += (text === '' ? field.key : field.nextKey) + field.zero()
    } else {
      // Empty maps are detected below, when their printed text is `{}`.
      const isEmpty = Array.isArray(given)
        ? given.length === 0
        : given === '' || given === 0 || given === false
      if (isEmpty && field.omitsZero) continue
      const printed = field.print(given)
      if (field.omitsBraces && printed === '{}') continue
      text += (text === '' ? field.key : field.nextKey) + printed
    }
  }
  return text
}

/**
 * Returns the printer of a type. For null, it prints the zero value of the type. `owner` is the
 * struct that contains the field.
 */
function printerOf(schema: Schema, owner: Struct): Print {
  switch (schema.type) {
    case 'string':
    case 'bytes':
      return printText
    case 'time':
    case 'microTime':
      return (value) => (value === null || value === zeroTime ? 'null' : printText(value))
    case 'quantity':
      return (value) => (value === null ? '"0"' : printText(value))
    case 'intOrString':
      return (value) => (typeof value === 'string' ? printString(value) : printNumber(value))
    case 'boolean':
      return (value) => (value === true ? 'true' : 'false')
    case 'int32':
    case 'int64':
    case 'float64':
      return printNumber
    case 'any':
      return openPrinter(schema.goName, owner)
    case 'raw':
      return (value) => (typeof value === 'string' ? value : 'null')
    case 'list':
      return listPrinter(schema.of, owner)
    case 'map':
      return mapPrinter(schema.of, owner)
    case 'struct': {
      const fields = fieldPrinters(schema)
      return (value) => `{${printInside(fieldsOf(value), fields, 0)}}`
    }
  }
}

/**
 * Prints a number. JavaScript and Go print the same digits, and use exponents for the same numbers.
 * The only difference is negative zero.
 */
const printNumber: Print = (value) => {
  if (typeof value === 'bigint') return `${value}`
  if (typeof value !== 'number') return '0'
  return Object.is(value, -0) ? '-0' : `${value}`
}

/**
 * Returns the printer for any JSON, which sorts its keys. Types in CRD schemas with more than one
 * JSON representation have their own printer. A schema nested in such a value has the type of the
 * struct that contains the field.
 */
function openPrinter(goName: string, owner: Struct): Print {
  if (!goName.startsWith('v1.JSONSchemaPropsOr')) return printSorted
  const fields = fieldPrinters(owner)
  const print: Print = (value) => {
    if (Array.isArray(value)) return `[${value.map(print).join(',')}]`
    return isFields(value) ? `{${printInside(value, fields, 0)}}` : printOrdered(value)
  }
  return print
}

function listPrinter(of: Schema, owner: Struct): Print {
  const print = printerOf(of, owner)
  return (value) => {
    if (value === null) return 'null'
    assert(Array.isArray(value), 'a list was decoded as one')
    if (isDivided()) return `[${joinedInParts(value, print)}]`
    let text = ''
    for (const item of value) text += text === '' ? print(item) : `,${print(item)}`
    return `[${text}]`
  }
}

function mapPrinter(of: Schema, owner: Struct): Print {
  const print = printerOf(of, owner)
  return (value) => {
    if (value === null) return 'null'
    assert(isFields(value), 'a map was decoded as one')
    if (isDivided()) {
      const keys = sortedInParts(value)
      return `{${joinedInParts(keys, (key) => `${printString(key)}:${print(value[key] ?? null)}`)}}`
    }
    let text = ''
    for (const key of sortedKeys(value)) {
      text += `${text === '' ? '' : ','}${printString(key)}:${print(value[key] ?? null)}`
    }
    return `{${text}}`
  }
}
