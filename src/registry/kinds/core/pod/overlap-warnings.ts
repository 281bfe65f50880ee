/** Warns about files of a volume with conflicting paths: a file cannot also be a directory. */
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'

/** At most `max` warnings. */
export function overlapWarnings({ name, configMap, secret, downwardAPI, projected }: Fields, max: number): string[] {
  const about = [
    { source: configMap, shown: `ConfigMap ${quote(textOf(fieldsOf(configMap)['name']))}` },
    { source: secret, shown: `Secret ${quote(textOf(fieldsOf(secret)['secretName']))}` },
    { source: downwardAPI, shown: 'DownwardAPI' },
  ]
  const volume = `volume ${quote(textOf(name))}`
  const warnings: string[] = []
  for (const { source, shown } of about)
    addOverlaps(warnings, pathsIn(source, ''), { about: `${volume} (${shown})`, max })
  if (isFields(projected)) addProjected(warnings, projected, { about: `${volume} (Projected)`, max })
  return warnings
}

/** The path of a file, and its source if there are several. */
type Mapped = { readonly path: string; readonly source: string }
type Telling = { readonly about: string; readonly max: number }

const pathsIn = (source: Fields[string], shown: string): readonly Mapped[] =>
  itemsOf(fieldsOf(source)['items']).map(({ path }) => ({ path: textOf(path), source: shown }))

function addProjected(warnings: string[], { sources }: Fields, telling: Telling): void {
  const all: Mapped[] = []
  let paths: readonly Mapped[] = []
  for (const source of itemsOf(sources)) {
    if (warnings.length >= telling.max) return
    if (Object.keys(source).length === 0) {
      warnings.push(`${telling.about} has no sources provided`)
      continue
    }
    // As upstream, a source without paths repeats those of the source before.
    paths = projectedPaths(source) ?? paths
    for (const path of paths) all.push(path)
  }
  addOverlaps(warnings, all, telling)
}

/** Undefined if the source does not list its paths. */
function projectedPaths(source: Fields): readonly Mapped[] | undefined {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle } = source
  if (hasItems(configMap)) return pathsIn(configMap, `ConfigMap ${named(configMap)}`)
  if (hasItems(secret)) return pathsIn(secret, `Secret ${named(secret)}`)
  if (hasItems(downwardAPI)) return pathsIn(downwardAPI, 'DownwardAPI')
  if (isFields(serviceAccountToken)) return pathOf(serviceAccountToken, 'ServiceAccountToken')
  if (!isFields(clusterTrustBundle)) return undefined
  const { name, signerName } = clusterTrustBundle
  return pathOf(clusterTrustBundle, `ClusterTrustBundle ${quote(textOf(name ?? signerName))}`)
}

const hasItems = (part: Fields[string]): boolean => Array.isArray(fieldsOf(part)['items'])
const named = (part: Fields[string]): string => quote(textOf(fieldsOf(part)['name']))
const pathOf = (part: Fields, source: string): readonly Mapped[] => [{ path: textOf(part['path']), source }]

/** Each path is reported with the earlier ones that are equal, contain it, or are inside of it. */
function addOverlaps(warnings: string[], given: readonly Mapped[], { about, max }: Telling): void {
  const mapped = given
    .map(({ path, source }) => ({ path: path.replace(/\/+$/, ''), source }))
    .filter(({ path }) => path !== '')
  if (mapped.length < 2) return
  const files = filesOf(mapped)
  const shown = ({ path, source }: Mapped): string => (source === '' ? quote(path) : `${quote(path)} (${source})`)
  for (const [at, one] of mapped.entries()) {
    for (const place of before(at, files.get(one.path), files)) {
      if (warnings.length >= max) return
      const other = mapped[place]
      if (other !== undefined) warnings.push(`${about}: overlapping paths: ${shown(one)} with ${shown(other)}`)
    }
  }
}

type File = {
  /** The indexes of the path in the list, ascending. */
  readonly places: number[]
  /** The nearest directory that is also in the list; `inside` is the inverse. */
  folder?: string
  readonly inside: File[]
}

/** Sorted so that each path comes after the directories that contain it. */
function filesOf(mapped: readonly Mapped[]): ReadonlyMap<string, File> {
  const files = new Map<string, File>()
  for (const [at, { path }] of mapped.entries()) {
    const known = files.get(path)
    if (known === undefined) files.set(path, { places: [at], inside: [] })
    else known.places.push(at)
  }
  const sorted = [...files].map(([path, file]) => ({ key: path.replaceAll('/', '\0'), path, file }))
  sorted.sort((one, other) => (one.key < other.key ? -1 : 1))
  const folders: string[] = []
  for (const { path, file } of sorted) {
    while (folders.length > 0 && !isWithin(path, folders.at(-1) ?? '')) folders.pop()
    const folder = folders.at(-1)
    if (folder !== undefined) {
      file.folder = folder
      files.get(folder)?.inside.push(file)
    }
    folders.push(path)
  }
  return files
}

const isWithin = (path: string, folder: string): boolean => path[folder.length] === '/' && path.startsWith(folder)

/** The earlier indexes of the same path, of its directories and of the paths inside of it. */
function before(at: number, file: File | undefined, files: ReadonlyMap<string, File>): readonly number[] {
  if (file === undefined) return []
  const places: number[] = []
  const addEarlier = (other: File | undefined): void => {
    for (const place of other?.places ?? []) {
      if (place >= at) break
      places.push(place)
    }
  }
  for (let folder = file.folder; folder !== undefined; folder = files.get(folder)?.folder) addEarlier(files.get(folder))
  const rest = [file]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    addEarlier(next)
    for (const inside of next.inside) rest.push(inside)
  }
  return places.toSorted((one, other) => one - other)
}
