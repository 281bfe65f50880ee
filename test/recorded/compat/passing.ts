/**
 * The list of scenarios that pass, one id per line, which continuous integration replays. It only
 * grows: a scenario that stops passing is a fault to mend, not a line to take out.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const passingFile: string = join(import.meta.dirname, 'passing.txt')

export function readIds(path: string): string[] {
  if (!existsSync(path))
    throw new Error(`there is no list ${path}: name one that is there after --list-file`)
  return linesOf(path).filter((line) => line !== '' && !line.startsWith('#'))
}

/** Adds these ids and keeps the head comment; the number of ids that were new. */
export function addIds(path: string, ids: readonly string[]): number {
  const before = new Set(readIds(path))
  const all = new Set([...before, ...ids])
  if (all.size === before.size) return 0
  const head = linesOf(path).filter((line) => line.startsWith('#'))
  // Written whole under another name first: two runs that add at once never leave half a list.
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${[...head, ...[...all].toSorted()].join('\n')}\n`)
  renameSync(draft, path)
  return all.size - before.size
}

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n')
