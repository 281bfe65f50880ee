/**
 * Prints values as the JSON of kube-apiserver's internal types, which errors show since 1.34. These
 * types have no JSON names, so their fields have the names of Go, and absent fields are shown.
 *
 * The catalogue has the name of a type, and its fields in the indented lines below. A field has a
 * type, such as `string`, `*number`, `[]core.Container` or `{}quantity` for a map. Absent pointers,
 * lists and maps are null. The fields of a type after `...` belong to the type that contains it.
 */
import { type Fields, fieldsOf, isFields, type Json, textOf } from '../api/object.ts'
import { compareKeys, printSorted, printString } from '../objects/codec/json.ts'
import { printStruct } from '../objects/codec/print.ts'
import { linesOfRelease } from '../objects/schema/release-lines.ts'
import { internalTypes } from './catalogue/internal.ts'
import { typeOf } from './types.ts'

type InternalField = { readonly name: string; readonly type: string }

type InternalTypes = ReadonlyMap<string, readonly InternalField[]>

/** Types by release. All control planes of a release in a process share one. */
const parsed = new Map<number, InternalTypes>()

/** Prints a value of a type such as `core.ServicePort`, or `[]core.ServicePort`. */
export function printInternal(type: string, value: Json | undefined, release: number): string {
  let types = parsed.get(release)
  if (types === undefined) {
    types = parseTypes(linesOfRelease(internalTypes, release))
    parsed.set(release, types)
  }
  return new Printer(types, release).print(type, value)
}

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

class Printer {
  readonly #types: InternalTypes
  readonly #release: number

  constructor(types: InternalTypes, release: number) {
    this.#types = types
    this.#release = release
  }

  print(type: string, value: Json | undefined): string {
    const isAbsent = value === undefined || value === null
    if (type.startsWith('*')) return isAbsent ? 'null' : this.print(type.slice(1), value)
    if (type.startsWith('[]')) return this.#list(type.slice(2), value)
    if (type.startsWith('{}')) return this.#map(type.slice(2), value)
    // The value is text that a client sent.
    if (type === 'runtime.RawExtension') return textOf(value) || 'null'
    if (isStruct(type)) return `{${this.#members(type, structValue(type, value)).join(',')}}`
    return isAbsent ? (zeros[type] ?? 'null') : printSorted(value)
  }

  #list(type: string, value: Json | undefined): string {
    if (!Array.isArray(value)) return 'null'
    return `[${value.map((item) => this.print(type, item)).join(',')}]`
  }

  #map(type: string, value: Json | undefined): string {
    if (!isFields(value)) return 'null'
    const members = Object.keys(value)
      .toSorted(compareKeys)
      .map((key) => `${printString(key)}:${this.print(type, value[key])}`)
    return `{${members.join(',')}}`
  }

  #members(type: string, value: Fields): readonly string[] {
    if (type.startsWith('meta.')) {
      const text = printStruct(value, typeOf('meta/v1', type.slice('meta.'.length), this.#release))
      return text === '{}' ? [] : [text.slice(1, -1)]
    }
    const names = new Map(Object.keys(value).map((name) => [plainName(name), name]))
    return (this.#types.get(type) ?? []).flatMap((field) => {
      if (field.name.startsWith('...')) return this.#embedded(field.name.slice(3), value)
      const member = value[names.get(field.name.toLowerCase()) ?? '']
      return [`"${field.name}":${this.print(field.type, member)}`]
    })
  }

  #embedded(type: string, value: Fields): readonly string[] {
    return this.#members(type, type === 'meta.ObjectMeta' ? fieldsOf(value['metadata']) : value)
  }
}

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
