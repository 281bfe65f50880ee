/** Reads the manifests of a folder, of a file, or of the output of kustomize. */
import { readFile } from 'node:fs/promises'
import { messageOf } from '../../lib/errors.ts'
import { buildKustomization } from './kustomize.ts'
import { type Manifest, type ParsedManifests, parseManifests } from './parse-manifests.ts'
import { isKustomizationFile, type Scan, type ScannedFile } from './scan.ts'

/** Maximum size of a file. The largest known manifests, bundles of CRDs, are 5 MB long. */
const FILE_BYTES_MAX = 16 * 1024 * 1024
/** Maximum total size of all files of a folder. They are all read into memory at once. */
const FOLDER_BYTES_MAX = 64 * 1024 * 1024
/** Maximum number of objects in a folder. */
const OBJECTS_MAX = 10_000

const MB = 1024 * 1024

export type ReadManifests = ParsedManifests & {
  /** The paths of the files in which no manifest was found. */
  readonly skipped: readonly string[]
}

/**
 * Reads the manifests of a scanned folder or file. Errors of single files are in `faults`. If the
 * signal is aborted, kustomize is stopped.
 */
export async function readManifests(scan: Scan, signal?: AbortSignal): Promise<ReadManifests> {
  const read = scan.isKustomization ? await readBuilt(scan.path, signal) : await readFiles(scan)
  if (read.manifests.length > OBJECTS_MAX) {
    const fault = `${scan.path} has more than ${OBJECTS_MAX} objects: divide it into several folders`
    return { manifests: [], faults: [...read.faults, fault], skipped: read.skipped }
  }
  return read
}

async function readBuilt(folder: string, signal: AbortSignal | undefined): Promise<ReadManifests> {
  try {
    const { text, command } = await buildKustomization(folder, signal)
    const parsed = parseManifests(text, (line) => `${command}, line ${line} of the output`)
    return { ...parsed, skipped: [] }
  } catch (error) {
    return { manifests: [], faults: [messageOf(error)], skipped: [] }
  }
}

async function readFiles({ path, files }: Scan): Promise<ReadManifests> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (bytes > FOLDER_BYTES_MAX) {
    const fault = `${path} has more than ${FOLDER_BYTES_MAX / MB} MB of YAML and JSON: name a smaller folder`
    return { manifests: [], faults: [fault], skipped: [] }
  }
  const manifests: Manifest[] = []
  const faults: string[] = []
  const skipped: string[] = []
  for (const file of files) {
    const read = await readOne(file)
    for (const manifest of read.manifests) manifests.push(manifest)
    faults.push(...read.faults)
    if (read.manifests.length === 0 && read.faults.length === 0) skipped.push(file.path)
  }
  return { manifests, faults, skipped }
}

const failed = (reason: string): ParsedManifests => ({ manifests: [], faults: [reason] })

async function readOne({ path, bytes }: ScannedFile): Promise<ParsedManifests> {
  if (isKustomizationFile(path)) {
    return failed(
      `${path}: only the topmost folder can contain a kustomization: apply the folder of this file instead`,
    )
  }
  if (bytes > FILE_BYTES_MAX)
    return failed(`${path} is larger than ${FILE_BYTES_MAX / MB} MB: divide it into several files`)
  // Reject an empty file instead of skipping it: an editor may empty a file before it writes the
  // new text.
  if (bytes === 0) return failed(`${path} is empty: add a manifest, or remove the file`)
  try {
    return parseManifests(await readFile(path, 'utf8'), (line) => `${path}:${line}`)
  } catch (error) {
    return failed(`${path} cannot be read: ${messageOf(error)}`)
  }
}
