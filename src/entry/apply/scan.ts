/** Finds the files of a folder, in a stable order and without reading them. */
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'

/** Maximum number of files in a folder. A larger folder was probably specified by mistake. */
const FILES_MAX = 5000
/** Maximum number of folders. */
const FOLDERS_MAX = 1000
/** Maximum depth of subfolders. */
const DEPTH_MAX = 20

export type ScannedFile = {
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
}

export type Scan = {
  /** The path that was scanned, which is a folder or a file. */
  readonly path: string
  /**
   * The files, sorted by path. If the folder has no kustomization, only its YAML and JSON files.
   */
  readonly files: readonly ScannedFile[]
  /** All folders that contain the files. */
  readonly folders: readonly string[]
  /** Whether the folder has a kustomization, from which kustomize has to build the manifests. */
  readonly isKustomization: boolean
}

const kustomizationName = /^(?:kustomization\.ya?ml|Kustomization)$/
const manifestName = /\.(?:ya?ml|json)$/

export const isKustomizationFile = (path: string): boolean => kustomizationName.test(basename(path))

/**
 * Scans a folder with its subfolders, or a file. Leaves out hidden files, hidden folders, links to
 * folders and `node_modules`. Throws if the path does not exist, if there are too many files, or if
 * a manifest is a link that leaves the folder.
 */
export async function scan(path: string): Promise<Scan> {
  const given = await stat(path)
  if (!given.isDirectory()) {
    const file = { path, bytes: given.size, modifiedMs: given.mtimeMs }
    return { path, files: [file], folders: [], isKustomization: false }
  }
  const isKustomization = (await readdir(path)).some((name) => kustomizationName.test(name))
  const paths: string[] = []
  const folders: string[] = []
  const visit = async (folder: string, depth: number): Promise<void> => {
    if (depth > DEPTH_MAX) throw new Error(`${folder} is nested too deeply: move it elsewhere`)
    folders.push(folder)
    if (folders.length > FOLDERS_MAX)
      throw new Error(`${path} has more than ${FOLDERS_MAX} folders: name a smaller folder`)
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const found = join(folder, entry.name)
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      if (entry.isDirectory()) await visit(found, depth + 1)
      else if (isKustomization || manifestName.test(entry.name) || isKustomizationFile(found))
        paths.push(found)
      if (paths.length > FILES_MAX)
        throw new Error(`${path} has more than ${FILES_MAX} files: name a smaller folder`)
    }
  }
  await visit(path, 0)
  // kustomize itself checks links that lead out of the folder of a kustomization.
  const root = isKustomization ? undefined : await realpath(path)
  const files = await Promise.all(paths.toSorted(compare).map((file) => toScannedFile(file, root)))
  return { path, files: files.flatMap((file) => file ?? []), folders, isKustomization }
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/**
 * Returns the size and the modification time of a file. Returns undefined if the file was removed
 * in the meantime, or is not a regular file. If `root` is set, a link must not lead out of this
 * folder.
 */
async function toScannedFile(
  path: string,
  root: string | undefined,
): Promise<ScannedFile | undefined> {
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true
  // Links to files are followed, because mounted ConfigMaps consist of links.
  const found = await stat(path).catch(() => undefined)
  if (found === undefined && isLink)
    throw new Error(`${path} is a link to a file that does not exist: remove it`)
  if (found?.isFile() !== true) return undefined
  if (isLink && root !== undefined && !(await realpath(path)).startsWith(join(root, sep))) {
    throw new Error(
      `${path} is a link to a file outside of the folder: replace it with a copy of the file`,
    )
  }
  return { path, bytes: found.size, modifiedMs: found.mtimeMs }
}
