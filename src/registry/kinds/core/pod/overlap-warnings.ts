/** Warns about conflicting file paths in a volume: a path cannot be both a file and a directory. */
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'
import { addAll } from '../../../../lib/scheduling/long-lists.ts'
import { eachItem, mapEach, once } from '../../../../lib/scheduling/parts.ts'
import { sortInParts } from '../../../../lib/scheduling/sort-in-parts.ts'

/** Returns the warnings for a volume, at most `max`. */
export function overlapWarnings(
  { name, configMap, secret, downwardAPI, projected }: Fields,
  max: number,
): string[] {
  if (max <= 0) return []
  const about = [
    { source: configMap, shown: `ConfigMap ${quote(textOf(fieldsOf(configMap)['name']))}` },
    { source: secret, shown: `Secret ${quote(textOf(fieldsOf(secret)['secretName']))}` },
    { source: downwardAPI, shown: 'DownwardAPI' },
  ]
  const volume = `volume ${quote(textOf(name))}`
  const warnings: string[] = []
  for (const { source, shown } of about) {
    const own = { about: `${volume} (${shown})`, max: max - warnings.length }
    addAll(warnings, overlapsOf(pathsIn(source, ''), own))
  }
  if (!isFields(projected)) return warnings
  return [
    ...warnings,
    ...projectedWarnings(projected, { about: `${volume} (Projected)`, max: max - warnings.length }),
  ]
}

/** The path of a file. `source` names the source of the file if the volume has several sources. */
type MappedPath = { readonly path: string; readonly source: string }
type WarningOptions = { readonly about: string; readonly max: number }

/**
 * Returns the paths of a source. Empty paths are omitted, because they overlap with no other path.
 */
function pathsIn(source: Fields[string], shown: string): readonly MappedPath[] {
  const items = itemsOf(fieldsOf(source)['items'])
  return eachItem('paths of a source', items, newPaths, (found, item) => {
    addAll(found, pathOf(item, shown))
    return true
  })
}

const newPaths = (): MappedPath[] => []

type ProjectedPaths = {
  readonly all: MappedPath[]
  readonly warnings: string[]
  paths: readonly MappedPath[]
  repeated: number
}
const newProjected = (): ProjectedPaths => ({ all: [], warnings: [], paths: [], repeated: 0 })

function projectedWarnings({ sources }: Fields, { about, max }: WarningOptions): string[] {
  const { all, warnings } = eachItem(
    'projected sources',
    itemsOf(sources),
    newProjected,
    (now, source) => {
      if (isEmpty(source)) now.warnings.push(`${about} has no sources provided`)
      else {
        const own = projectedPaths(source)
        // As in kube-apiserver, a source without paths counts as if it had the paths of the
        // previous source. Each repeated path overlaps with itself, so `max` repeated paths already
        // cause the maximum number of warnings.
        now.paths = own ?? now.paths
        if (now.repeated < max) addAll(now.all, now.paths)
        if (own === undefined) now.repeated += now.paths.length
      }
      return now.warnings.length < max
    },
  )
  return [...warnings, ...overlapsOf(all, { about, max: max - warnings.length })]
}

const isEmpty = (source: Fields): boolean => Object.keys(source).length === 0

/** Returns the paths of a source, or undefined if the source does not list paths. */
function projectedPaths(source: Fields): readonly MappedPath[] | undefined {
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

function pathOf(part: Fields, source: string): readonly MappedPath[] {
  const path = textOf(part['path']).replace(/\/+$/, '')
  return path === '' ? [] : [{ path, source }]
}

/**
 * Reports each path together with every earlier path that equals it, contains it, or is inside it.
 */
function overlapsOf(
  mapped: readonly MappedPath[],
  { about, max }: WarningOptions,
): readonly string[] {
  if (mapped.length < 2 || max <= 0) return []
  const files = filesOf(mapped)
  const shown = ({ path, source }: MappedPath): string =>
    source === '' ? quote(path) : `${quote(path)} (${source})`
  return eachItem('overlapping paths', mapped, newWarnings, (warnings, one, at) => {
    for (const place of before(at, files.get(one.path), files)) {
      if (warnings.length >= max) return false
      const other = mapped[place]
      if (other !== undefined)
        warnings.push(`${about}: overlapping paths: ${shown(one)} with ${shown(other)}`)
    }
    return true
  })
}

const newWarnings = (): string[] => []

type File = {
  /** Indexes of the path in the list of all paths, in ascending order. */
  readonly places: number[]
  /**
   * The closest parent directory that is also in the list of paths. `inside` has the paths for
   * which this path is the closest parent directory.
   */
  folder?: string
  readonly inside: File[]
}

function filesOf(mapped: readonly MappedPath[]): ReadonlyMap<string, File> {
  const files = eachItem('files of a volume', mapped, newFiles, (known, { path }, at) => {
    const file = known.get(path)
    if (file === undefined) known.set(path, { places: [at], inside: [] })
    else file.places.push(at)
    return true
  })
  const unsorted = once('distinct paths', () => [...files.keys()])
  const keyed = mapEach('keys of paths', unsorted, (path) => ({
    key: path.replaceAll('/', '\0'),
    path,
  }))
  // Each path comes after the directories that contain it. In the keys, a NUL character replaces
  // the slash, because it sorts before all other characters.
  const sorted = sortInParts('sorted paths', keyed, (one, other) => (one.key < other.key ? -1 : 1))
  eachItem('folders of files', sorted, newFolders, (folders, { path }) => {
    const file = files.get(path)
    while (folders.length > 0 && !isWithin(path, folders.at(-1) ?? '')) folders.pop()
    const folder = folders.at(-1)
    if (folder !== undefined && file !== undefined) {
      file.folder = folder
      files.get(folder)?.inside.push(file)
    }
    folders.push(path)
    return true
  })
  return files
}

const newFiles = (): Map<string, File> => new Map()
const newFolders = (): string[] => []

const isWithin = (path: string, folder: string): boolean =>
  path[folder.length] === '/' && path.startsWith(folder)

/**
 * Returns the indexes before `at` of the same path, of its parent directories, and of the paths
 * inside it.
 */
function before(
  at: number,
  file: File | undefined,
  files: ReadonlyMap<string, File>,
): readonly number[] {
  if (file === undefined) return []
  const places: number[] = []
  const addEarlier = (other: File | undefined): void => {
    for (const place of other?.places ?? []) {
      if (place >= at) break
      places.push(place)
    }
  }
  for (let folder = file.folder; folder !== undefined; folder = files.get(folder)?.folder)
    addEarlier(files.get(folder))
  const rest = [file]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    addEarlier(next)
    for (const inside of next.inside) rest.push(inside)
  }
  return places.toSorted((one, other) => one - other)
}
