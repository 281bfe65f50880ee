/**
 * Runs the examples of test runners in examples/testing with the built package. Runners other than
 * Node's own are installed from the npm registry.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { installPackage } from '../support/harness/package.ts'

const run = promisify(execFile)
const examples = join(import.meta.dirname, '..', '..', 'examples', 'testing')
/** Maximum duration of an installation or a run, on a busy machine. */
const COMMAND_MS_MAX = 600_000
/** Matches npm's errors if the registry cannot be reached. */
const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ENOTCACHED/

let folder: string
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-runners-'))
  await installPackage(folder)
})
after(() => rmSync(folder, { recursive: true, force: true }))

const runners = readdirSync(examples, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

test('there is an example for each runner that docs/testing.md names', () => {
  assert.deepEqual(runners.toSorted(), ['jest', 'mocha', 'node-test', 'vitest'])
})

for (const runner of runners) {
  test(`the example for ${runner} passes`, async (t) => {
    const copy = join(folder, runner)
    cpSync(join(examples, runner), copy, { recursive: true })
    if (!(await installs(copy, t))) return
    mkdirSync(join(copy, 'node_modules'), { recursive: true })
    cpSync(join(folder, 'keelson'), join(copy, 'node_modules', 'keelson'), { recursive: true })
    const { stdout, stderr } = await npm(copy, 'test')
    // Each runner reports the tests in its own way, but all of them print the names.
    assert.match(stdout + stderr, /a page can be changed/)
  })
}

test('docs/testing.md shows how to run each example', () => {
  const page = readFileSync(join(examples, '..', '..', 'docs', 'testing.md'), 'utf8')
  for (const runner of runners)
    assert.ok(page.includes(`(../examples/testing/${runner}/shop.test.js)`))
})

/** Installs the packages of an example. Skips the test if the registry cannot be reached. */
async function installs(copy: string, t: TestContext): Promise<boolean> {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
  try {
    await npm(copy, 'install', '--prefer-offline', ...flags)
    return true
  } catch (error) {
    if (!offline.test(String(error))) throw error
    t.skip('the npm registry cannot be reached')
    return false
  }
}

function npm(cwd: string, ...args: readonly string[]) {
  // Remove this variable. With it, the nested test run would report its results to the outer one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const path = [dirname(process.execPath), env['PATH'] ?? ''].join(delimiter)
  return run('npm', args, { cwd, env: { ...env, PATH: path }, timeout: COMMAND_MS_MAX })
}
