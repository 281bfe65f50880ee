/**
 * Fills every list and map field of every kind in several shapes, sends the objects with every
 * verb, and measures the server: `node test/chaos/hostile/sweep.ts`. The server runs in its own
 * process. The program measures the CPU time of the server's main thread per tick of the event
 * loop, the memory of the server, and the latency of another user.
 *
 *   --seed N       seed for the order of the fields.
 *   --seconds N    stops after this time. The order then determines which fields are swept.
 *   --only TEXT    only kinds and fields whose name contains the text.
 *   --shard K/N    the K-th of N parts of the fields, so that several processes can share the
 *                  sweep.
 *   --again FILE   only the cases that failed in an earlier run with --json FILE and the same
 *                  --seed.
 *   --after FILE   continues an interrupted run with --json FILE and the same --seed: skips its
 *                  cases.
 *   --memory MIB   limits the server's memory.
 *   --json FILE    writes all results.
 *   --figures FILE writes the counts, in the format of bench/results/.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { writeRun } from '../../../bench/report/kept-run.ts'
import { chooseCases, plan, type PlannedItem, textOf, variedFirst } from './sweep/cases.ts'
import { fieldsOf, loadTargets, type SweptField } from './sweep/fields.ts'
import { learn, type LearnedField } from './sweep/learn.ts'
import { FieldRun, type Result } from './sweep/run-field.ts'
import { fails, figuresOf, lineOf, verdictOf } from './sweep/report.ts'
import { SweptServer } from './sweep/server.ts'

// Call process.exit on a signal, so that the exit handlers of this process stop the server.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/** Interval at which progress is printed. */
const PROGRESS_MS = 30_000

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string' },
    only: { type: 'string', default: '' },
    shard: { type: 'string', default: '1/1' },
    again: { type: 'string' },
    after: { type: 'string' },
    memory: { type: 'string' },
    json: { type: 'string' },
    figures: { type: 'string' },
  },
})

const targets = await loadTargets()
const all = fieldsOf(targets)
const fields = all.filter(({ id, target }) =>
  `${target.apiVersion} ${target.kind} ${id}`.includes(values.only),
)
if (fields.length === 0) {
  console.error(`no kind or field contains ${values.only}; example: --only PodSpec.containers`)
  process.exit(2)
}
if (values.json !== undefined) writeFileSync(values.json, '')
const results: Result[] = []
const memoryMiB = values.memory === undefined ? undefined : Number(values.memory)
let server = await SweptServer.start({ targets, memoryMiB })
/** Time at which the sweep ends. The time to start the server does not count. */
const untilMs = performance.now() + Number(values.seconds ?? 86_400) * 1000
const learned = new Map<SweptField, LearnedField>()
const planned = chosen(plan(shuffled(fields, Number(values.seed))))
const items =
  values.seconds === undefined ? planned : variedFirst(shuffled(planned, Number(values.seed)))
let toldMs = performance.now()
for (const [at, item] of items.entries()) {
  if (performance.now() - toldMs > PROGRESS_MS) {
    toldMs = performance.now()
    console.log(
      `${at} of ${items.length} items, ${results.length} cases, ${results.filter((one) => fails(one)).length} failed`,
    )
  }
  if (performance.now() > untilMs) break
  const field = learned.get(item.field) ?? (await learn(server, item.field))
  learned.set(item.field, field)
  for await (const result of new FieldRun(server, field, fails).run(item)) {
    results.push(result)
    const { measured } = result
    if (fails(result)) console.log(lineOf(result))
    if (values.json !== undefined) appendFileSync(values.json, `${JSON.stringify(result)}\n`)
    if (measured === undefined) {
      console.log(server.log.slice(-1500))
      await server[Symbol.asyncDispose]()
      server = await SweptServer.start({ targets, memoryMiB })
    }
    if (measured === undefined || performance.now() > untilMs) break
  }
}
await server[Symbol.asyncDispose]()
if (values.figures !== undefined)
  writeRun(values.figures, figuresOf(results), {
    program: 'node test/chaos/hostile/sweep.ts',
    option: '--figures',
  })
// Ignore the memory of a server in a cgroup, because the kernel kills a server that exceeds the
// limit.
const verdict = verdictOf(results, fields, server.isConfined ? Infinity : memoryMiB)
console.log(verdict.text)
process.exitCode = verdict.isPassed ? 0 : 1

/** Returns the cases of this shard, without those that --again and --after exclude. */
function chosen(given: readonly PlannedItem[]): readonly PlannedItem[] {
  const [shard = 1, shards = 1] = values.shard.split('/').map(Number)
  const own = new Set(fields.filter((_, at) => at % shards === shard - 1))
  const part = given.filter(({ field }) => own.has(field))
  const failed = values.again === undefined ? undefined : namesIn(values.again, fails)
  const done = values.after === undefined ? undefined : namesIn(values.after, () => true)
  return chooseCases(part, (name) => {
    const text = textOf(name)
    return failed?.has(text) !== false && done?.has(text) !== true
  })
}

/**
 * Reads a file that --json has written. Returns the names of the results that `accepts` accepts.
 */
function namesIn(file: string, accepts: (result: Result) => boolean): ReadonlySet<string> {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const before = lines.map((line): Result => JSON.parse(line))
  return new Set(before.filter(accepts).map(textOf))
}

function shuffled<T>(given: readonly T[], seed: number): T[] {
  const result = [...given]
  let state = seed
  for (let at = result.length - 1; at > 0; at--) {
    // Random number generator (mulberry32).
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    const other = ((mixed ^ (mixed >>> 14)) >>> 0) % (at + 1)
    const [one, two] = [result[at], result[other]]
    if (one === undefined || two === undefined) continue
    result[at] = two
    result[other] = one
  }
  return result
}
