/**
 * The list of scenarios that pass, with one ID per line. CI replays these scenarios. If a scenario
 * no longer passes, fix the bug instead of removing the line.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { baseRelease } from './release-recordings.ts'

/** Returns the file with the list of a release, by the minor version of the release. */
export const passingFile = (release: number): string =>
  release === baseRelease
    ? join(import.meta.dirname, 'passing.txt')
    : join(import.meta.dirname, 'releases', `1.${release}-passing.txt`)

export function readIds(path: string): string[] {
  if (!existsSync(path))
    throw new Error(`there is no list ${path}: give an existing file to --list-file`)
  return linesOf(path).filter((line) => line !== '' && !line.startsWith('#'))
}

/** Adds these IDs to the list and preserves the header comment. Returns the number of new IDs. */
export function addIds(path: string, ids: readonly string[]): number {
  const before = new Set(readIds(path))
  const all = new Set([...before, ...ids])
  if (all.size === before.size) return 0
  const head = linesOf(path).filter((line) => line.startsWith('#'))
  // Write to a temporary file first, so that two concurrent runs never leave a truncated list.
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${[...head, ...[...all].toSorted()].join('\n')}\n`)
  renameSync(draft, path)
  return all.size - before.size
}

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n')
