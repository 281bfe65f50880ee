/**
 * The definitions of types for OpenAPI documents. Each definition is generated when it is first
 * referenced. The definitions have the format of OpenAPI v3, and v2.ts converts them to v2. As in
 * all OpenAPI documents of the server, the fields of a schema are sorted by name.
 */
import { type Fields, isFields, type Json } from '../../../api/object.ts'
import type { Gates } from '../../../api/gates.ts'
import { assert } from '../../../lib/errors.ts'
import { findType, typeOf } from '../../../registry/types.ts'
import type { Field, Schema, Struct } from '../../../objects/schema/schema.ts'
import { type DescribedType, Descriptions } from './descriptions.ts'
import { everyGroupVersion, fixedNames, fixedSchemas, unknownToCustom } from './fixed-schemas.ts'
import { definitionName, groupVersionOf, type GroupVersionKind } from './names.ts'

export type OpenApiDefinition = {
  readonly schema: Fields
  /** Names of the definitions that the schema references. */
  readonly uses: ReadonlySet<string>
  /** Whether this is a custom resource that preserves unknown fields. */
  readonly isOpen?: boolean
}

export const refTo = (name: string): Fields => ({ $ref: `${refPrefix}${name}` })
export const refPrefix = '#/components/schemas/'

/**
 * Extensions of the field `items` of list kinds, by kind. They are intended for another list, but
 * kube-apiserver publishes them for this field by mistake.
 */
const listMarks: ReadonlyMap<string, Fields> = new Map([
  [
    'storagemigration.k8s.io StorageVersionMigrationList',
    {
      'x-kubernetes-list-map-keys': ['type'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'type',
      'x-kubernetes-patch-strategy': 'merge',
    },
  ],
])

type ListNames = { readonly listName: string; readonly item: string }
type ListSchemas = { readonly items: Fields; readonly metadata: Fields }

/** Definitions by name: all built-in ones and, for some documents, those of custom resources. */
export type DefinitionSource = { readonly get: (name: string) => OpenApiDefinition }

export class OpenApiDefinitions {
  readonly #hasEnums: boolean
  readonly #descriptions = new Descriptions()
  /** Referenced types, by the names of their definitions. */
  readonly #structs = new Map<string, Struct>()
  readonly #made = new Map<string, OpenApiDefinition>()
  #fixed: ReadonlyMap<string, Fields> | undefined
  #customDeleteOptions: OpenApiDefinition | undefined

  readonly #release: number

  /** `gates` determine the types, and whether schemas list the values of an enumeration. */
  constructor(gates: Gates) {
    this.#hasEnums = gates.isOn('OpenAPIEnums')
    this.#release = gates.release
  }

  /** Returns the description of a type or of one of its fields. */
  describe(type: DescribedType, field?: string): string | undefined {
    return this.#descriptions.of(type, field)
  }

  /**
   * Returns a definition. `name` must be the result of another method, or a reference in a returned
   * definition.
   */
  get(name: string): OpenApiDefinition {
    const made = this.#made.get(name) ?? this.#make(name)
    this.#made.set(name, made)
    return made
  }

  /** The definition of DeleteOptions in documents of custom resources, which list fewer groups. */
  get customDeleteOptions(): OpenApiDefinition {
    return (this.#customDeleteOptions ??= this.#makeCustomDeleteOptions())
  }

  #makeCustomDeleteOptions(): OpenApiDefinition {
    const { schema, uses } = this.get(this.ofMeta('DeleteOptions'))
    const places = everyGroupVersion(this.#release).filter(
      ({ group }) => !unknownToCustom.has(group),
    )
    return { schema: { ...schema, [gvkKey]: gvksOf('DeleteOptions', places) }, uses }
  }

  /** Returns the definition name of a built-in type. */
  ofType(struct: Struct): string {
    const name = definitionName(struct)
    this.#structs.set(name, struct)
    return name
  }

  /** Returns the definition name of a type that all APIs share, such as ListMeta. */
  ofMeta(typeName: string): string {
    return this.ofType(typeOf('meta/v1', typeName, this.#release))
  }

  /** Returns the definition name of a type of a package, or undefined if it does not exist. */
  find(packageName: string, typeName: string): string | undefined {
    const struct = findType(packageName, typeName, this.#release)
    return struct && this.ofType(struct)
  }

  /** Returns the definition name of a list. `item` is the definition of the list's items. */
  ofList(gvk: GroupVersionKind, { listName, item }: ListNames): string {
    if (this.#made.has(listName)) return listName
    const listMeta = this.ofMeta('ListMeta')
    const items = { allOf: [refTo(item)], default: {} }
    const metadata = {
      allOf: [refTo(listMeta)],
      default: {},
      description: this.describe('List', 'metadata'),
    }
    this.#made.set(listName, {
      schema: this.listSchema(gvk, { items, metadata }),
      uses: new Set([item, listMeta]),
    })
    return listName
  }

  listSchema({ group, kind, version }: GroupVersionKind, { items, metadata }: ListSchemas): Fields {
    return {
      description: `A list of ${kind.replace(/List$/, '')} objects.`,
      properties: {
        apiVersion: { description: this.describe('List', 'apiVersion'), type: 'string' },
        items: {
          description: 'The objects in the list.',
          items,
          type: 'array',
          ...listMarks.get(`${group} ${kind}`),
        },
        kind: { description: this.describe('List', 'kind'), type: 'string' },
        metadata,
      },
      required: ['items'],
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group, kind, version }],
    }
  }

  #make(name: string): OpenApiDefinition {
    const struct = this.#structs.get(name)
    const schema = struct === undefined ? this.#fixedSchema(name) : this.#structSchema(struct)
    assert(schema !== undefined, `OpenAPI has a definition of ${name}`)
    return { schema, uses: refsIn(schema) }
  }

  #fixedSchema(name: string): Fields | undefined {
    return (this.#fixed ??= fixedSchemas(this.#descriptions, this.#release)).get(name)
  }

  #structSchema(struct: Struct): Fields {
    const fields = struct.fields.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const required = struct.fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)
    return {
      description: this.describe(struct),
      ...(fields.length === 0
        ? {}
        : {
            properties: Object.fromEntries(
              fields.map((field) => [field.name, this.#property(field, struct)]),
            ),
          }),
      ...(required.length === 0 ? {} : { required }),
      type: 'object',
      ...gvkExtension(struct, this.#release),
      ...(struct.isAtomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
      ...(struct.unions === undefined ? {} : { 'x-kubernetes-unions': struct.unions }),
    }
  }

  #property(field: Field, struct: Struct): Fields {
    const { schema, isPointer, topology, patch } = field
    const { default: zero, ...type } = this.#type(schema)
    const isStruct = schema.type === 'struct'
    const hasZero =
      (!isPointer && (isStruct || field.omit === 'never')) || field.isDefaultZero === true
    const isAlone = isUnwrapped(struct.name, field.name)
    const isMapType = schema.type === 'map' || topology?.type === 'granular'
    const { $ref, ...inline } = type
    return sorted({
      ...inline,
      // In OpenAPI 3.0, clients can ignore fields next to a reference, so the reference is wrapped.
      ...($ref === undefined ? {} : isAlone ? { $ref } : { allOf: [{ $ref }] }),
      default: field.default ?? (hasZero ? zero : undefined),
      description: this.describe(struct, field.name),
      ...(topology?.type === 'map' ? { 'x-kubernetes-list-map-keys': topology.keys } : {}),
      [isMapType ? 'x-kubernetes-map-type' : 'x-kubernetes-list-type']: topology?.type,
      'x-kubernetes-patch-merge-key': patch?.key,
      'x-kubernetes-patch-strategy':
        patch === undefined || patch.strategies.length === 0
          ? undefined
          : patch.strategies.join(','),
    })
  }

  /** Returns the schema of a type, with the zero value of the type as `default`. */
  #type(schema: Schema): Fields {
    switch (schema.type) {
      case 'struct':
        return { ...refTo(this.ofType(schema)), default: {} }
      case 'list':
        return { items: this.#item(schema.of), type: 'array' }
      case 'map':
        return { additionalProperties: this.#item(schema.of), type: 'object' }
      case 'string':
        return { default: '', enum: this.#hasEnums ? schema.values : undefined, type: 'string' }
      case 'boolean':
        return { default: false, type: 'boolean' }
      case 'int32':
      case 'int64':
        return { default: 0, format: schema.type, type: 'integer' }
      case 'float64':
        return { default: 0, format: 'double', type: 'number' }
      case 'bytes':
        return { format: 'byte', type: 'string' }
      case 'any':
      case 'raw':
      case 'time':
      case 'microTime':
      case 'quantity':
      case 'intOrString': {
        const name = fixedNames.get(schema.goName)
        assert(name !== undefined, `OpenAPI has a definition of ${schema.goName}`)
        return refTo(name)
      }
    }
  }

  #item(schema: Schema): Fields {
    const { $ref, ...type } = this.#type(schema)
    if ($ref === undefined) return sorted(type)
    return type['default'] === undefined ? { $ref } : { allOf: [{ $ref }], ...type }
  }
}

/**
 * Whether kube-apiserver publishes the field without a description, and therefore does not wrap its
 * reference. Keelson adds a description next to the reference, where kubectl finds it.
 */
const isUnwrapped = (type: string, field: string): boolean =>
  type === 'JSONSchemaProps' ? field !== 'default' : type === 'IngressRule' && field === 'http'

/**
 * Returns the extension with the groups, versions and kinds of a type. A type with TypeMeta has its
 * own group and version, and DeleteOptions has every group and version that exists or existed.
 */
function gvkExtension({ name, packageName, embedded }: Struct, release: number): Fields {
  if (!embedded.some(({ struct }) => struct.name === 'TypeMeta')) return {}
  const places =
    name === 'DeleteOptions' ? everyGroupVersion(release) : [groupVersionOf(packageName)]
  return { [gvkKey]: gvksOf(name, places) }
}

const gvkKey = 'x-kubernetes-group-version-kind'

const gvksOf = (kind: string, places: ReturnType<typeof everyGroupVersion>): readonly Fields[] =>
  places.map(({ group, version }) => ({ group, kind, version }))

function refsIn(value: Json | undefined, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) refsIn(item, found)
  if (!isFields(value)) return found
  const { $ref } = value
  if (typeof $ref === 'string') found.add($ref.slice(refPrefix.length))
  for (const field of Object.values(value)) refsIn(field, found)
  return found
}

const sorted = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)))
