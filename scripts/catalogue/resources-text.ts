/**
 * Generates the table of resources from recorded responses of kube-apiserver. The responses are its
 * aggregated discovery with every version enabled, and stored objects, which show the storage
 * version of each resource.
 */
import { isRecord, type Json } from '../../test/recorded/compat/json.ts'
import { readDocuments, readStored, type StoredRow } from '../../test/recorded/golden/read.ts'

type Kind = { readonly group: string; readonly version: string; readonly kind: string }
type ServedVerbs = { readonly verbs: readonly string[]; readonly responseKind?: Kind }
type DiscoveredResource = ServedVerbs & {
  readonly resource: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly (ServedVerbs & { readonly subresource: string })[]
}
type DiscoveredGroup = {
  readonly metadata: { readonly name?: string }
  readonly versions: readonly {
    readonly version: string
    readonly resources: readonly DiscoveredResource[]
  }[]
}

const verbLetters: Readonly<Record<string, string>> = {
  create: 'C',
  delete: 'D',
  deletecollection: 'X',
  get: 'G',
  list: 'L',
  patch: 'P',
  update: 'U',
  watch: 'W',
}

/** Returns the table. `packageOf` maps an API group to Keelson's package name. */
export function resourcesText(packageOf: (group: string) => string): string {
  const [byDefault, all] = [readDocuments('default'), readDocuments('all')]
  const stored = storedVersions(readStored())
  const groups = ['/api', '/apis'].flatMap((path) =>
    groupsOf(all.get(path) ?? byDefault.get(path) ?? null),
  )
  const parts = groups.flatMap(({ metadata: { name: group = '' }, versions }) =>
    versions.map(({ version, resources }) => {
      const apiVersion = group === '' ? version : `${group}/${version}`
      const lines = resources.map(
        (one) => `  ${resourceText(one, { group, version, apiVersion, stored })}`,
      )
      return [`${apiVersion} ${packageOf(group)}/${version}`, ...lines, ''].join('\n')
    }),
  )
  return parts.join('\n')
}

function groupsOf(document: Json): readonly DiscoveredGroup[] {
  const text = JSON.stringify(isRecord(document) ? document['items'] : [])
  return JSON.parse(text)
}

/** Returns the storage versions by collection, such as `apps/v1 deployments`. */
function storedVersions(rows: readonly StoredRow[]): ReadonlyMap<string, string> {
  return new Map(
    rows.map(({ get, json }) => {
      const { apiVersion }: { apiVersion: string } = JSON.parse(json)
      const parts = get.split('/').slice(2)
      const served = get.startsWith('/api/') ? parts.slice(0, 1) : parts.slice(0, 2)
      return [`${served.join('/')} ${parts.at(-2)}`, apiVersion]
    }),
  )
}

type ResourceContext = {
  readonly group: string
  readonly version: string
  readonly apiVersion: string
  readonly stored: ReadonlyMap<string, string>
}

function resourceText(resource: DiscoveredResource, of: ResourceContext): string {
  const {
    resource: plural,
    responseKind,
    scope,
    shortNames = [],
    categories = [],
    subresources = [],
  } = resource
  const kind = responseKind?.kind ?? ''
  if (resource.singularResource !== kind.toLowerCase())
    throw new Error(`${plural}: the singular name is not the kind in lower case`)
  const words = [plural, kind, scope.toLowerCase(), letters(resource.verbs)]
  const stored = of.stored.get(`${of.apiVersion} ${plural}`) ?? of.apiVersion
  if (stored !== of.apiVersion) words.push(`stored=${stored}`)
  if (shortNames.length > 0) words.push(`short=${shortNames.join(',')}`)
  if (categories.length > 0) words.push(`in=${categories.join(',')}`)
  for (const { subresource, responseKind: own, verbs } of subresources) {
    words.push(`/${subresource}:${letters(verbs)}${kindText(own, kind, of)}`)
  }
  return words.join(' ')
}

/** Returns the kind of a subresource, or an empty string if it is the kind of the resource. */
function kindText(own: Kind | undefined, kind: string, of: ResourceContext): string {
  if (own === undefined || own.kind === kind) return ''
  const isOfGroup = own.version === '' || (own.group === of.group && own.version === of.version)
  if (isOfGroup) return `=${own.kind}`
  return `=${own.group === '' ? '' : `${own.group}/`}${own.version}/${own.kind}`
}

function letters(verbs: readonly string[]): string {
  const text = verbs.map((verb) => verbLetters[verb] ?? '?').join('')
  return text === 'CDXGLPUW' ? 'std' : text
}
