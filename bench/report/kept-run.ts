/** Writes the figures of a run as a file for bench/results/. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Figure, KeptRun } from './figure.ts'

const root = join(import.meta.dirname, '..', '..')

/**
 * Writes the figures of a run to a file, with the command that produced them. `program` is the
 * beginning of the command, and the arguments of this process are its end. The argument `option`,
 * which names the file, is left out.
 */
export function writeRun(
  file: string,
  figures: readonly Figure[],
  { program, option = '--json' }: { readonly program: string; readonly option?: string },
): void {
  const args = process.argv
    .slice(2)
    .filter((argument, at, all) => argument !== option && all[at - 1] !== option)
    .filter((argument) => !argument.startsWith(`${option}=`))
  const git = ['rev-parse', '--short', 'HEAD']
  const run: KeptRun = {
    date: new Date().toISOString().slice(0, 10),
    command: [program, ...args].join(' '),
    commit: execFileSync('git', git, { cwd: root, encoding: 'utf8' }).trim(),
    machine: `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`,
    figures,
  }
  writeFileSync(file, `${JSON.stringify(run, null, 2)}\n`)
}
