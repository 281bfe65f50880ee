/**
 * Writes src/api/gate-table.ts: the feature gates of all releases since 1.31, with their history.
 * The gates are read from the source of one published version of each release. Then checks that
 * the table gives the same state as the list that each of these versions contains. Run by hand when
 * a version is added, because it downloads the modules of all releases.
 *
 *   node scripts/gates.ts            writes the file
 *   node scripts/gates.ts --check    writes nothing; exits with 1 if the file is out of date
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readGateFacts } from './catalogue/facts.ts'
import { gateTableText } from './catalogue/gate-table-text.ts'
import { versions } from './catalogue/versions.ts'

const file = join(import.meta.dirname, '..', 'src', 'api', 'gate-table.ts')

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const releases = versions.map(([minor, version]) => ({ minor, ...readGateFacts(version) }))
const text = gateTableText(releases)
const isStale = readFileSync(file, 'utf8') !== text
if (isStale && !options.check) writeFileSync(file, text)
console.log(
  `gates: the table ${isStale ? (options.check ? 'differs' : 'is written') : 'is current'}`,
)
// Import the checks only now, because they import the table that was written above.
const { gateFaults, listFaults } = await import('./catalogue/gates.ts')
const faults = releases.flatMap(({ minor, gates, folder }) => [
  ...gateFaults(minor, gates),
  ...listFaults(minor, folder),
])
for (const fault of faults) console.error(fault)
if (faults.length > 0 || (options.check && isStale)) process.exitCode = 1
