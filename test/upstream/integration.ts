#!/usr/bin/env node
/**
 * Runs Kubernetes' integration tests against a server in another process. `npm run integration --
 * --help` lists the options, and README.md explains how it works.
 */
import { startEtcd } from '../support/harness/etcd.ts'
import { buildProgram, readPackages, type TestProgram, testProgram } from './build.ts'
import { keepOutcome } from './kept.ts'
import { type Options, parseOptions, usage, UsageError } from './options.ts'
import { Results } from './results.ts'
import { runTest, type TimedOutcome } from './run-test.ts'
import { Tally } from './tally.ts'
import { Waits } from './waits.ts'

/**
 * Storage quota of etcd. It is large, because hundreds of servers write to this etcd, each with its
 * own prefix.
 */
const QUOTA_BYTES = 8 * 2 ** 30

class Run {
  readonly tally = new Tally()
  readonly #options: Options
  readonly #etcdUrl: string
  readonly #reference = new Results('reference')
  readonly #own: Results
  readonly #waits = new Waits()

  constructor(options: Options, etcdUrl: string) {
    this.#options = options
    this.#etcdUrl = etcdUrl
    this.#own = options.server === 'reference' ? this.#reference : new Results(options.server)
  }

  async take(programs: readonly TestProgram[]): Promise<void> {
    const wanted = programs.flatMap((program) =>
      program.tests
        .filter((test) => this.#isWanted(program.name, test))
        .map((test) => ({ program, test })),
    )
    const takers = Array.from({ length: this.#options.jobs }, async () => {
      for (let next = wanted.shift(); next !== undefined; next = wanted.shift())
        this.#keep(next.program.name, next.test, await this.#runOne(next.program, next.test))
    })
    await Promise.all(takers)
  }

  #isWanted(name: string, test: string): boolean {
    const { run, skip, missingOnly, server } = this.#options
    if (!run.test(test) || skip.test(test)) return false
    if (!missingOnly) return true
    return (
      this.#own.of(name, test) === undefined &&
      (server === 'reference' || this.#reference.of(name, test) === 'pass')
    )
  }

  async #runOne(program: TestProgram, test: string): Promise<TimedOutcome> {
    const isListed = this.#listedUnder(program.name, test) !== undefined
    for (let retriesLeft = isListed ? 0 : this.#options.retries; ; retriesLeft--) {
      const outcome = await runTest(program, test, {
        etcdUrl: this.#etcdUrl,
        options: this.#options,
      })
      if (outcome.result !== 'fail' || retriesLeft <= 0) return outcome
    }
  }

  /**
   * If waits.txt lists the test, returns the missing feature that the test needs. Returns undefined
   * on kube-apiserver, which has all features.
   */
  #listedUnder(name: string, test: string): string | undefined {
    return this.#options.server === 'reference' ? undefined : this.#waits.of(name, test)
  }

  #keep(name: string, test: string, outcome: TimedOutcome): void {
    const { server } = this.#options
    keepOutcome(server, name, test, outcome)
    this.#own.record(name, test, outcome.result)
    const { result, seconds, said } = outcome
    const wanted = this.#reference.of(name, test)
    const remark = this.tally.add({
      package: name,
      result,
      wanted,
      waitsFor: this.#listedUnder(name, test),
    })
    const verdict = remark === '' ? result.toUpperCase() : `${result.toUpperCase()} (${remark})`
    console.log([verdict, name, test, `${seconds} s`, said[0] ?? ''].join('\t'))
  }
}

/**
 * Counts Keelson's last results by package. Includes tests that pass on kube-apiserver, and tests
 * that need a missing feature.
 */
function table(packages: readonly string[]): Tally {
  const tally = new Tally()
  const reference = new Results('reference')
  const keelson = new Results('keelson')
  const waits = new Waits()
  for (const name of packages) {
    for (const test of new Set([...reference.passed(name), ...waits.tests(name)])) {
      const result = keelson.of(name, test)
      const wanted = reference.of(name, test)
      const waitsFor = waits.of(name, test)
      tally.add({ package: name, result: result ?? 'fail', wanted, waitsFor })
      if (wanted === 'pass' && result !== 'pass' && waitsFor === undefined)
        console.log(
          [result === undefined ? 'NOT RUN' : result.toUpperCase(), name, test].join('\t'),
        )
    }
  }
  return tally
}

/** Returns the exit code. */
async function main(options: Options): Promise<number> {
  if (options.tableOnly) return report(table(options.packages))
  await buildProgram()
  if (options.buildOnly) return 0
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(QUOTA_BYTES)] })
  const run = new Run(options, etcd.clientUrl)
  await run.take(options.packages.map(testProgram))
  return report(run.tally)
}

function report(tally: Tally): number {
  for (const line of tally.summary()) console.log(line)
  return tally.failed > 0 ? 1 : 0
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const argv = process.argv.slice(2)
try {
  if (argv.includes('--help')) console.log(usage)
  else process.exitCode = await main(parseOptions(argv, readPackages()))
} catch (error) {
  const isUsage = error instanceof UsageError
  console.error(isUsage ? `integration: ${error.message}\n\n${usage}` : error)
  process.exitCode = isUsage ? 2 : 1
}
