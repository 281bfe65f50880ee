/**
 * What people wrote into src/registry/catalogue, and a program can not read from the source of
 * Kubernetes: files of types that are written by hand, and the marks of gates on fields of all
 * files. Upstream drops gated fields in code.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { splitPackages } from '../../src/objects/schema/read-types.ts'

export const catalogueFolder: string = join(
  import.meta.dirname,
  '..',
  '..',
  'src',
  'registry',
  'catalogue',
)

/** Which types (`core/v1 Pod`) the files have that are written by hand, and what else they name. */
export type ByHand = { readonly types: ReadonlySet<string>; readonly named: ReadonlySet<string> }

export function readByHand(): ByHand {
  const types = new Set<string>()
  const named = new Set<string>()
  for (const file of ['apidiscovery.ts', 'unserved.ts']) {
    for (const [name, text] of splitPackages(readFileSync(join(catalogueFolder, file), 'utf8'))) {
      for (const [type] of text.matchAll(/^\w+/gm)) types.add(`${name} ${type}`)
      for (const [word] of text.matchAll(/(?<![\w./])[A-Z]\w*/g)) named.add(`${name} ${word}`)
    }
  }
  return { types, named }
}

/** `gate=` of a field, by `core/v1 PodSpec.resources`. */
export function readGates(): ReadonlyMap<string, string> {
  const gates = new Map<string, string>()
  for (const file of readdirSync(catalogueFolder)) {
    for (const [name, text] of splitPackages(readFileSync(join(catalogueFolder, file), 'utf8'))) {
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
