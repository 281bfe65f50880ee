import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Prints metrics before and when no further file can be opened. */
const program = `
  import { openSync } from 'node:fs'
  import { systemClock } from ${JSON.stringify(import.meta.resolve('./clock.ts'))}
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

test('metrics are told while no file can be opened', { skip: process.platform !== 'linux' }, async () => {
  const args = ['-c', 'ulimit -n 128 && exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', program]
  const { stdout } = await run('sh', args)
  const { code, before, after } = JSON.parse(stdout)
  assert.equal(code, 'EMFILE')
  for (const printed of [before, after]) {
    assert.match(printed, /^process_resident_memory_bytes [1-9]/m)
    assert.match(printed, /^process_max_fds 128$/m)
  }
})
