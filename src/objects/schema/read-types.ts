/**
 * Reads the types of built-in kinds from the text in registry/catalogue. A package is read when one
 * of its types is first requested, and a type is read when it is first used. A server that serves
 * only ConfigMaps therefore never creates the schema of a Pod. The format is:
 *
 *     package core/v1                  the types that follow belong to core, version v1
 *
 *     UID = string                     an alias of a type
 *     Protocol = string: SCTP|TCP|UDP  an alias with the enum values that are published for it
 *     Verbs = wrapped []string         an alias of a list that is a separate message in protobuf
 *
 *     ContainerPort                    a struct
 *       ...LocalObjectReference 1      an embedded struct, with its field number in protobuf
 *       name string 1                  a field: name, Go type, number in protobuf (`-`: none)
 *       ports []Port 6 map=name patch=merge key=name default="x"
 *
 * The name of a struct can be followed by `atomic`, if the struct has a single owner in server-side
 * apply, and by `unions=` with the published value of x-kubernetes-unions. The fields of an
 * embedded struct are inlined in JSON; in protobuf they are a separate message.
 *
 * The name of a field can end with a mark. A field without a mark is optional, and omitted if it is
 * empty.
 * - `!`: required and always printed
 * - `+`: always printed
 * - `*`: required, but omitted if it is empty
 *
 * The number of a field can be followed by options:
 * - `atomic`, `granular`, `set` or `map=<keys>`: the topology for server-side apply
 * - `patch=<strategies>` and `key=<field>`: how strategic merge patch merges the field
 * - `default=<JSON>`: the published default
 * - `gate=<name>`: a feature gate that drops the field while it is off; `gate=<name>:<fields>`
 *   drops only these fields of its value. Several gates are separated by semicolons.
 *
 * - `omitzero`: the field is omitted if it is empty, although it is a struct in Go
 *
 * A line can end with a mark for the releases of Kubernetes that have it, which release-lines.ts
 * reads.
 *
 * Types of other packages are written `meta.Time` or `core.Pod` for version v1, and
 * `autoscaling/v2.MetricSpec` for any other version.
 */
import type { Json } from '../../api/object.ts'
import { assert } from '../../lib/errors.ts'
import { linesOfRelease } from './release-lines.ts'
import {
  type Embedded,
  type Field,
  type FieldGate,
  INNER_NAMED_SINCE,
  PARTIAL_KEYS_SINCE,
  type PatchStrategy,
  type Scalar,
  type ScalarType,
  type Schema,
  type Struct,
  type Topology,
  type TypeDefaults,
} from './schema.ts'

type Package = {
  readonly name: string
  /** The prefix that Go's error messages add to names of types in the package, such as `v1`. */
  readonly goName: string
  /** The text of each type and alias, keyed by name. */
  readonly texts: ReadonlyMap<string, string>
  readonly types: Map<string, Schema>
}

/** Scalars whose names are the same in all packages. */
const scalars: ReadonlyMap<string, Scalar> = new Map(
  (
    [
      ['string', 'string', 'string'],
      ['bool', 'boolean', 'bool'],
      ['int32', 'int32', 'int32'],
      ['int64', 'int64', 'int64'],
      ['float64', 'float64', 'float64'],
      ['UID', 'string', 'types.UID'],
      ['NodeName', 'string', 'types.NodeName'],
      ['Quantity', 'quantity', 'resource.Quantity'],
      ['IntOrString', 'intOrString', 'intstr.IntOrString'],
      ['meta.Time', 'time', 'v1.Time'],
      ['meta.MicroTime', 'microTime', 'v1.MicroTime'],
    ] as const
  )
    .map(([name, type, goName]): [string, Scalar] => [name, { type, goName }])
    // A Duration is read as a string, because it occurs only in configuration files. The code that
    // reads these files parses it.
    .concat([['meta.Duration', { type: 'string', goName: 'string', isNullEmpty: true }]]),
)

/** Types whose JSON can have any fields. */
const openTypes: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ['RawExtension', { type: 'raw', goName: 'runtime.RawExtension' }],
  ['meta.FieldsV1', { type: 'raw', goName: 'v1.FieldsV1' }],
  ['JSON', { type: 'any', goName: 'v1.JSON' }],
  ['JSONSchemaPropsOrArray', { type: 'any', goName: 'v1.JSONSchemaPropsOrArray' }],
  ['JSONSchemaPropsOrBool', { type: 'any', goName: 'v1.JSONSchemaPropsOrBool' }],
  ['JSONSchemaPropsOrStringArray', { type: 'any', goName: 'v1.JSONSchemaPropsOrStringArray' }],
])

export type TypeCatalogueOptions = {
  /** The text of each package, by its name. Several catalogues can use the same texts. */
  readonly texts: ReadonlyMap<string, string>
  /** Defaults keyed by package and type, such as `core/v1 Pod`. */
  readonly defaults: ReadonlyMap<string, TypeDefaults>
  /** Minor version of the Kubernetes release for which types are read. */
  readonly release: number
}

export class TypeCatalogue {
  readonly #texts: ReadonlyMap<string, string>
  readonly #packages = new Map<string, Package>()

  readonly #defaults: ReadonlyMap<string, TypeDefaults>
  readonly #release: number

  constructor({ texts, defaults, release }: TypeCatalogueOptions) {
    this.#texts = texts
    this.#defaults = defaults
    this.#release = release
  }

  /** Returns a type, as in `find('core/v1', 'Pod')`. Returns undefined if it does not exist. */
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
    const text = this.#texts.get(name)
    if (known !== undefined || text === undefined) return known
    const made = {
      name,
      goName: name.slice(name.indexOf('/') + 1),
      texts: splitTypes(linesOfRelease(text, this.#release)),
      types: new Map(),
    }
    this.#packages.set(name, made)
    return made
  }

  /** Returns the schema for a Go type expression in a package. */
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
    if (fixed !== undefined)
      return fixed.type === 'any' && this.#release >= INNER_NAMED_SINCE
        ? { ...fixed, namesInner: true }
        : fixed
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
      hasPartialKeys: this.#release >= PARTIAL_KEYS_SINCE,
      ...(unions === undefined ? {} : { unions: JSON.parse(unions) }),
      defaults,
      fields,
      byName,
      embedded,
    }
    // Cache the struct before its fields are read, because they can contain the struct again.
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
    assert(struct.type === 'struct', `an embedded type is a struct: ${line}`)
    return { struct, number: Number(number) }
  }

  #readField(own: Package, line: string): Field {
    const [marked = '', go = '', number = '', ...options] = line.split(' ')
    const mark = /[!+*]$/.exec(marked)?.[0] ?? ''
    const isPointer = go.startsWith('*')
    const schema = this.#type(own, isPointer ? go.slice(1) : go)
    const isAlways = mark === '!' || mark === '+'
    const isOmittedAbsent = isPointer || options.includes('omitzero')
    return {
      name: mark === '' ? marked : marked.slice(0, -1),
      schema,
      isPointer,
      omit: isAlways ? 'never' : isOmittedAbsent ? 'absent' : omitOf(schema),
      isRequired: mark === '!' || mark === '*',
      number: number === '-' ? 0 : Number(number),
      ...withoutZeroDefault(readOptions(options), isPointer),
    }
  }
}

type FieldOptions = Pick<Field, 'topology' | 'patch' | 'default' | 'isDefaultZero' | 'gates'>

/**
 * Removes a default that is the zero value, and marks the field instead. For a field that is not a
 * pointer, such a default has no effect.
 */
const withoutZeroDefault = (options: FieldOptions, isPointer: boolean): FieldOptions =>
  isPointer || options.default === undefined || !zeros.has(options.default)
    ? options
    : { ...options, default: undefined, isDefaultZero: true }

const zeros: ReadonlySet<Json> = new Set<Json>(['', 0, false])

/**
 * Returns when Go omits a field of this type. It omits a struct only if the field is a pointer.
 * Times, quantities and some other types are also structs in Go.
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

function readOptions(options: readonly string[]): FieldOptions {
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

/**
 * Splits the text of a package into the texts of its types, keyed by name. The text of an alias is
 * `= type`.
 */
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

/**
 * Splits files of the catalogue into the texts of their packages, keyed by name. A package can
 * consist of several texts.
 */
export function splitPackages(...files: readonly string[]): Map<string, string> {
  const packages = new Map<string, string>()
  for (const file of files) {
    for (const text of file.split(/^package /m).slice(1)) {
      const end = text.indexOf('\n')
      const name = text.slice(0, end)
      packages.set(name, `${packages.get(name) ?? ''}${text.slice(end)}`)
    }
  }
  return packages
}
