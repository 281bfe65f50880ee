/**
 * Fault suite: `npm run faults`. Runs real etcd processes, injects real faults, and runs random
 * operations from a seed. judge.ts checks the results.
 *
 *   --short           version for every change; takes about a minute.
 *   --seconds N       time for which each scenario injects faults.
 *   --only NAME       one scenario, or several separated by commas.
 *   --seed S          repeats the random choices of an earlier run.
 *   --etcd TOOL       etcd (3.6), etcd-3.5 or etcd-3.7.
 *
 * A failure prints its seed and the command that repeats it. A repeated run has the same operations
 * and faults. Their exact timing depends on the machine, so a rare failure may need several runs or
 * more seconds.
 */
import { parseArgs } from 'node:util'
import { etcdTool, toolPath } from '../../support/harness/etcd.ts'
import { runScenario, type Scenario, type Verdict } from './scenario.ts'
import { scenarios } from './scenarios/all.ts'

/** Duration of each scenario by default. All scenarios together take more than five minutes. */
const SECONDS = 30
const SECONDS_SHORT = 1.5

async function main(): Promise<void> {
  const options = readOptions()
  // Exit explicitly: the exit handlers stop the etcd processes, which would otherwise outlive an
  // interrupted run.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  process.env['KEELSON_ETCD'] = options.etcd
  toolPath(etcdTool()) // Throws an error with instructions if etcd is not installed.
  console.log(
    `${options.scenarios.length} scenarios of ${options.seconds} s on ${options.etcd}, seed ${options.seed}`,
  )
  let failed = 0
  for (const scenario of options.scenarios) {
    const { seed, seconds } = options
    const startMs = performance.now()
    const verdict = await runScenario(scenario, { seed, seconds }).catch(
      (error: unknown): Verdict => ({ faults: [`the run broke: ${describe(error)}`], figures: '' }),
    )
    const tookSeconds = ((performance.now() - startMs) / 1000).toFixed(1)
    const isWell = verdict.faults.length === 0
    console.log(
      `${isWell ? 'ok  ' : 'FAIL'} ${scenario.name.padEnd(10)} ${tookSeconds.padStart(5)} s  ${verdict.figures}`,
    )
    if (isWell) continue
    failed++
    for (const fault of verdict.faults) console.log(`       ${fault}`)
    console.log(
      `     repeat: node test/chaos/simulation/faults.ts --only ${scenario.name} --seed ${seed} --seconds ${seconds} --etcd ${options.etcd}`,
    )
  }
  console.log(`${options.scenarios.length - failed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

type Options = {
  readonly scenarios: readonly Scenario[]
  readonly seed: number
  readonly seconds: number
  readonly etcd: string
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      short: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      only: { type: 'string' },
      seed: { type: 'string' },
      etcd: { type: 'string', default: etcdTool() },
    },
  })
  const seconds = Number(values.seconds ?? (values.short ? SECONDS_SHORT : SECONDS))
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
  if (!(seconds > 0)) throw new Error(`--seconds is not a duration: ${values.seconds}`)
  if (!Number.isSafeInteger(seed)) throw new Error(`--seed is not an integer: ${values.seed}`)
  const names = values.only?.split(',')
  const unknown = names?.find((name) => !scenarios.some((scenario) => scenario.name === name))
  if (unknown !== undefined) {
    throw new Error(
      `there is no scenario ${unknown}; the scenarios are ${scenarios.map(({ name }) => name).join(', ')}`,
    )
  }
  return {
    scenarios: scenarios.filter(({ name }) => names?.includes(name) ?? true),
    seed,
    seconds,
    etcd: values.etcd,
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

await main()
