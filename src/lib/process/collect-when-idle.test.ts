import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const module = join(import.meta.dirname, 'collect-when-idle.ts')

/**
 * Runs in a separate process that does nothing else. After a garbage collection, prints the types
 * of the registry and of `gc`. Fails if there is no garbage collection for a while.
 */
const program = `
import { collectWhenIdle } from ${JSON.stringify(module)}
const gone = Promise.withResolvers()
// Used below, so that the registry itself is not garbage.
const registry = new FinalizationRegistry(gone.resolve)
registry.register({}, '')
collectWhenIdle()
const tooLate = setTimeout(() => process.exit(1), 180_000)
await gone.promise
clearTimeout(tooLate)
console.log(typeof registry, typeof globalThis.gc)
`

test('the garbage of an idle process is collected, and gc is not exposed afterwards', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', program],
    {
      timeout: 240_000,
    },
  )
  assert.equal(stdout, 'object undefined\n')
})
