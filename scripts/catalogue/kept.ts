/**
 * Reads the handwritten parts of src/registry/catalogue, which cannot be generated from the source
 * of Kubernetes. These are the types in two files (see below), and the feature gates of fields
 * (`gate=`) in all files.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { splitPackages } from '../../src/objects/schema/read-types.ts'
import { linesOfRelease } from '../../src/objects/schema/release-lines.ts'

export const catalogueFolder: string = join(
  import.meta.dirname,
  '..',
  '..',
  'src',
  'registry',
  'catalogue',
)

/**
 * The types (such as `core/v1 Pod`) in the files that are written by hand, and all type names that
 * they mention.
 */
export type ByHand = { readonly types: ReadonlySet<string>; readonly named: ReadonlySet<string> }

export function readByHand(release: number): ByHand {
  const types = new Set<string>()
  const named = new Set<string>()
  for (const file of ['apidiscovery.ts', 'unserved.ts']) {
    for (const [name, text] of readPackages(file, release)) {
      for (const [type] of text.matchAll(/^\w+/gm)) types.add(`${name} ${type}`)
      for (const [word] of text.matchAll(/(?<![\w./])[A-Z]\w*/g)) named.add(`${name} ${word}`)
    }
  }
  return { types, named }
}

/**
 * Returns the feature gates (`gate=`) of fields in a release. A key names a field, such as `core/v1
 * PodSpec.resources`.
 */
export function readGates(release: number): ReadonlyMap<string, string> {
  const gates = new Map<string, string>()
  for (const file of readdirSync(catalogueFolder)) {
    for (const [name, text] of readPackages(file, release)) {
      let type = ''
      for (const line of text.split('\n')) {
        type = /^\w+/.exec(line)?.[0] ?? type
        const [, field = '', gate] = /^ {2}(\S+?)[!+*]? .*gate=(\S+)/.exec(line) ?? []
        if (gate !== undefined) gates.set(`${name} ${type}.${field}`, gate)
      }
    }
  }
  return gates
}

const readPackages = (file: string, release: number): ReadonlyMap<string, string> =>
  splitPackages(linesOfRelease(readFileSync(join(catalogueFolder, file), 'utf8'), release))
