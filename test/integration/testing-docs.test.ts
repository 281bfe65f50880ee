/** Tests that every TypeScript block in docs/testing.md is a test file that passes. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
/** Maximum duration of all blocks, which run sequentially, on a busy machine. */
const RUN_MS_MAX = 900_000

test('the examples of docs/testing.md pass', async () => {
  const text = readFileSync(join(root, 'docs', 'testing.md'), 'utf8')
  const blocks = [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = '']) => code)
  assert.ok(blocks.length >= 4)
  // The folder is inside the repository, so that imported packages are found.
  const folder = mkdtempSync(join(root, 'test', '.docs-'))
  try {
    const entry = join(root, 'src', 'entry', 'testing', 'index.ts')
    const files = blocks.map((code, at) => {
      const file = join(folder, `${at}.test.ts`)
      writeFileSync(file, code.replaceAll("'keelson/testing'", `'${entry}'`))
      return file
    })
    // Remove this variable. With it, the nested test run would report its results to the outer one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    await run(process.execPath, ['--test', '--test-concurrency=1', ...files], {
      env,
      timeout: RUN_MS_MAX,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
