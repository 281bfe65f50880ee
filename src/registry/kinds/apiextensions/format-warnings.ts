/** Warnings about formats of strings that the server does not know. */
import { type Fields, fieldsOf, isFields, itemsOf, type Json, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { repeat } from '../../../lib/scheduling/parts.ts'
import { isFormat } from '../../../objects/schema/structural/formats.ts'

/** The first release that warns about unknown formats. */
const WARNED_SINCE = 34

/** Maximum number of unknown formats of a definition. The others cause no warnings. */
const FORMATS_MAX = 100

/**
 * Returns a warning for each unknown format in the schemas of a CustomResourceDefinition, except
 * for the formats that the stored definition already has.
 */
export function formatWarnings(
  spec: Fields,
  before: Fields | undefined,
  release: number,
): readonly string[] {
  if (release < WARNED_SINCE) return []
  const known = before === undefined ? new Set<string>() : unknownFormats(before)
  return [...unknownFormats(spec)]
    .filter((format) => !known.has(format) && release < (laterFormats.get(format) ?? Infinity))
    .map((format) => `unrecognized format ${quote(format)}`)
}

/** The first releases that know other formats with the default of --min-compatibility-version. */
const laterFormats: ReadonlyMap<string, number> = new Map([
  ['k8s-short-name', 35],
  ['k8s-long-name', 35],
])

type Walk = { readonly left: Json[]; readonly found: Set<string> }

function unknownFormats(spec: Fields): ReadonlySet<string> {
  const versions = itemsOf(spec['versions'])
  const { found } = repeat(
    'formats of schemas',
    (): Walk => ({
      left: versions.map(({ schema }) => fieldsOf(schema)['openAPIV3Schema'] ?? null),
      found: new Set(),
    }),
    (walk) => {
      const schema = walk.left.pop()
      if (isFields(schema)) visit(schema, walk)
      return walk.left.length > 0 && walk.found.size < FORMATS_MAX
    },
  )
  return found
}

function visit(schema: Fields, { left, found }: Walk): void {
  const format = textOf(schema['format'])
  // kube-apiserver removes dashes from the names of formats before it compares them.
  if (format !== '' && schema['type'] === 'string' && !isFormat(format.replaceAll('-', '')))
    found.add(format)
  for (const [name, value = null] of Object.entries(schema)) {
    if (single.has(name)) left.push(value)
    if (lists.has(name)) for (const each of itemsOf(value)) left.push(each)
    if (maps.has(name)) for (const each of Object.values(fieldsOf(value))) left.push(each ?? null)
  }
}

/** Keywords whose value is a schema, a list of schemas, or a map of schemas. */
const single: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'additionalItems',
  'not',
])
const lists: ReadonlySet<string> = new Set(['items', 'allOf', 'anyOf', 'oneOf'])
const maps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependencies',
  'definitions',
])
