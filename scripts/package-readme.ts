/**
 * Makes the links in README.md absolute while npm packs the package. The package does not contain
 * the pages and pictures to which the links lead. npm runs this script before and after packing.
 *
 *   node scripts/package-readme.ts             makes the links absolute
 *   node scripts/package-readme.ts --restore   makes the links relative again
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readManifest } from './release/checks.ts'

const root = join(import.meta.dirname, '..')
const path = join(root, 'README.md')

/** Returns the addresses of pages and pictures in the release that package.json names. */
function addresses(): { readonly pages: string; readonly pictures: string } {
  const { repository, version } = readManifest(root)
  const name = /github\.com[/:]([^/]+\/[^/]+?)(?:\.git)?$/.exec(repository.url)?.[1]
  if (name === undefined) throw new Error(`${repository.url} is not a repository on GitHub`)
  return {
    pages: `https://github.com/${name}/blob/v${version}/`,
    pictures: `https://raw.githubusercontent.com/${name}/v${version}/`,
  }
}

function makeAbsolute(text: string): string {
  const { pages, pictures } = addresses()
  return text.replaceAll(
    /(!?\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)/g,
    (_, label: string, target: string) =>
      `${label}(${label.startsWith('!') ? pictures : pages}${target})`,
  )
}

function makeRelative(text: string): string {
  const { pages, pictures } = addresses()
  return text.replaceAll(pages, '').replaceAll(pictures, '')
}

const { values } = parseArgs({ options: { restore: { type: 'boolean', default: false } } })
const before = readFileSync(path, 'utf8')
writeFileSync(path, values.restore ? makeRelative(before) : makeAbsolute(before))
