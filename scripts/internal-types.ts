/**
 * Writes src/registry/catalogue/internal.ts: the types of kube-apiserver's internal version that
 * errors show as JSON since 1.34. Run by hand when a version is added, because it reads the modules
 * of all releases.
 *
 *   node scripts/internal-types.ts            writes the file
 *   node scripts/internal-types.ts --check    writes nothing; exits with 1 if the file is stale
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { internalTypesText, readInternalTypes } from './catalogue/internal-types.ts'
import { mergeReleases } from './catalogue/merge-releases.ts'
import { versions } from './catalogue/versions.ts'

/** The first release whose errors show values as JSON. */
const FIRST = 34

const file = join(import.meta.dirname, '..', 'src', 'registry', 'catalogue', 'internal.ts')

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const releases = versions
  .filter(([minor]) => minor >= FIRST)
  .map(([minor, version]) => ({ release: minor, blocks: readInternalTypes(version) }))
const newest = releases.at(-1)?.release ?? FIRST
const text = internalTypesText(mergeReleases(releases, newest))
const isStale = !options.check || readFileSync(file, 'utf8') !== text
if (isStale && options.check) process.exitCode = 1
else if (isStale) writeFileSync(file, text)
console.log(
  `internal types: the table ${options.check ? (isStale ? 'differs' : 'is current') : 'is written'}`,
)
