/** The custom kind Widget, which each case defines in its own group. */
import type { JsonObject } from '../../../recorded/compat/json.ts'

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const WIDGETS = '/apis/$ns.example.com/v1/namespaces/$ns/widgets'

/**
 * Returns a definition of Widget in the case's own group. Its only version has these properties.
 */
export const definitionOf = (properties: JsonObject): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.$ns.example.com' },
  spec: {
    group: '$ns.example.com',
    names: { kind: 'Widget', plural: 'widgets' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties } },
      },
    ],
  },
})
