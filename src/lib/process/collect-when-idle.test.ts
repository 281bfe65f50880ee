import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const module = join(import.meta.dirname, 'collect-when-idle.ts')

/**
 * A program that waits in a separate process until garbage has been collected. It then prints the
 * types of `registry` and of `globalThis.gc`; the latter should be undefined. It fails if no
 * garbage is collected within three minutes.
 */
const program = `
import { collectWhenIdle } from ${JSON.stringify(module)}
const gone = Promise.withResolvers()
// The last line uses the registry, so that it is not collected before it reports the collection.
const registry = new FinalizationRegistry(gone.resolve)
registry.register({}, '')
collectWhenIdle()
const tooLate = setTimeout(() => process.exit(1), 180_000)
await gone.promise
clearTimeout(tooLate)
console.log(typeof registry, typeof globalThis.gc)
`

test('the garbage of an idle process is collected, and the function gc is not exposed afterwards', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', program],
    {
      timeout: 240_000,
    },
  )
  assert.equal(stdout, 'object undefined\n')
})
