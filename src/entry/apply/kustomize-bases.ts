/** Finds the folders that a kustomization includes, so that changes in them are noticed. */
import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fieldsOf, textsOf } from '../../api/object.ts'
import { parseYaml } from '../../objects/codec/yaml-parse.ts'

/** Maximum number of included folders. Changes in further included folders are not noticed. */
const BASES_MAX = 100

const names = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/**
 * Returns the absolute paths of the local folders that a kustomization includes, directly or
 * through other kustomizations. Ignores files that are not valid, which kustomize reports.
 */
export async function basesOf(folder: string): Promise<readonly string[]> {
  const found = new Set<string>([resolve(folder)])
  // The set grows during this loop, and the loop also visits the added folders.
  for (const path of found) {
    for (const entry of await includedBy(path)) {
      const base = resolve(path, entry)
      if (found.size <= BASES_MAX && (await isFolder(base))) found.add(base)
    }
  }
  return [...found].slice(1)
}

/**
 * Returns the entries of a kustomization that may name folders. Some of them name files or URLs.
 */
async function includedBy(folder: string): Promise<readonly string[]> {
  for (const name of names) {
    try {
      const { value } = parseYaml(await readFile(join(folder, name)))
      const { resources, bases, components } = fieldsOf(value)
      return [resources, bases, components].flatMap(textsOf)
    } catch {
      // The file does not exist or is not valid.
    }
  }
  return []
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true
