#!/usr/bin/env node
/** Upstream's integration tests against a server outside: `npm run integration -- --help` says what it can do, README.md how. */
import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startEtcd } from '../harness/etcd.ts'
import { Builder, cache, type TestProgram } from './build.ts'
import { type Options, parseOptions, usage, UsageError } from './options.ts'
import { ReferenceResults } from './reference-results.ts'
import { listTests, runTest, type TimedOutcome } from './run-test.ts'

/** Hundreds of servers, each with a prefix of its own, write to one etcd. */
const QUOTA_BYTES = 8 * 2 ** 30

class Run {
  passed = 0
  failed = 0
  readonly #options: Options
  readonly #etcdUrl: string
  readonly #reference = new ReferenceResults()

  constructor(options: Options, etcdUrl: string) {
    this.#options = options
    this.#etcdUrl = etcdUrl
  }

  async take(program: TestProgram): Promise<void> {
    const { server, run, skip } = this.#options
    const results = join(cache, server, `${program.name.replaceAll('/', '-')}.jsonl`)
    mkdirSync(join(cache, server), { recursive: true })
    rmSync(results, { force: true })
    const tests = listTests(program, this.#etcdUrl).filter((test) => run.test(test) && !skip.test(test))
    for (const test of tests) {
      const outcome = await this.#runOne(program, test)
      appendFileSync(results, `${JSON.stringify({ package: program.name, test, ...outcome })}\n`)
      this.#count(program.name, test, outcome)
    }
  }

  async #runOne(program: TestProgram, test: string): Promise<TimedOutcome> {
    for (let retriesLeft = this.#options.retries; ; retriesLeft--) {
      const outcome = await runTest(program, test, { etcdUrl: this.#etcdUrl, options: this.#options })
      if (outcome.result !== 'fail' || retriesLeft <= 0) return outcome
    }
  }

  #count(name: string, test: string, { result, seconds, said }: TimedOutcome): void {
    if (this.#options.server === 'reference') {
      this.#reference.set(name, test, result)
      this.#reference.save()
    }
    const wanted = this.#reference.of(name, test)
    if (wanted === 'pass' && result === 'pass') this.passed++
    if (wanted === 'pass' && result !== 'pass') this.failed++
    const note = wanted === 'pass' ? '' : ` (reference: ${wanted ?? 'not asked'})`
    console.log([result.toUpperCase() + note, name, test, `${seconds} s`, said[0] ?? ''].join('\t'))
  }
}

/** The exit status. */
async function main(options: Options): Promise<number> {
  const builder = await Builder.prepare()
  await using etcd = await startEtcd({ args: ['--quota-backend-bytes', String(QUOTA_BYTES)] })
  const run = new Run(options, etcd.clientUrl)
  for (const name of options.packages) {
    const program = await builder.build(name)
    if (!options.buildOnly) await run.take(program)
  }
  console.log(`${run.passed} passed, ${run.failed} failed`)
  return run.failed > 0 ? 1 : 0
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
