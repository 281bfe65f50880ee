/**
 * Generates the table of resources from facts about a release. These facts are the discovery
 * documents in the source of k8s.io/kubernetes, which list all versions of all resources, and the
 * rules for storage versions.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Block } from './merge-releases.ts'
import { storedVersions } from './storage-versions.ts'

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

/** Resources of the core group, as `/api/v1` lists them. */
type CoreResource = ServedVerbs & {
  readonly name: string
  readonly kind: string
  readonly group?: string
  readonly version?: string
  readonly namespaced: boolean
  readonly singularName: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

export type ResourceFacts = {
  readonly release: number
  /** The folder of the source of k8s.io/kubernetes. */
  readonly folder: string
  /** Returns Keelson's package name of an API group. */
  readonly packageOf: (group: string) => string
}

/** Returns the resources of a release by apiVersion, in the order of discovery. */
export function resourceBlocks({ release, folder, packageOf }: ResourceFacts): readonly Block[] {
  const documents = join(folder, 'api', 'discovery')
  const core: { resources: readonly CoreResource[] } = readJson(join(documents, 'api__v1.json'))
  const { items }: { items: readonly DiscoveredGroup[] } = readJson(
    join(documents, 'aggregated_v2.json'),
  )
  const groups = [
    { metadata: {}, versions: [{ version: 'v1', resources: coreResources(core.resources) }] },
    ...items,
  ]
  const stored = storedVersions({ release, folder })
  return groups.flatMap(({ metadata: { name: group = '' }, versions }) =>
    versions.map(({ version, resources }) => {
      const apiVersion = group === '' ? version : `${group}/${version}`
      return {
        head: `${apiVersion} ${packageOf(group)}/${version}`,
        lines: resources.map((one) => resourceText(one, { group, version, apiVersion, stored })),
      }
    }),
  )
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

/** Converts the resources of the core group to the form of aggregated discovery. */
function coreResources(all: readonly CoreResource[]): readonly DiscoveredResource[] {
  const toKind = ({ group = '', version = '', kind }: CoreResource): Kind => ({
    group,
    version,
    kind,
  })
  return all
    .filter(({ name }) => !name.includes('/'))
    .map((one) => ({
      ...one,
      resource: one.name,
      responseKind: toKind(one),
      scope: one.namespaced ? ('Namespaced' as const) : ('Cluster' as const),
      singularResource: one.singularName,
      subresources: all
        .filter(({ name }) => name.startsWith(`${one.name}/`))
        .map((sub) => ({
          subresource: sub.name.slice(one.name.length + 1),
          responseKind: toKind(sub),
          verbs: sub.verbs,
        })),
    }))
}

type ResourceContext = {
  readonly group: string
  readonly version: string
  readonly apiVersion: string
  /** Returns the apiVersion in which a kind is stored. */
  readonly stored: (group: string, plural: string, kind: string) => string
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
  const stored = resource.verbs.includes('update')
    ? of.stored(of.group, plural, kind)
    : of.apiVersion
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
