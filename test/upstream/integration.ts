#!/usr/bin/env node
/** Upstream's integration tests against a server outside: `npm run integration -- --help` says what it can do, README.md how. */
import { startEtcd } from '../harness/etcd.ts'
import { Builder, type TestProgram } from './build.ts'
import { keepOutcome, keptVerdicts } from './kept.ts'
import { type Options, parseOptions, usage, UsageError } from './options.ts'
import { ReferenceResults } from './reference-results.ts'
import { listTests, runTest, type TimedOutcome } from './run-test.ts'
import { Tally } from './tally.ts'
import { Waits } from './waits.ts'

/** Hundreds of servers, each with a prefix of its own, write to one etcd. */
const QUOTA_BYTES = 8 * 2 ** 30

class Run {
  readonly tally = new Tally()
  readonly #options: Options
  readonly #etcdUrl: string
  readonly #reference = new ReferenceResults()
  readonly #waits = new Waits()

  constructor(options: Options, etcdUrl: string) {
    this.#options = options
    this.#etcdUrl = etcdUrl
  }

  async take(program: TestProgram): Promise<void> {
    const { run, skip, jobs } = this.#options
    const tests = listTests(program, this.#etcdUrl).filter((test) => run.test(test) && !skip.test(test))
    const takers = Array.from({ length: jobs }, async () => {
      for (let test = tests.shift(); test !== undefined; test = tests.shift())
        this.#keep(program.name, test, await this.#runOne(program, test))
    })
    await Promise.all(takers)
  }

  async #runOne(program: TestProgram, test: string): Promise<TimedOutcome> {
    const isListed = this.#listedUnder(program.name, test) !== undefined
    for (let retriesLeft = isListed ? 0 : this.#options.retries; ; retriesLeft--) {
      const outcome = await runTest(program, test, { etcdUrl: this.#etcdUrl, options: this.#options })
      if (outcome.result !== 'fail' || retriesLeft <= 0) return outcome
    }
  }

  /** What Keelson waits for. The reference has it. */
  #listedUnder(name: string, test: string): string | undefined {
    return this.#options.server === 'reference' ? undefined : this.#waits.of(name, test)
  }

  #keep(name: string, test: string, outcome: TimedOutcome): void {
    const { server } = this.#options
    keepOutcome(server, name, test, outcome)
    if (server === 'reference') this.#reference.record(name, test, outcome.result)
    const { result, seconds, said } = outcome
    const wanted = this.#reference.of(name, test)
    const remark = this.tally.add({ package: name, result, wanted, waitsFor: this.#listedUnder(name, test) })
    const verdict = remark === '' ? result.toUpperCase() : `${result.toUpperCase()} (${remark})`
    console.log([verdict, name, test, `${seconds} s`, said[0] ?? ''].join('\t'))
  }
}

/** Of each package what the last runs answered, for every test that passes on the reference or waits. */
function table(packages: readonly string[]): Tally {
  const tally = new Tally()
  const reference = new ReferenceResults()
  const waits = new Waits()
  for (const name of packages) {
    const kept = keptVerdicts('keelson', name)
    for (const test of new Set([...reference.passed(name), ...waits.tests(name)])) {
      const result = kept.get(test)
      const wanted = reference.of(name, test)
      const waitsFor = waits.of(name, test)
      tally.add({ package: name, result: result ?? 'fail', wanted, waitsFor })
      if (wanted === 'pass' && result !== 'pass' && waitsFor === undefined)
        console.log([result === undefined ? 'NOT RUN' : result.toUpperCase(), name, test].join('\t'))
    }
  }
  return tally
}

/** The exit status. */
async function main(options: Options): Promise<number> {
  if (options.tableOnly) return report(table(options.packages))
  const builder = await Builder.prepare()
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(QUOTA_BYTES)] })
  const run = new Run(options, etcd.clientUrl)
  for (const name of options.packages) {
    const program = await builder.build(name)
    if (!options.buildOnly) await run.take(program)
  }
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
  else process.exitCode = await main(parseOptions(argv))
} catch (error) {
  const isUsage = error instanceof UsageError
  console.error(isUsage ? `integration: ${error.message}\n\n${usage}` : error)
  process.exitCode = isUsage ? 2 : 1
}
