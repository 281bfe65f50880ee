/** Files of a volume that stand in each other's way: a file cannot be a folder as well. */
import { type Fields, fieldsOf, itemsOf, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'

/** At most `max`. */
export function overlapWarnings({ name, configMap, secret, downwardAPI }: Fields, max: number): string[] {
  const about = [
    { source: configMap, shown: `ConfigMap ${quote(textOf(fieldsOf(configMap)['name']))}` },
    { source: secret, shown: `Secret ${quote(textOf(fieldsOf(secret)['secretName']))}` },
    { source: downwardAPI, shown: 'DownwardAPI' },
  ]
  const warnings: string[] = []
  for (const { source, shown } of about) {
    const paths = itemsOf(fieldsOf(source)['items']).map(({ path }) => textOf(path))
    if (paths.length < 2) continue
    const files = filesOf(paths)
    for (const [at, path] of paths.entries()) {
      for (const other of before(at, files.get(path), files)) {
        if (warnings.length >= max) return warnings
        const both = `${files.get(path)?.quoted} with ${files.get(paths[other] ?? '')?.quoted}`
        warnings.push(`volume ${quote(textOf(name))} (${shown}): overlapping paths: ${both}`)
      }
    }
  }
  return warnings
}

type File = {
  readonly quoted: string
  /** Where in the list the path stands, in rising order. */
  readonly places: number[]
  /** The nearest folder that is in the list too. */
  folder?: string
}

/** In the order of folders each path comes after all that it lies in. */
function filesOf(paths: readonly string[]): ReadonlyMap<string, File> {
  const files = new Map<string, File>()
  for (const [at, path] of paths.entries()) {
    const known = files.get(path)
    if (known === undefined) files.set(path, { quoted: quote(path), places: [at] })
    else known.places.push(at)
  }
  const sorted = [...files].map(([path, file]) => ({ key: path.replaceAll('/', '\0'), path, file }))
  sorted.sort((one, other) => (one.key < other.key ? -1 : 1))
  const folders: string[] = []
  for (const { path, file } of sorted) {
    while (folders.length > 0 && !isWithin(path, folders.at(-1) ?? '')) folders.pop()
    const folder = folders.at(-1)
    if (folder !== undefined) file.folder = folder
    folders.push(path)
  }
  return files
}

const isWithin = (path: string, folder: string): boolean => path[folder.length] === '/' && path.startsWith(folder)

/** The places of its folders, and of the same path before this place. */
function before(at: number, file: File | undefined, files: ReadonlyMap<string, File>): readonly number[] {
  if (file === undefined) return []
  const places: number[] = []
  for (const place of file.places) {
    if (place >= at) break
    places.push(place)
  }
  for (let folder = file.folder; folder !== undefined; folder = files.get(folder)?.folder) {
    for (const place of files.get(folder)?.places ?? []) places.push(place)
  }
  return places.toSorted((one, other) => one - other)
}
