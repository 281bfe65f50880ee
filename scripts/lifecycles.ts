/**
 * Writes src/api/lifecycle-table.ts: in which versions the kinds of all releases since 1.31 were
 * introduced, deprecated and removed. Run by hand when a version is added, because it downloads the
 * modules of all releases.
 *
 *   node scripts/lifecycles.ts            writes the file
 *   node scripts/lifecycles.ts --check    writes nothing; exits with 1 if the file is out of date
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { lifecycleTableText, readLifecycles } from './catalogue/lifecycles.ts'
import { versions } from './catalogue/versions.ts'

const file = join(import.meta.dirname, '..', 'src', 'api', 'lifecycle-table.ts')

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const text = lifecycleTableText(
  versions.map(([minor, version]) => ({ minor, lifecycles: readLifecycles(version) })),
)
const isStale = readFileSync(file, 'utf8') !== text
if (isStale && options.check) process.exitCode = 1
else if (isStale) writeFileSync(file, text)
console.log(
  `lifecycles: the table ${isStale ? (options.check ? 'differs' : 'is written') : 'is current'}`,
)
