/**
 * Reads the types of built-in kinds from the text in registry/catalogue. A package is read when one
 * of its types is first requested, a type when it is first used: a server that serves ConfigMaps
 * never builds the schema of a Pod.
 *
 *     package core/v1                        the types that follow are core's, version v1
 *
 *     UID = string                           another name for a type
 *     Protocol = string: SCTP|TCP|UDP        the same, and the values that are published for it
 *     Verbs = wrapped []string               the same for a list that protobuf has in a message of its own
 *
 *     ContainerPort                          a struct; `atomic` after its name: has one owner in server-side apply; `unions=` as published
 *       ...LocalObjectReference 1            an embedded struct: its fields are inlined here; in protobuf they are a message, field 1
 *       name string 1                        a field, its type as Go writes it, its number in protobuf (`-`: none)
 *       ports []Port 6 map=name patch=merge key=name default="x"
 *
 * A mark after the name of a field: `!` required and always printed, `+` always printed, `*`
 * required but omitted if it is empty; no mark: optional, and omitted if it is empty. Of a list:
 * `atomic`, `set` or `map=<keys>`; for strategic merge patch `patch=<strategies>` and
 * `key=<field>`; `gate=<name>` if a feature gate that is off drops the field,
 * `gate=<name>:<fields>` if it drops these fields of its value; several gates have a semicolon
 * between them. Types of other packages are written `meta.Time`, `core.Pod` (version v1 of either),
 * those of another version `autoscaling/v2.MetricSpec`.
 */
import type { Json } from '../../api/object.ts'
import { assert } from '../../lib/errors.ts'
import type {
  Embedded,
  Field,
  FieldGate,
  PatchStrategy,
  Scalar,
  ScalarType,
  Schema,
  Struct,
  Topology,
  TypeDefaults,
} from './schema.ts'

type Package = {
  readonly name: string
  /** The prefix of its types in Go's errors: `v1`. */
  readonly goName: string
  /** The text of each type and alias, by name. */
  readonly texts: ReadonlyMap<string, string>
  readonly types: Map<string, Schema>
}

/** Scalars that every package knows by the same name. */
const scalars: ReadonlyMap<string, Scalar> = new Map(
  (
    [
      ['string', 'string', 'string'],
      ['bool', 'boolean', 'bool'],
      ['int32', 'int32', 'int32'],
      ['int64', 'int64', 'int64'],
      ['float64', 'float64', 'float64'],
      ['UID', 'string', 'types.UID'],
      ['Quantity', 'quantity', 'resource.Quantity'],
      ['IntOrString', 'intOrString', 'intstr.IntOrString'],
      ['meta.Time', 'time', 'v1.Time'],
      ['meta.MicroTime', 'microTime', 'v1.MicroTime'],
    ] as const
  )
    .map(([name, type, goName]): [string, Scalar] => [name, { type, goName }])
    // Only configuration files have durations; their readers parse them.
    .concat([['meta.Duration', { type: 'string', goName: 'string', isNullEmpty: true }]]),
)

/** Types whose JSON has no fixed fields. */
const openTypes: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ['RawExtension', { type: 'raw', goName: 'runtime.RawExtension' }],
  ['meta.FieldsV1', { type: 'raw', goName: 'v1.FieldsV1' }],
  ['JSON', { type: 'any', goName: 'v1.JSON' }],
  ['JSONSchemaPropsOrArray', { type: 'any', goName: 'v1.JSONSchemaPropsOrArray' }],
  ['JSONSchemaPropsOrBool', { type: 'any', goName: 'v1.JSONSchemaPropsOrBool' }],
  ['JSONSchemaPropsOrStringArray', { type: 'any', goName: 'v1.JSONSchemaPropsOrStringArray' }],
])

export class TypeCatalogue {
  readonly #unread: Map<string, string>
  readonly #packages = new Map<string, Package>()

  readonly #defaults: ReadonlyMap<string, TypeDefaults>

  /**
   * `texts`: packages by their names; one may be in several files. `defaults`: by package and type,
   * `core/v1 Pod`.
   */
  constructor(
    texts: Iterable<readonly [string, string]>,
    defaults: ReadonlyMap<string, TypeDefaults>,
  ) {
    this.#unread = new Map()
    for (const [name, text] of texts)
      this.#unread.set(name, `${this.#unread.get(name) ?? ''}${text}`)
    this.#defaults = defaults
  }

  /** `find('core/v1', 'Pod')`. Undefined if there is no such type. */
  find(packageName: string, typeName: string): Struct | undefined {
    const own = this.#package(packageName)
    if (own === undefined || !own.texts.has(typeName)) return undefined
    const schema = this.#named(own, typeName)
    return schema.type === 'struct' ? schema : undefined
  }

  struct(packageName: string, typeName: string): Struct {
    const found = this.find(packageName, typeName)
    assert(found !== undefined, `the catalogue has ${packageName} ${typeName}`)
    return found
  }

  #package(name: string): Package | undefined {
    const known = this.#packages.get(name)
    const text = this.#unread.get(name)
    if (known !== undefined || text === undefined) return known
    const made = {
      name,
      goName: name.slice(name.indexOf('/') + 1),
      texts: splitTypes(text),
      types: new Map(),
    }
    this.#packages.set(name, made)
    return made
  }

  /** The schema of a Go type expression, as seen from a package. */
  #type(own: Package, go: string): Schema {
    if (go === '[]byte') return { type: 'bytes', goName: '[]uint8' }
    if (go.startsWith('[]')) {
      const of = this.#type(own, go.slice(2))
      return { type: 'list', of, goName: `[]${of.goName}` }
    }
    if (go.startsWith('map[')) {
      const end = go.indexOf(']')
      const key = this.#type(own, go.slice(4, end))
      const of = this.#type(own, go.slice(end + 1))
      return { type: 'map', of, goName: `map[${key.goName}]${of.goName}` }
    }
    const fixed =
      scalars.get(go) ??
      openTypes.get(go) ??
      scalars.get(`meta.${go}`) ??
      openTypes.get(`meta.${go}`)
    if (fixed !== undefined) return fixed
    const dot = go.indexOf('.')
    const other = go.slice(0, dot)
    const owner = dot === -1 ? own : this.#package(other.includes('/') ? other : `${other}/v1`)
    assert(owner !== undefined, `the catalogue has the package of ${go}`)
    return this.#named(owner, go.slice(dot + 1))
  }

  #named(own: Package, name: string): Schema {
    const known = own.types.get(name)
    if (known !== undefined) return known
    const text = own.texts.get(name)
    assert(text !== undefined, `the catalogue has ${own.name} ${name}`)
    if (text.startsWith('= ')) {
      const isWrapped = text.startsWith('= wrapped ')
      const [go = '', values] = text
        .slice(isWrapped ? '= wrapped '.length : '= '.length)
        .split(': ')
      const schema = {
        ...this.#type(own, go),
        goName: `${own.goName}.${name}`,
        ...(isWrapped ? { isWrapped } : {}),
        ...(values === undefined ? {} : { values: values.split('|') }),
      }
      own.types.set(name, schema)
      return schema
    }
    return this.#readStruct(own, name, text)
  }

  #readStruct(own: Package, name: string, text: string): Struct {
    const [head = '', ...lines] = text.split('\n')
    const fields: Field[] = []
    const byName = new Map<string, Field>()
    const marks = head.split(' ')
    const isAtomic = marks.includes('atomic')
    const unions = marks.find((mark) => mark.startsWith('unions='))?.slice('unions='.length)
    const goName = `${own.goName}.${name}`
    const defaults = this.#defaults.get(`${own.name} ${name}`)
    const embedded: Embedded[] = []
    const struct: Struct = {
      type: 'struct',
      name,
      packageName: own.name,
      goName,
      isAtomic,
      ...(unions === undefined ? {} : { unions: JSON.parse(unions) }),
      defaults,
      fields,
      byName,
      embedded,
    }
    // Registered before its fields are read: a type may contain itself.
    own.types.set(name, struct)
    for (const line of lines) {
      const inline = line.startsWith('...') ? this.#readEmbedded(own, line) : undefined
      if (inline !== undefined) embedded.push(inline)
      for (const field of inline?.struct.fields ?? [this.#readField(own, line)]) {
        fields.push(field)
        byName.set(field.name, field)
      }
    }
    return struct
  }

  #readEmbedded(own: Package, line: string): Embedded {
    const [go = '', number = '0'] = line.slice('...'.length).split(' ')
    const struct = this.#type(own, go)
    assert(struct.type === 'struct', `what stands inline is a struct: ${line}`)
    return { struct, number: Number(number) }
  }

  #readField(own: Package, line: string): Field {
    const [marked = '', go = '', number = '', ...options] = line.split(' ')
    const mark = /[!+*]$/.exec(marked)?.[0] ?? ''
    const isPointer = go.startsWith('*')
    const schema = this.#type(own, isPointer ? go.slice(1) : go)
    const isAlways = mark === '!' || mark === '+'
    return {
      name: mark === '' ? marked : marked.slice(0, -1),
      schema,
      isPointer,
      omit: isAlways ? 'never' : isPointer ? 'absent' : omitOf(schema),
      isRequired: mark === '!' || mark === '*',
      number: number === '-' ? 0 : Number(number),
      ...readOptions(options),
    }
  }
}

/**
 * Go omits a struct only behind a pointer; and its times, quantities and open types are structs.
 */
const omitOf = (schema: Schema): Field['omit'] => (structs.has(schema.type) ? 'never' : 'empty')

const structs: ReadonlySet<ScalarType | Schema['type']> = new Set([
  'struct',
  'any',
  'raw',
  'time',
  'microTime',
  'quantity',
  'intOrString',
] as const)

function readOptions(
  options: readonly string[],
): Pick<Field, 'topology' | 'patch' | 'default' | 'gates'> {
  let topology: Topology | undefined
  let strategies: readonly string[] = []
  let key: string | undefined
  let value: Json | undefined
  let gates: readonly FieldGate[] = []
  for (const option of options) {
    const at = option.indexOf('=')
    const name = at === -1 ? option : option.slice(0, at)
    const text = option.slice(at + 1)
    if (name === 'atomic' || name === 'set' || name === 'granular') topology = { type: name }
    else if (name === 'map') topology = { type: 'map', keys: text.split(',') }
    else if (name === 'patch') strategies = text.split(',')
    else if (name === 'key') key = text
    else if (name === 'default') value = JSON.parse(text)
    else if (name === 'gate') gates = text.split(';').map(readGate)
  }
  const patch: PatchStrategy | undefined =
    strategies.length === 0 && key === undefined ? undefined : { strategies, key }
  return { topology, patch, default: value, gates }
}

function readGate(text: string): FieldGate {
  const [name = '', fields] = text.split(':')
  return { name, of: fields?.split(',') ?? [] }
}

/** The paragraphs of a package by the name that each begins with; `= type` for an alias. */
function splitTypes(text: string): Map<string, string> {
  const texts = new Map<string, string>()
  for (const paragraph of text.split('\n\n')) {
    const body = paragraph.trim()
    if (body === '' || body.startsWith('package ')) continue
    if (/^\w+ = /.test(body)) {
      for (const line of body.split('\n')) {
        const [name = '', type = ''] = line.split(' = ')
        texts.set(name, `= ${type}`)
      }
      continue
    }
    const lines = body.split('\n').map((line) => line.trim())
    const [name = ''] = (lines[0] ?? '').split(' ')
    texts.set(name, lines.join('\n'))
  }
  return texts
}

/** The texts of the packages in a file of the catalogue. */
export function splitPackages(file: string): Map<string, string> {
  const packages = file.split(/^package /m).slice(1)
  return new Map(
    packages.map((text) => [text.slice(0, text.indexOf('\n')), text.slice(text.indexOf('\n'))]),
  )
}
