/**
 * Measures the quality of the simulation. Each patch under mutants/ puts one fault into a copy of
 * the source code, and the simulation must find it. Prints the number of seeds that were needed;
 * the last line is `N of N found`. A patch whose name begins with `garbage-` or `restore-` runs in
 * the simulation of that name, all others in the storage simulation.
 *
 *   --seeds N      maximum number of seeds.
 *   --only NAME    only mutants whose name contains this.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..', '..', '..')
const folder = join(import.meta.dirname, 'mutants')
/** The folders and files of the repository that the simulation imports. */
const copied = [
  'src',
  'bench/report',
  'test/chaos/simulation',
  'test/support/harness',
  'package.json',
] as const
/** Maximum number of seeds. So far, the rarest fault needed a few hundred. */
const SEEDS_MAX = 2_000
const FIRST_SEED = 1

function main(): void {
  const { values } = parseArgs({
    options: { seeds: { type: 'string' }, only: { type: 'string', default: '' } },
  })
  const seeds = Number(values.seeds ?? SEEDS_MAX)
  const names = readdirSync(folder).filter(
    (name) => name.endsWith('.patch') && name.includes(values.only),
  )
  let found = 0
  for (const name of names) {
    const { needed, fault } = tryMutant(join(folder, name), seeds)
    if (needed !== undefined) found++
    const outcome =
      needed === undefined ? `NOT FOUND in ${seeds} seeds` : `found with ${needed} seeds: ${fault}`
    console.log(`${name.replace('.patch', '').padEnd(34)} ${outcome}`)
  }
  console.log(`${found} of ${names.length} found`)
  process.exitCode = found === names.length ? 0 : 1
}

function tryMutant(
  patch: string,
  seeds: number,
): { readonly needed: number | undefined; readonly fault: string } {
  const copy = mkdtempSync(join(tmpdir(), 'keelson-mutant-'))
  try {
    for (const part of copied) cpSync(join(root, part), join(copy, part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    execFileSync('git', ['apply', '-C1', '--unsafe-paths', `--directory=${copy}`, patch], {
      cwd: '/',
      stdio: 'inherit',
    })
    const world =
      ['garbage', 'restore'].find((one) => basename(patch).startsWith(`${one}-`)) ?? 'storage'
    const found = firstFailure(simulate(copy, { world, first: FIRST_SEED, seeds }))
    if (found.needed === undefined) return found
    const seed = FIRST_SEED + found.needed - 1
    // The mutant was found only if the unchanged code passes with the same seed.
    if (firstFailure(simulate(root, { world, first: seed, seeds: 1 })).needed === undefined)
      return found
    throw new Error(
      `seed ${seed} also fails without a mutant: npm run simulate -- --seed ${seed} --world ${world}`,
    )
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

type Run = { readonly world: string; readonly first: number; readonly seeds: number }

function simulate(tree: string, { world, first, seeds }: Run): string {
  const options = ['--world', world, '--seed', String(first), '--seeds', String(seeds), '--first']
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--expose-gc', 'test/chaos/simulation/simulate.ts', ...options],
    {
      cwd: tree,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  // The simulation exits with 1 if a seed fails. Its output then names the seed.
  if (status !== 0 && !/^FAIL seed /m.test(stdout))
    throw new Error(`the simulation ended with status ${status} without a result: ${stdout}`)
  return stdout
}

/**
 * Returns the lowest seed that failed. Workers run concurrently, so this is the number of seeds
 * that one worker would have needed.
 */
function firstFailure(output: string): {
  readonly needed: number | undefined
  readonly fault: string
} {
  const failures = [...output.matchAll(/^FAIL seed (\d+)\n +(.*)$/gm)]
  const [first] = failures.toSorted((a, b) => Number(a[1]) - Number(b[1]))
  if (first === undefined) return { needed: undefined, fault: '' }
  return { needed: Number(first[1]) - FIRST_SEED + 1, fault: (first[2] ?? '').slice(0, 100) }
}

main()
