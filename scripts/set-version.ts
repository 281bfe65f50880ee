/**
 * Writes the version of package.json to all other files that name it, such as those of the Go and
 * Python libraries. With `--check`, only reports the files that name a different version.
 *
 *   node scripts/set-version.ts [--check]
 */
import { join } from 'node:path'
import { setVersion, versionFaults } from './release/checks.ts'

const root = join(import.meta.dirname, '..')

if (process.argv.includes('--check')) {
  const faults = versionFaults(root)
  for (const fault of faults) console.error(`${fault}: run node scripts/set-version.ts`)
  process.exitCode = faults.length > 0 ? 1 : 0
} else {
  for (const file of setVersion(root)) console.log(`changed ${file}`)
}
