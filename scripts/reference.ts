/**
 * Writes docs/reference/ from the code: flags, commands, metrics, feature gates, admission plugins,
 * configuration files and keelson/testing.
 *
 *   node scripts/reference.ts            writes the pages
 *   node scripts/reference.ts --check    writes nothing; exits with 1 if a page is out of date
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commandsPage } from './reference/commands.ts'
import { configurationPage } from './reference/configuration.ts'
import { flagsPage } from './reference/flags.ts'
import { gatesPage } from './reference/gates.ts'
import { metricsPage } from './reference/metrics.ts'
import { pluginsPage } from './reference/plugins.ts'
import { testingPage } from './reference/testing.ts'

const out = join(import.meta.dirname, '..', 'docs', 'reference')

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const pages = [
  await commandsPage(),
  flagsPage(),
  gatesPage(),
  pluginsPage(),
  configurationPage(),
  testingPage(),
  await metricsPage(),
]
const stale = pages.filter(({ file, text }) => {
  const kept = join(out, file)
  return !existsSync(kept) || readFileSync(kept, 'utf8') !== text
})
if (options.check) {
  for (const { file } of stale)
    console.error(`docs/reference/${file} is out of date: run node scripts/reference.ts`)
  if (stale.length > 0) process.exitCode = 1
} else for (const { file, text } of stale) writeFileSync(join(out, file), text)
console.log(`reference: ${stale.length} pages ${options.check ? 'differ' : 'written'}`)
