/**
 * Parses the table of built-in resources in catalogue/resources.ts:
 *
 *     apps/v1 apps/v1
 *       deployments Deployment namespaced std short=deploy in=all /status:GPU
 *
 * A line that is not indented contains an apiVersion, and the package with its types. Each indented
 * line below it describes a resource: its plural, kind, scope, verbs, options and subresources.
 * Each verb is a letter: C create, D delete, X deletecollection, G get, L list, P patch, U update,
 * W watch. `std` stands for all verbs. `in` lists categories. `stored` is the apiVersion in which
 * objects are stored, if it differs. A subresource such as `/scale:GPU=autoscaling/v1/Scale` has
 * its own kind. objects/schema/release-lines.ts describes the marks of releases.
 */
import { linesOfRelease } from '../objects/schema/release-lines.ts'
import { resourceTable } from './catalogue/resources.ts'
import type { Subresource, Verb } from './resource.ts'

/** A resource, as defined by a line of the table. */
export type ResourceRow = {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly isNamespaced: boolean
  readonly verbs: readonly Verb[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly subresources: readonly Subresource[]
  readonly storageVersion: string | undefined
  /** Package of the catalog that contains the type of the kind. */
  readonly packageName: string
}

const verbsByLetter: ReadonlyMap<string, Verb> = new Map([
  ['C', 'create'],
  ['D', 'delete'],
  ['X', 'deletecollection'],
  ['G', 'get'],
  ['L', 'list'],
  ['P', 'patch'],
  ['U', 'update'],
  ['W', 'watch'],
])

/**
 * Built-in resources, keyed by release. Releases that the process does not use are not included.
 */
const known = new Map<number, readonly ResourceRow[]>()

/** Returns the resources of a release, in the order of discovery. */
export function resourcesOf(release: number): readonly ResourceRow[] {
  const rows = known.get(release) ?? readResources(linesOfRelease(resourceTable, release))
  known.set(release, rows)
  return rows
}

function readResources(table: string): readonly ResourceRow[] {
  const rows: ResourceRow[] = []
  let apiVersion = ''
  let packageName = ''
  for (const line of table.split('\n')) {
    const words = line.trim().split(' ')
    if (!line.startsWith(' ')) [apiVersion = '', packageName = ''] = words
    else if (words.length > 1)
      rows.push(readRow(words, { ...splitApiVersion(apiVersion), packageName }))
  }
  return rows
}

type ApiPackage = { readonly group: string; readonly version: string; readonly packageName: string }

function readRow(words: readonly string[], place: ApiPackage): ResourceRow {
  const [plural = '', kind = '', scope = '', verbs = '', ...options] = words
  const option = (name: string): string | undefined =>
    options.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
  return {
    ...place,
    plural,
    kind,
    isNamespaced: scope === 'namespaced',
    verbs: readVerbs(verbs),
    shortNames: option('short')?.split(',') ?? [],
    categories: option('in')?.split(',') ?? [],
    subresources: options
      .filter((word) => word.startsWith('/'))
      .map((word) => readSubresource(word, kind, place)),
    storageVersion: option('stored'),
  }
}

/** Parses a subresource such as `/scale:GPU=autoscaling/v1/Scale`. */
function readSubresource(word: string, kind: string, { group, version }: ApiPackage): Subresource {
  const [, name = '', letters = '', type = kind] = /^\/(\w+):(\w+)(?:=(.*))?$/.exec(word) ?? []
  const slash = type.lastIndexOf('/')
  const own = slash === -1 ? { group, version } : splitApiVersion(type.slice(0, slash))
  return { name, kind: type.slice(slash + 1), ...own, verbs: readVerbs(letters) }
}

const readVerbs = (letters: string): Verb[] =>
  Array.from(letters === 'std' ? 'CDXGLPUW' : letters).flatMap(
    (letter) => verbsByLetter.get(letter) ?? [],
  )

/** Splits an apiVersion. `v1` belongs to the core group, whose name is empty. */
export function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) }
}
