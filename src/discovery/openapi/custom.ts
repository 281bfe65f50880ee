/** Custom resources in OpenAPI: the schema of a definition becomes that of a kind, with what every object has. */
import { type Fields, fieldsOf, isFields, type Json } from '../../api/object.ts'
import { typeOf } from '../../registry/types.ts'
import { type Definitions, refTo } from './definitions.ts'
import { customName, type GroupVersionKind } from './names.ts'

export const customInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } as const

/** `schema` is the one that the definition has for the version: its `openAPIV3Schema`. Returns the name of the kind. */
export function addCustomKind(gvk: GroupVersionKind, schema: Fields, definitions: Definitions): string {
  const { group, version, kind } = gvk
  const name = customName(gvk)
  const metadata = refTo(definitions.ofType(typeOf('meta/v1', 'ObjectMeta')))
  const whole = published({
    ...schema,
    properties: {
      ...fieldsOf(schema['properties']),
      apiVersion: { description: definitions.describe(kind, 'apiVersion'), type: 'string' },
      kind: { description: definitions.describe(kind, 'kind'), type: 'string' },
      metadata: { allOf: [metadata], description: definitions.describe(kind, 'metadata') },
    },
    type: 'object',
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
  })
  definitions.set(name, isFields(whole) ? whole : {})
  return name
}

/** In the order of names, and with two types where a value may be a number or a text. */
function published(value: Json): Json {
  if (Array.isArray(value)) return value.map(published)
  if (!isFields(value)) return value
  const entries = Object.entries(value).flatMap(([name, field]): [string, Json][] =>
    field === undefined ? [] : [[name, published(field)]],
  )
  if (value['x-kubernetes-int-or-string'] === true && value['anyOf'] === undefined) {
    entries.push(['anyOf', [{ type: 'integer' }, { type: 'string' }]])
  }
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
