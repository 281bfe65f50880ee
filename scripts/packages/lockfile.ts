/**
 * Reads the npm dependencies from package-lock.json, and finds out which of them are bundled into
 * the program.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

export type LockedPackage = {
  readonly name: string
  readonly version: string
  readonly license: string
  /** Checksum in npm's format: `sha512-` and Base64. Empty if it is not known. */
  readonly integrity: string
  readonly resolved: string
  readonly dependencies: readonly string[]
  /**
   * Whether the program contains the code of the package. Otherwise the package is used only for
   * development.
   */
  readonly isBundled: boolean
}

export const manifest: {
  readonly name: string
  readonly version: string
  readonly license: string
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

type Row = {
  /** Whether the package is a link to a workspace of this repository. */
  readonly link?: boolean
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly dependencies?: { readonly [name: string]: string }
}

const folder = 'node_modules/'

/** Returns all third-party packages, sorted by name, then by version. */
export function readPackages(): LockedPackage[] {
  const { packages }: { packages: { [path: string]: Row } } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  const bundled = bundledPaths(packages)
  return Object.entries(packages)
    .filter(([path, { link = false }]) => path.includes(folder) && !link)
    .map(([path, row]) => ({
      name: path.slice(path.lastIndexOf(folder) + folder.length),
      version: row.version ?? '',
      license: row.license ?? '',
      integrity: row.integrity ?? '',
      resolved: row.resolved ?? '',
      dependencies: Object.keys(row.dependencies ?? {}),
      isBundled: bundled.has(path),
    }))
    .toSorted((one, other) =>
      compare(`${one.name} ${one.version}`, `${other.name} ${other.version}`),
    )
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** Returns the paths of the packages that the sources import, and of their dependencies. */
function bundledPaths(packages: { readonly [path: string]: Row }): ReadonlySet<string> {
  const found = new Set<string>()
  const add = (name: string, from: string): void => {
    const path = pathOf(name, from, packages)
    if (path === undefined || found.has(path)) return
    found.add(path)
    for (const needed of Object.keys(packages[path]?.dependencies ?? {})) add(needed, path)
  }
  for (const name of importedNames()) add(name, '')
  return found
}

/**
 * Resolves a package as Node does: first in the folder of its importer, then in the parent folders.
 */
function pathOf(
  name: string,
  from: string,
  packages: { readonly [path: string]: Row },
): string | undefined {
  const path = from === '' ? `${folder}${name}` : `${from}/${folder}${name}`
  if (Object.hasOwn(packages, path)) return path
  if (from === '') return undefined
  return pathOf(name, from.slice(0, Math.max(0, from.lastIndexOf(`/${folder}`))), packages)
}

/**
 * Packages that users of keelson/testing install themselves. They are not bundled
 * (`scripts/build.ts`).
 */
const external = new Set(['@kubernetes/client-node'])

function importedNames(): ReadonlySet<string> {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const names = new Set<string>()
  for (const file of files) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue
    const text = readFileSync(join(root, 'src', file), 'utf8')
    for (const [, from = ''] of text.matchAll(
      /(?:^(?:import|export)\b[^'\n]*|\bimport\(|^\} from )'([^'.][^']*)'/gm,
    )) {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? ''
      if (!isBuiltin(from) && !external.has(name)) names.add(name)
    }
  }
  return names
}
