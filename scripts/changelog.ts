/**
 * Checks and releases the changelog fragments in `changes/`. changes/README.md describes them.
 *
 *   node scripts/changelog.ts --check      exits with 1 if a fragment has a fault
 *   node scripts/changelog.ts --preview    prints what the next release would contain
 *   node scripts/changelog.ts --release 0.2.0 --date 2027-01-31
 *                                          moves the fragments into CHANGELOG.md
 *
 * `--root FOLDER` chooses another repository.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Fragment, readFragments } from './changelog/fragments.ts'
import { addRelease, printRelease } from './changelog/release.ts'

const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    preview: { type: 'boolean', default: false },
    release: { type: 'string' },
    date: { type: 'string' },
    root: { type: 'string', default: join(import.meta.dirname, '..') },
  },
})
const changelogPath = join(options.root, 'CHANGELOG.md')
const changelog = readFileSync(changelogPath, 'utf8')
const { fragments, faults: fragmentFaults } = readFragments(options.root, changelog)
const faults = [...fragmentFaults, ...optionFaults()]
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
else if (options.preview) process.stdout.write(printRelease('Unreleased', fragments))
else if (options.release !== undefined) release(`${options.release} (${options.date})`, fragments)
if (options.check) console.log(`changelog: ${fragments.length} fragments, ${faults.length} faults`)

function release(heading: string, released: readonly Fragment[]): void {
  writeFileSync(changelogPath, addRelease(changelog, printRelease(heading, released)))
  for (const { path } of released) rmSync(join(options.root, path))
  console.log(`changelog: ${released.length} entries moved to ${heading}`)
}

function* optionFaults(): Generator<string> {
  const { check, preview, release: version, date } = options
  const given = [check, preview, version !== undefined].filter(Boolean).length
  if (given !== 1) yield 'use one of --check, --preview and --release VERSION --date DATE'
  if (version === undefined) return
  if (!/^\d+\.\d+\.\d+$/.test(version)) yield `--release must be a version such as 0.2.0`
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date ?? '')) yield `--date must be a date such as 2027-01-31`
  if (changelog.includes(`\n## ${version} `)) yield `CHANGELOG.md already has ${version}`
  if (fragments.length === 0) yield 'there are no fragments to release'
}
