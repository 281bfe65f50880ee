/** Custom resources in OpenAPI: the schema of a definition becomes that of a kind, with what every object has. */
import { type Fields, fieldsOf } from '../../api/object.ts'
import { typeOf } from '../../registry/types.ts'
import { type Definitions, refTo } from './definitions.ts'
import { describe } from './descriptions.ts'
import { customName, type GroupVersionKind } from './names.ts'

export const customInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } as const

/** `schema` is the one that the definition has for the version: its `openAPIV3Schema`. Returns the name of the kind. */
export function addCustomKind(gvk: GroupVersionKind, schema: Fields, definitions: Definitions): string {
  const { group, version, kind } = gvk
  const name = customName(gvk)
  const metadata = refTo(definitions.ofType(typeOf('meta/v1', 'ObjectMeta')))
  const { apiVersion: _, kind: __, metadata: ___, ...others } = fieldsOf(schema['properties'])
  definitions.set(name, {
    ...schema,
    properties: {
      apiVersion: { description: describe('TypeMeta', 'apiVersion'), type: 'string' },
      kind: { description: describe('TypeMeta', 'kind'), type: 'string' },
      metadata: { allOf: [metadata], description: describe('Object', 'metadata') },
      ...others,
    },
    type: 'object',
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
  })
  return name
}
