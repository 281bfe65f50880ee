/**
 * Custom kinds in OpenAPI: the schema that a definition has, with what every object has. It is read for one document and let
 * go: there may be thousands, and each may change while documents are made.
 */
import { type Fields, fieldsOf, isFields, type Json } from '../../api/object.ts'
import { listMetaStruct } from '../../registry/meta-types.ts'
import type { Resource } from '../../registry/resource.ts'
import { typeOf } from '../../registry/types.ts'
import { type Definition, type Definitions, type DefinitionSource, refTo } from './definitions.ts'
import { customName } from './names.ts'

export const customInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } as const

/** The definitions of these kinds and of their lists, and all that are built in. */
export function withCustomKinds(resources: readonly Resource[], builtIn: Definitions): DefinitionSource {
  const own = new Map<string, Definition>()
  for (const resource of resources.filter(({ isCustom }) => isCustom)) {
    own.set(customName(resource), customKind(resource, builtIn))
    const { group, version, listKind } = resource
    own.set(customName({ group, version, kind: listKind }), customList(resource, builtIn))
  }
  return { get: (name) => own.get(name) ?? builtIn.get(name) }
}

function customKind(resource: Resource, builtIn: Definitions): Definition {
  const { group, version, kind, publishedSchema } = resource
  const schema = publishedSchema?.() ?? {}
  const objectMeta = builtIn.ofType(typeOf('meta/v1', 'ObjectMeta'))
  const whole = publishedSchemaOf({
    ...schema,
    properties: {
      ...fieldsOf(schema['properties']),
      apiVersion: { description: builtIn.describe(kind, 'apiVersion'), type: 'string' },
      kind: { description: builtIn.describe(kind, 'kind'), type: 'string' },
      metadata: { allOf: [refTo(objectMeta)], description: builtIn.describe(kind, 'metadata') },
    },
    type: 'object',
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
  })
  return { schema: whole, uses: new Set([objectMeta]) }
}

function customList({ group, version, kind, listKind }: Resource, builtIn: Definitions): Definition {
  const item = customName({ group, version, kind })
  const listMeta = builtIn.ofType(listMetaStruct())
  const metadata = { allOf: [refTo(listMeta)], description: builtIn.describe('List', 'metadata') }
  const schema = builtIn.listSchema({ group, version, kind: listKind }, { items: refTo(item), metadata })
  return { schema, uses: new Set([item, listMeta]) }
}

/** In the order of names, and with two types where a value may be a number or a text. Defaults and the like stay as they are. */
function publishedSchemaOf(schema: Fields): Fields {
  const entries = Object.entries(schema).map(([name, value]): [string, Json | undefined] => {
    if (!isFields(value)) return [name, Array.isArray(value) && combined.has(name) ? value.map(inner) : value]
    if (name === 'properties') return [name, mapSorted(value)]
    return [name, nested.has(name) ? publishedSchemaOf(value) : value]
  })
  if (schema['x-kubernetes-int-or-string'] === true && schema['anyOf'] === undefined) {
    entries.push(['anyOf', [{ type: 'integer' }, { type: 'string' }]])
  }
  return Object.fromEntries(entries.toSorted(byName))
}

const nested: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not'])
const combined: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf'])

const inner = (value: Json): Json => (isFields(value) ? publishedSchemaOf(value) : value)

const mapSorted = (properties: Fields): Fields =>
  Object.fromEntries(
    Object.entries(properties)
      .map(([name, value]): [string, Json | undefined] => [name, value === undefined ? value : inner(value)])
      .toSorted(byName),
  )

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)
