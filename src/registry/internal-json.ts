/**
 * Prints values as the JSON of kube-apiserver's internal types, which errors show since 1.34. These
 * types have no JSON names, so their fields have the names of Go, and absent fields are shown.
 *
 * The catalogue has the name of a type, and its fields in the indented lines below. A field has a
 * type, such as `string`, `*number`, `[]core.Container` or `{}quantity` for a map. Absent pointers,
 * lists and maps are null. The fields of a type after `...` belong to the type that contains it.
 */
import { type Fields, fieldsOf, isFields, type Json, textOf } from '../api/object.ts'
import { eachKey } from '../lib/scheduling/parts.ts'
import { cutBeginning, QUOTED_CHARACTERS_MAX } from '../lib/text/cut-text.ts'
import { printSorted, printString, sortedInParts } from '../objects/codec/json.ts'
import { printFields } from '../objects/codec/print.ts'
import { linesOfRelease } from '../objects/schema/release-lines.ts'
import { internalTypes } from './catalogue/internal.ts'
import { typeOf } from './types.ts'

type InternalField = { readonly name: string; readonly type: string }

type InternalTypes = ReadonlyMap<string, readonly InternalField[]>

/** Types by release. All control planes of a release in a process share one. */
const parsed = new Map<number, InternalTypes>()

/**
 * Prints a value of a type such as `core.ServicePort`, or `[]core.ServicePort`. Without a type, the
 * fields keep their order. Only the beginning of a long value is printed.
 */
export function printInternal(
  type: string | undefined,
  value: Json | undefined,
  release: number,
): string {
  let types = parsed.get(release)
  if (types === undefined) {
    types = parseTypes(linesOfRelease(internalTypes, release))
    parsed.set(release, types)
  }
  const text = new Printer(types, release).print(type ?? ORDERED, value, QUOTED_CHARACTERS_MAX)
  return cutBeginning(text)
}

/** The type of values whose fields keep their order. Those of type `any` are sorted. */
const ORDERED = 'ordered'

function parseTypes(text: string): InternalTypes {
  const types = new Map<string, InternalField[]>()
  let fields: InternalField[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    if (line.startsWith(' ')) {
      const [name = '', type = ''] = line.trim().split(' ')
      fields.push({ name, type })
    } else {
      fields = []
      types.set(line, fields)
    }
  }
  return types
}

/** The JSON of absent values. The absent values of all other types are null. */
const zeros: Readonly<Record<string, string>> = {
  string: '""',
  number: '0',
  bool: 'false',
  quantity: '"0"',
}

/**
 * Each method prints at least the first `max` characters of a value, and stops soon after them.
 * Absent fields are shown, so an empty object of two characters can become a thousand characters.
 * Loops that do not print are divided into parts.
 */
class Printer {
  readonly #types: InternalTypes
  readonly #release: number

  constructor(types: InternalTypes, release: number) {
    this.#types = types
    this.#release = release
  }

  print(type: string, value: Json | undefined, max: number): string {
    const isAbsent = value === undefined || value === null
    if (type.startsWith('*')) return isAbsent ? 'null' : this.print(type.slice(1), value, max)
    if (type.startsWith('[]')) return this.#list(type.slice(2), value, max)
    if (type.startsWith('{}')) return this.#map(type.slice(2), value, max)
    // The value is text that a client sent.
    if (type === 'runtime.RawExtension') return (textOf(value) || 'null').slice(0, max + 1)
    if (isStruct(type)) return `{${this.#members(type, structValue(type, value), max)}}`
    if (isAbsent) return zeros[type] ?? 'null'
    if (typeof value === 'string') return printBeginning(value, max)
    if (Array.isArray(value)) return this.#list(type, value, max)
    return isFields(value) ? this.#map(type, value, max) : printSorted(value)
  }

  #list(type: string, value: Json | undefined, max: number): string {
    if (!Array.isArray(value)) return 'null'
    let text = ''
    for (const item of value) {
      if (text.length > max) break
      const printed = this.print(type, item, max - text.length)
      text += text === '' ? printed : `,${printed}`
    }
    return `[${text}]`
  }

  #map(type: string, value: Json | undefined, max: number): string {
    if (!isFields(value)) return 'null'
    let text = ''
    for (const key of type === ORDERED ? Object.keys(value) : sortedInParts(value)) {
      if (text.length > max) break
      if (value[key] === undefined) continue
      const left = max - text.length
      const printed = `${printBeginning(key, left)}:${this.print(type, value[key], left)}`
      text += text === '' ? printed : `,${printed}`
    }
    return `{${text}}`
  }

  /** Prints the fields of a struct, without the braces around them. */
  #members(type: string, value: Fields, max: number): string {
    if (type.startsWith('meta.')) {
      const struct = typeOf('meta/v1', type.slice('meta.'.length), this.#release)
      return printFields(withFewMembers(value), struct, 0)
    }
    const names = eachKey('fields of a struct', value, newNames, (found, name) => {
      found.set(plainName(name), name)
      return true
    })
    let text = ''
    for (const { name, type: of } of this.#types.get(type) ?? []) {
      if (text.length > max) break
      const left = max - text.length
      const printed = name.startsWith('...')
        ? this.#embedded(name.slice(3), value, left)
        : `"${name}":${this.print(of, value[names.get(name.toLowerCase()) ?? ''], left)}`
      if (printed !== '') text += text === '' ? printed : `,${printed}`
    }
    return text
  }

  #embedded(type: string, value: Fields, max: number): string {
    return this.#members(
      type,
      type === 'meta.ObjectMeta' ? fieldsOf(value['metadata']) : value,
      max,
    )
  }
}

/**
 * Maximum number of items or members of a field in metadata. Each has at least four characters, so
 * that a message cannot show more of them.
 */
const MEMBERS_MAX = QUOTED_CHARACTERS_MAX / 4

/** Returns a struct whose lists and maps contain no more members than a message can show. */
const withFewMembers = (struct: Fields): Fields =>
  Object.fromEntries(Object.entries(struct).map(([name, value]) => [name, fewOf(value)]))

function fewOf(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.slice(0, MEMBERS_MAX)
  if (!isFields(value)) return value
  const names = sortedInParts(value)
  if (names.length <= MEMBERS_MAX) return value
  return Object.fromEntries(names.slice(0, MEMBERS_MAX).map((name) => [name, value[name] ?? null]))
}

/** Prints at least the first `max` characters of a string. */
const printBeginning = (text: string, max: number): string =>
  printString(text.length > max ? text.slice(0, max) : text)

/** The names of fields, by their names in Go in small letters. */
const newNames = (): Map<string, string> => new Map()

const isStruct = (type: string): boolean => type.includes('.')

/** Returns the name that a field of JSON has in Go, in small letters. */
const plainName = (name: string): string =>
  name
    .replace(/^x-kubernetes-/, 'x')
    .replaceAll(/[-$]/g, '')
    .toLowerCase()

/** Returns the fields of a struct whose value has another form in JSON. */
function structValue(type: string, value: Json | undefined): Fields {
  const fields = fieldsOf(value)
  const isList = Array.isArray(value)
  switch (type) {
    case 'apiextensions.JSONSchemaPropsOrBool':
      return isFields(value) ? { allows: true, schema: value } : { allows: value === true }
    case 'apiextensions.JSONSchemaPropsOrArray':
      return isList ? { jsonSchemas: value } : { schema: fields }
    case 'apiextensions.JSONSchemaPropsOrStringArray':
      return isList ? { property: value } : { schema: fields }
    case 'core.PodSpec':
      return { ...fields, securityContext: securityContextOf(fields) }
    default:
      return fields
  }
}

/** Some fields of a PodSpec belong to its security context in the internal version. */
const securityContextOf = (spec: Fields): Fields => ({
  ...fieldsOf(spec['securityContext']),
  hostNetwork: spec['hostNetwork'] ?? false,
  hostPID: spec['hostPID'] ?? false,
  hostIPC: spec['hostIPC'] ?? false,
  shareProcessNamespace: spec['shareProcessNamespace'] ?? null,
  hostUsers: spec['hostUsers'] ?? null,
})
