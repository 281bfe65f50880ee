/**
 * What each test said when it was run last, a line of JSON for each under .cache; the verdict alone
 * is in a file that is committed (results.ts).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cache } from './build.ts'
import type { ServerKind } from './options.ts'
import type { TimedOutcome } from './run-test.ts'

/** The line of this test in the package's file; those of other tests stay. */
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
