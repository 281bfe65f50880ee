/** Files of a volume that stand in each other's way: a file cannot be a folder as well. */
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'

/** At most `max`. */
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

/** Where a file is to be, and what it comes from if there are several sources. */
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
    // One that names no paths repeats those of the one before, as upstream has it.
    paths = projectedPaths(source) ?? paths
    for (const path of paths) all.push(path)
  }
  addOverlaps(warnings, all, telling)
}

/** Undefined where the source does not say which paths there are. */
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

/** Each path is told with those before it that it is the same as, lies in or contains. */
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
  /** Where in the list the path stands, in rising order. */
  readonly places: number[]
  /** The nearest folder that is in the list too, and what it is the nearest one of. */
  folder?: string
  readonly inside: File[]
}

/** In the order of folders each path comes after all that it lies in. */
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

/** The places before this one of the same path, of its folders and of what lies in it. */
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
