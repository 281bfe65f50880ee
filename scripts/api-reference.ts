/**
 * Writes the API reference: a page for each group and version, and an index. The pages are not
 * committed, because they are large; the build of the site writes them.
 *
 *   node scripts/api-reference.ts FOLDER
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { apiPages } from './reference/api.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const [folder, ...others] = positionals
if (folder === undefined || others.length > 0) {
  console.error('usage: node scripts/api-reference.ts FOLDER')
  process.exitCode = 2
} else {
  const pages = await apiPages()
  mkdirSync(folder, { recursive: true })
  for (const { file, text } of pages) writeFileSync(join(folder, file), text)
  console.log(`api-reference: ${pages.length} pages written`)
}
