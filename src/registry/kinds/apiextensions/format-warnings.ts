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

/** Returns the next schema of a list or map, and undefined after the last one. */
type Next = () => Json | undefined

type Walk = { readonly levels: Next[]; readonly found: Set<string> }

function unknownFormats(spec: Fields): ReadonlySet<string> {
  const walk = repeat(
    'formats of schemas',
    (): Walk => ({ levels: [nextOfList(rootSchemas(spec))], found: new Set() }),
    // Each step visits one schema, because a schema can have a hundred thousand properties. A step
    // must not contain other divided loops, because it would be repeated after it changed `levels`.
    ({ levels, found }) => {
      const schema = levels.at(-1)?.()
      if (schema === undefined) levels.pop()
      else if (isFields(schema)) visit(schema, { levels, found })
      return levels.length > 0 && found.size < FORMATS_MAX
    },
  )
  return walk.found
}

const rootSchemas = (spec: Fields): readonly Json[] =>
  itemsOf(spec['versions']).map(({ schema }) => fieldsOf(schema)['openAPIV3Schema'] ?? null)

function nextOfList(items: readonly Json[]): Next {
  let at = 0
  return () => items[at++]
}

function nextOfMap(map: Fields): Next {
  const nextKey = nextOfList(Object.keys(map))
  return () => {
    const key = nextKey()
    return typeof key === 'string' ? (map[key] ?? null) : undefined
  }
}

function visit(schema: Fields, { levels, found }: Walk): void {
  const format = textOf(schema['format'])
  // kube-apiserver removes dashes from the names of formats before it compares them.
  if (format !== '' && schema['type'] === 'string' && !isFormat(format.replaceAll('-', '')))
    found.add(format)
  for (const keyword of keywords) {
    const value = schema[keyword]
    if (Array.isArray(value)) levels.push(nextOfList(value))
    else if (isFields(value))
      levels.push(maps.has(keyword) ? nextOfMap(value) : nextOfList([value]))
  }
}

/** Keywords whose value is a map of schemas. */
const maps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependencies',
  'definitions',
])

/** Keywords whose value is a schema, a list of schemas, or a map of schemas. */
const keywords: readonly string[] = [
  'items',
  'additionalProperties',
  'additionalItems',
  'not',
  'allOf',
  'anyOf',
  'oneOf',
  ...maps,
]
