/** Runs tests of e2e.test by name. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolPath } from '../../../support/harness/etcd.ts'
import { type Outcome, readJunit } from './junit.ts'

export type Target = {
  readonly kubeconfig: string
  /** Folder for reports and logs. */
  readonly dir: string
  readonly nodes: number
}

export type Pace = {
  /** Number of tests that run in parallel. */
  readonly jobs: number
  /** Time limit of a test. If absent, the time is not limited. */
  readonly limitSeconds: number | undefined
}

/**
 * Number of tests that one start of e2e.test runs. A start takes one or two seconds, which several
 * tests should share. The number is small enough to show progress.
 */
const TESTS_PER_START = 6
/** Additional time for a test to clean up after its time limit. */
const GRACE_SECONDS = 10

/** Runs the tests in any order. Calls `onOutcome` once for each name. */
export async function runTests(
  names: readonly string[],
  target: Target,
  { jobs, limitSeconds }: Pace,
  onOutcome: (outcome: Outcome) => void,
): Promise<void> {
  const take = async (parts: string[][], id: string): Promise<void> => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift())
      for (const outcome of await runPart(part, target, {
        id: `${id}-${parts.length}`,
        limitSeconds,
      }))
        onOutcome(outcome)
  }
  const size = limitSeconds === undefined ? TESTS_PER_START : 1
  const together = partsOf(
    names.filter((name) => !isAlone(name)),
    size,
  )
  await Promise.all(Array.from({ length: jobs }, () => take(together, 'together')))
  await take(partsOf(names.filter(isAlone), size), 'alone')
}

const isAlone = (name: string): boolean => /\[(Serial|Disruptive)\]/.test(name)

/**
 * Divides the tests into parts. Slow tests often have similar names, so tests that are adjacent in
 * the list are put into different parts.
 */
function partsOf(names: readonly string[], size: number): string[][] {
  const count = Math.ceil(names.length / size)
  return Array.from({ length: count }, (_, part) =>
    names.filter((_name, at) => at % count === part),
  )
}

type Part = { readonly id: string; readonly limitSeconds: number | undefined }

async function runPart(
  names: readonly string[],
  { kubeconfig, dir, nodes }: Target,
  { id, limitSeconds }: Part,
): Promise<Outcome[]> {
  const report = join(dir, `${id}.xml`)
  const log = openSync(join(dir, `${id}.log`), 'a')
  const child = spawn(
    toolPath('e2e.test'),
    [
      `--kubeconfig=${kubeconfig}`,
      '--provider=skeleton',
      '--allowed-not-ready-nodes=-1',
      `--num-nodes=${nodes}`,
      '--minStartupPods=-1',
      `--kubectl-path=${toolPath('kubectl')}`,
      // Do not query kubelets after a failure, because there are none.
      '--max-nodes-to-gather-from=0',
      // Match the whole name of each test, because some names are the beginning of others.
      ...names.map((name) => `--ginkgo.focus= ${escaped(name)}$`),
      ...(limitSeconds === undefined
        ? []
        : [`--ginkgo.timeout=${limitSeconds}s`, `--ginkgo.grace-period=${GRACE_SECONDS}s`]),
      '--ginkgo.no-color',
      `--ginkgo.junit-report=${report}`,
    ],
    { stdio: ['ignore', log, log], cwd: dir },
  )
  closeSync(log) // The child process has its own copy of the file descriptor.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  await once(child, 'exit')
  process.off('exit', kill)
  const reported = existsSync(report) ? readJunit(readFileSync(report, 'utf8')) : []
  return names.map((name) => {
    // In the report, the labels of a test follow its name.
    const outcome = reported.find((one) => one.name === name || one.name.startsWith(`${name} [`))
    return outcome === undefined
      ? { name, result: 'failed', seconds: 0, said: `e2e.test reported no result: see ${id}.log` }
      : { ...outcome, name }
  })
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
