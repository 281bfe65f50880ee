import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * A program that opens files until its limit is reached. It prints the metrics before and after
 * that.
 */
const program = `
  import { openSync } from 'node:fs'
  import { systemClock } from ${JSON.stringify(import.meta.resolve('../time/clock.ts'))}
  import { Metrics } from ${JSON.stringify(import.meta.resolve('./metrics.ts'))}
  import { addProcessMetrics } from ${JSON.stringify(import.meta.resolve('./process-metrics.ts'))}
  const metrics = new Metrics()
  addProcessMetrics(metrics, systemClock, { isShared: true })
  const before = metrics.print()
  let code
  while (code === undefined) {
    try {
      openSync('/dev/null')
    } catch (error) {
      code = error.code
    }
  }
  const after = metrics.print()
  process.stdout.write(JSON.stringify({ code, before, after }))
`

test('metrics are printed even if the process cannot open any more files', {
  skip: process.platform !== 'linux',
}, async () => {
  const args = [
    '-c',
    'ulimit -n 128 && exec "$@"',
    'sh',
    process.execPath,
    '--input-type=module',
    '--eval',
    program,
  ]
  const { stdout } = await run('sh', args)
  const { code, before, after } = JSON.parse(stdout)
  assert.equal(code, 'EMFILE')
  for (const printed of [before, after]) {
    assert.match(printed, /^process_resident_memory_bytes [1-9]/m)
    assert.match(printed, /^process_max_fds 128$/m)
  }
})

/**
 * A program that blocks the event loop for 150 ms of CPU time, and then prints the log and the
 * metrics. It records the work that blocks the event loop.
 */
const blocking = `
  import { systemClock } from ${JSON.stringify(import.meta.resolve('../time/clock.ts'))}
  import { Metrics } from ${JSON.stringify(import.meta.resolve('./metrics.ts'))}
  import { addProcessMetrics } from ${JSON.stringify(import.meta.resolve('./process-metrics.ts'))}
  import { runningWork } from ${JSON.stringify(import.meta.resolve('../scheduling/running-work.ts'))}
  import { turnEnd } from ${JSON.stringify(import.meta.resolve('../time/turn-end.ts'))}
  const metrics = new Metrics()
  const lines = []
  addProcessMetrics(metrics, systemClock, { log: (level, message, fields) => lines.push({ message, ...fields }) })
  const busy = () => {
    runningWork.note({ step: 'validate', bytes: 3, describe: () => ({ verb: 'create' }) })
    const before = process.threadCpuUsage().user
    while (process.threadCpuUsage().user - before < 150_000);
    turnEnd.defer(() => undefined)
  }
  turnEnd.defer(() => setTimeout(busy, 50))
  const look = setInterval(() => {
    if (lines.length === 0) return
    clearInterval(look)
    process.stdout.write(JSON.stringify({ lines, printed: metrics.print() }))
  }, 10)
`

test('a long tick of the event loop is counted, and logged with the work that caused it', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', blocking])
  const { lines, printed } = JSON.parse(stdout)
  const [{ message, step, verb, cpuMs }] = lines
  assert.deepEqual(
    { message, step, verb },
    { message: 'event loop blocked', step: 'validate', verb: 'create' },
  )
  assert.ok(cpuMs >= 150, `${cpuMs} ms`)
  assert.match(printed, /^keelson_event_loop_tick_seconds_bucket{le="\+Inf"} [2-9]/m)
})
