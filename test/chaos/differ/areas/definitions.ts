/** Generates random CustomResourceDefinitions. */
import type { Json, JsonObject } from '../../../recorded/compat/json.ts'
import type { Choices } from '../choices.ts'
import { optional, SchemaMaker } from '../custom-schemas.ts'
import { words } from '../custom-values.ts'
import { deleteAt, type Path, places, textAt, valueAt } from '../json-positions.ts'
import type { Input } from './input.ts'

export function randomDefinition(choices: Choices, { values, grammar }: Input): JsonObject {
  const maker = new SchemaMaker(choices, values, grammar)
  const root = rootSchema(choices, maker)
  const versions = [newVersion(choices, 'v1', root)]
  if (choices.chance(0.4))
    versions.push(
      newVersion(
        choices,
        'v2',
        choices.chance(0.5) ? structuredClone(root) : rootSchema(choices, maker),
      ),
    )
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.$ns.example.com' },
    spec: {
      group: '$ns.example.com',
      names: {
        kind: 'Widget',
        plural: 'widgets',
        ...optional(choices, { shortNames: [0.2, ['w$ns']], categories: [0.1, ['all']] }),
      },
      scope: choices.chance(0.08) ? 'Cluster' : 'Namespaced',
      versions,
      ...optional(choices, {
        conversion: [0.1, { strategy: 'None' }],
        preserveUnknownFields: [0.05, true, false],
      }),
    },
  }
}

const rootSchema = (choices: Choices, maker: SchemaMaker): JsonObject => ({
  type: 'object',
  properties: {
    spec: { ...maker.object(), ...optional(choices, { nullable: [0.2, true] }) },
    ...optional(choices, {
      status: [0.6, () => maker.object(1)],
      metadata: [
        0.1,
        { type: 'object', properties: { name: { type: 'string', maxLength: 5, pattern: '^x' } } },
      ],
      extra: [0.1, () => maker.schema(1)],
    }),
  },
  ...optional(choices, { required: [0.1, ['spec']] }),
})

const newVersion = (choices: Choices, name: string, schema: JsonObject): JsonObject => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: schema },
  ...optional(choices, {
    subresources: [
      0.5,
      () => optional(choices, { status: [0.8, {}], scale: [0.4, () => scale(choices)] }),
    ],
    additionalPrinterColumns: [
      0.4,
      () => Array.from({ length: choices.between(1, 3) }, (_, at) => column(choices, at)),
    ],
    selectableFields: [0.25, () => [{ jsonPath: choices.pick(words.of('selectablePaths')) }]],
    deprecated: [0.05, true],
    deprecationWarning: [0.05, 'old'],
  }),
})

const scale = (choices: Choices): JsonObject => ({
  specReplicasPath: '.spec.a',
  statusReplicasPath: choices.pick(['.status.a', '.spec.x']),
  ...optional(choices, { labelSelectorPath: [0.4, '.status.b'] }),
})

const column = (choices: Choices, index: number): JsonObject => ({
  name: `C${index}`,
  type: choices.pick(['string', 'integer', 'number', 'boolean', 'date', 'x']),
  jsonPath: choices.pick(words.of('columnPaths')),
  ...optional(choices, { priority: [0.3, 0, 1], format: [0.3, 'int32', 'date-time', 'x'] }),
})

export const versionsOf = (definition: JsonObject): readonly string[] => {
  const versions = valueAt(definition, ['spec', 'versions'])
  return Array.isArray(versions) ? versions.map((entry) => textAt(entry, 'name')) : []
}

export const schemaOf = (definition: JsonObject, version: string): Json | undefined =>
  valueAt(definition, [
    'spec',
    'versions',
    versionsOf(definition).indexOf(version),
    'schema',
    'openAPIV3Schema',
  ])

/** Keys that are never removed, because a definition without them is not valid. */
const kept = new Set(['versions', 'schema', 'openAPIV3Schema', 'properties', 'spec'])
/**
 * Paths with at most this many elements are never removed: `spec`, `spec.versions` and each version
 * in this list.
 */
const REMOVABLE_DEPTH_MIN = 3

/**
 * Removes the field that an error names, or its nearest existing ancestor. `spec.validation` stands
 * for the schema of the only version.
 */
export function repair(definition: JsonObject, field: string): void {
  // An error for the whole schema means that the sum of all costs is too high. No single rule is
  // the cause, so remove all rules.
  if (field.endsWith('openAPIV3Schema')) {
    const rules = [...places(definition)].filter(
      ({ path }) => path.at(-1) === 'x-kubernetes-validations',
    )
    for (const { path } of rules) deleteAt(definition, path)
    return
  }
  const text = field
    .replace(/^spec\.validation\./, 'spec.versions[0].schema.')
    .replace(
      /^spec\.(subresources|additionalPrinterColumns|selectableFields)/,
      'spec.versions[0].$1',
    )
  const path: Path = [...text.matchAll(/[^.[\]]+/g)].map(([part]) =>
    /^\d+$/.test(part) ? Number(part) : part,
  )
  while (path.length > 0 && valueAt(definition, path) === undefined) path.pop()
  if (path.length <= REMOVABLE_DEPTH_MIN || kept.has(String(path.at(-1)))) return
  deleteAt(definition, path)
}
