/**
 * Writes docs/status.md and docs/reference/measurements.md from the files in bench/results/. Checks
 * that the commands of the claims exist and that docs/status.md does not exceed one page.
 *
 *   node scripts/status.ts            writes the pages
 *   node scripts/status.ts --check    writes nothing; exits with 1 if a page is out of date
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { faultsOfClaims, faultsOfStatus, readResults } from './status/results.ts'
import { measurementsPage } from './status/measurements-page.ts'
import { statusPage } from './status/status-page.ts'

const docs = join(import.meta.dirname, '..', 'docs')

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const results = readResults()
const status = statusPage(results)
const faults = [...faultsOfClaims(results.claims), ...faultsOfStatus(status.text)]
for (const fault of faults) console.error(`bench/results/claims.json: ${fault}`)
const stale = [status, measurementsPage(results)].filter(({ file, text }) => {
  const path = join(docs, file)
  return !existsSync(path) || readFileSync(path, 'utf8') !== text
})
if (options.check)
  for (const { file } of stale)
    console.error(`docs/${file} is out of date: run node scripts/status.ts`)
else for (const { file, text } of stale) writeFileSync(join(docs, file), text)
if (faults.length > 0 || (options.check && stale.length > 0)) process.exitCode = 1
console.log(`status: ${stale.length} pages ${options.check ? 'differ' : 'written'}`)
