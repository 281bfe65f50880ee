/**
 * Definitions are stored in a version that is no longer served. There, what all versions of a kind have in common stands
 * once, above them; each of the four parts by itself. Faults are told with the paths of that form.
 */
import { type Fields, fieldsOf, isFields, itemsOf, type Json, present } from '../../../api/object.ts'
import { isSame } from '../../../schema/equal.ts'
import { keyOfValue } from '../../../schema/structural/value.ts'

/** The name of a part in a version, and above the versions. */
const shared = [
  ['schema', 'validation'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
  ['selectableFields', 'selectableFields'],
] as const

export function toStoredSpec(spec: Fields): Fields {
  let versions = itemsOf(spec['versions']).map(withOldColumns)
  const above: { [name: string]: Json | undefined } = {}
  for (const [own, common] of shared) {
    const first = versions[0]?.[own]
    if (first === undefined || !versions.every((version) => isSamePart(version[own], first))) continue
    above[common] = first
    versions = versions.map((version) => present({ ...version, [own]: undefined }))
  }
  const { conversion, preserveUnknownFields = false } = spec
  const { webhook, ...strategy } = fieldsOf(conversion)
  const { clientConfig, conversionReviewVersions } = fieldsOf(webhook)
  return present({
    ...spec,
    ...above,
    version: versions[0]?.['name'],
    // Faults show whether there is a list at all.
    versions: spec['versions'] === undefined ? undefined : versions,
    conversion: isFields(conversion)
      ? present({ ...strategy, webhookClientConfig: clientConfig, conversionReviewVersions })
      : undefined,
    preserveUnknownFields,
  })
}

/** Defaults and subresources are pointers: an empty one is not the same as none. */
const isSamePart = (one: Json | undefined, other: Json): boolean =>
  one === other || (isSame(one, other) && hasSamePointers(one, other))

function hasSamePointers(one: Json | undefined, other: Json | undefined, isTop = true): boolean {
  if (one === other || (!isFields(one) && !isFields(other))) return true
  const [here, there] = [fieldsOf(one), fieldsOf(other)]
  const hasSame = (name: string): boolean => {
    const areBoth = Object.hasOwn(here, name) === Object.hasOwn(there, name)
    if (name === 'default') return areBoth && keyOfValue(here[name] ?? null) === keyOfValue(there[name] ?? null)
    if (name === 'status' && isTop) return areBoth
    return hasSamePointers(here[name], there[name], false)
  }
  return (
    Object.keys(here).every(hasSame) && Object.keys(there).every((name) => Object.hasOwn(here, name) || hasSame(name))
  )
}

export function fromStoredSpec(spec: Fields): Fields {
  const { version, validation, subresources, additionalPrinterColumns, selectableFields, ...rest } = spec
  const above: Fields = { validation, subresources, additionalPrinterColumns, selectableFields }
  // The oldest ones have a version, and no list of them.
  const given = itemsOf(rest['versions'])
  const all = given.length > 0 || version === undefined ? given : [{ name: version, served: true, storage: true }]
  const versions = all.map((own) => {
    const parts = shared.map(([name, common]): [string, Json | undefined] => [name, own[name] ?? above[common]])
    return withNewColumns(present({ ...own, ...Object.fromEntries(parts) }))
  })
  const { conversion, preserveUnknownFields } = rest
  const { webhookClientConfig: clientConfig, conversionReviewVersions, ...strategy } = fieldsOf(conversion)
  const hasWebhook = clientConfig !== undefined || conversionReviewVersions !== undefined
  const webhook = hasWebhook ? present({ clientConfig, conversionReviewVersions }) : undefined
  return present({
    ...rest,
    versions,
    conversion: isFields(conversion) ? present({ ...strategy, webhook }) : undefined,
    // That was what it said of itself by saying nothing.
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
