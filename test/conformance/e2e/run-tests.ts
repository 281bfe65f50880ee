/** Runs tests of e2e.test by name. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolPath } from '../../harness/etcd.ts'
import { type Outcome, readJunit } from './junit.ts'

export type Target = {
  readonly kubeconfig: string
  /** For reports and logs. */
  readonly dir: string
}

/** Starting e2e.test takes a second or two, so each start takes several tests; few enough that progress is seen. */
const TESTS_PER_START = 6

/** Runs in an order of its own; calls `onOutcome` for each name once. */
export async function runTests(
  names: readonly string[],
  target: Target,
  jobs: number,
  onOutcome: (outcome: Outcome) => void,
): Promise<void> {
  const take = async (parts: string[][], id: string): Promise<void> => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift())
      for (const outcome of await runPart(part, target, `${id}-${parts.length}`)) onOutcome(outcome)
  }
  const together = partsOf(names.filter((name) => !isAlone(name)))
  await Promise.all(Array.from({ length: jobs }, () => take(together, 'together')))
  await take(partsOf(names.filter(isAlone)), 'alone')
}

const isAlone = (name: string): boolean => /\[(Serial|Disruptive)\]/.test(name)

const partsOf = (names: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(names.length / TESTS_PER_START) }, (_, i) =>
    names.slice(i * TESTS_PER_START, (i + 1) * TESTS_PER_START),
  )

async function runPart(names: readonly string[], { kubeconfig, dir }: Target, id: string): Promise<Outcome[]> {
  const report = join(dir, `${id}.xml`)
  const log = openSync(join(dir, `${id}.log`), 'a')
  const child = spawn(
    toolPath('e2e.test'),
    [
      `--kubeconfig=${kubeconfig}`,
      '--provider=skeleton',
      '--allowed-not-ready-nodes=-1',
      '--num-nodes=1',
      '--minStartupPods=-1',
      `--kubectl-path=${toolPath('kubectl')}`,
      `--ginkgo.focus=${names.map(escaped).join('|')}`,
      '--ginkgo.no-color',
      `--ginkgo.junit-report=${report}`,
    ],
    { stdio: ['ignore', log, log], cwd: dir },
  )
  closeSync(log) // The child has its own copy.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  await once(child, 'exit')
  process.off('exit', kill)
  const reported = existsSync(report) ? readJunit(readFileSync(report, 'utf8')) : []
  return names.map((name) => {
    // Labels follow the name in the report.
    const outcome = reported.find((one) => one.name === name || one.name.startsWith(`${name} [`))
    return outcome === undefined
      ? { name, result: 'failed', seconds: 0, said: `e2e.test does not report it: see ${id}.log` }
      : { ...outcome, name }
  })
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
