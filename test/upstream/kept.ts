/**
 * Stores the output of each test's last run below .cache, as one line of JSON per test. The
 * verdicts are also stored in a committed file (results.ts).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cache } from './build.ts'
import type { ServerKind } from './options.ts'
import type { TimedOutcome } from './run-test.ts'

/**
 * Stores the outcome of a test in the file of its package. It replaces the line with the previous
 * outcome of the test.
 */
export function keepOutcome(
  server: ServerKind,
  name: string,
  test: string,
  outcome: TimedOutcome,
): void {
  mkdirSync(join(cache, server), { recursive: true })
  const start = `{"package":${JSON.stringify(name)},"test":${JSON.stringify(test)},`
  const others = keptLines(server, name).filter((line) => !line.startsWith(start))
  const lines = [...others, JSON.stringify({ package: name, test, ...outcome })]
  writeFileSync(fileOf(server, name), `${lines.join('\n')}\n`)
}

function keptLines(server: ServerKind, name: string): string[] {
  const file = fileOf(server, name)
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
}

const fileOf = (server: ServerKind, name: string): string =>
  join(cache, server, `${name.replaceAll('/', '-')}.jsonl`)
