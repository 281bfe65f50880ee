/**
 * Converts CRDs to and from v1beta1, the version in which they are stored although it is no longer
 * served. In v1beta1, a schema, subresources, printer columns or selectable fields that all
 * versions share are in the spec itself. Field errors have the paths of v1beta1.
 */
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  present,
} from '../../../api/object.ts'
import { everyItem, mapEach } from '../../../lib/scheduling/parts.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import { keyOfValue } from '../../../objects/schema/structural/value.ts'

/**
 * The fields that v1beta1 moves to the spec if all versions share them. Each entry has the name in
 * a version and the name in the spec.
 */
const shared = [
  ['schema', 'validation'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
  ['selectableFields', 'selectableFields'],
] as const

export function toStoredSpec(spec: Fields): Fields {
  let versions: readonly Fields[] = mapEach(
    'versions with old columns',
    itemsOf(spec['versions']),
    withOldColumns,
  )
  const above: { [name: string]: Json | undefined } = {}
  for (const [own, common] of shared) {
    const first = versions[0]?.[own]
    if (first === undefined) continue
    if (!everyItem('part of all versions', versions, (version) => isSamePart(version[own], first)))
      continue
    above[common] = first
    versions = mapEach('versions without the part', versions, (version) =>
      present({ ...version, [own]: undefined }),
    )
  }
  const { conversion, preserveUnknownFields = false } = spec
  const { webhook, ...strategy } = fieldsOf(conversion)
  const { clientConfig, conversionReviewVersions } = fieldsOf(webhook)
  return present({
    ...spec,
    ...above,
    version: versions[0]?.['name'],
    // Distinguish an absent list from an empty one, because error messages show the difference.
    versions: spec['versions'] === undefined ? undefined : versions,
    conversion: isFields(conversion)
      ? present({ ...strategy, webhookClientConfig: clientConfig, conversionReviewVersions })
      : undefined,
    preserveUnknownFields,
  })
}

/**
 * Fields of a schema that are pointers in Go, so that an empty value differs from an absent value.
 * Defaults and the status subresource are handled separately.
 */
const pointers: ReadonlySet<string> = new Set([
  'additionalProperties',
  'externalDocs',
  'items',
  'not',
])
/**
 * Fields of a schema that are maps from names to schemas. A name is significant even if its schema
 * is empty.
 */
const maps: ReadonlySet<string> = new Set(['definitions', 'patternProperties', 'properties'])

const isSamePart = (one: Json | undefined, other: Json): boolean =>
  one === other || (isSame(one, other) && hasSamePointers(one, other))

function hasSamePointers(
  one: Json | undefined,
  other: Json | undefined,
  form: 'part' | 'schema' | 'map' = 'part',
): boolean {
  if (one === other || (!isFields(one) && !isFields(other))) return true
  const [here, there] = [fieldsOf(one), fieldsOf(other)]
  const hasSame = (name: string): boolean => {
    const areBoth = Object.hasOwn(here, name) === Object.hasOwn(there, name)
    if (form === 'map') return areBoth && hasSamePointers(here[name], there[name], 'schema')
    if (name === 'default')
      return areBoth && keyOfValue(here[name] ?? null) === keyOfValue(there[name] ?? null)
    if ((name === 'status' && form === 'part') || (pointers.has(name) && !areBoth)) return areBoth
    return hasSamePointers(here[name], there[name], maps.has(name) ? 'map' : 'schema')
  }
  return (
    Object.keys(here).every(hasSame) &&
    Object.keys(there).every((name) => Object.hasOwn(here, name) || hasSame(name))
  )
}

export function fromStoredSpec(spec: Fields): Fields {
  const { version, validation, subresources, additionalPrinterColumns, selectableFields, ...rest } =
    spec
  const above: Fields = { validation, subresources, additionalPrinterColumns, selectableFields }
  // CRDs from before spec.versions existed have only spec.version.
  const given = itemsOf(rest['versions'])
  const all =
    given.length > 0 || version === undefined
      ? given
      : [{ name: version, served: true, storage: true }]
  const versions = all.map((own) => {
    const parts = shared.map(([name, common]): [string, Json | undefined] => [
      name,
      own[name] ?? above[common],
    ])
    return withNewColumns(present({ ...own, ...Object.fromEntries(parts) }))
  })
  const { conversion, preserveUnknownFields } = rest
  const {
    webhookClientConfig: clientConfig,
    conversionReviewVersions,
    ...strategy
  } = fieldsOf(conversion)
  const hasWebhook = clientConfig !== undefined || conversionReviewVersions !== undefined
  const webhook = hasWebhook ? present({ clientConfig, conversionReviewVersions }) : undefined
  return present({
    ...rest,
    versions,
    conversion: isFields(conversion) ? present({ ...strategy, webhook }) : undefined,
    // In v1beta1, preserveUnknownFields defaults to true.
    preserveUnknownFields: preserveUnknownFields === false ? undefined : true,
  })
}

const withOldColumns = (version: Fields): Fields => withColumns(version, 'jsonPath', 'JSONPath')
const withNewColumns = (version: Fields): Fields => withColumns(version, 'JSONPath', 'jsonPath')

function withColumns(version: Fields, from: string, to: string): Fields {
  const { additionalPrinterColumns: columns } = version
  if (columns === undefined) return version
  const renamed = itemsOf(columns).map(({ [from]: path, ...rest }) => ({ ...rest, [to]: path }))
  return { ...version, additionalPrinterColumns: renamed }
}
