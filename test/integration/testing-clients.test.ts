/**
 * Runs the cases of test/clients/testing/cases.json in each language that has a library. If a
 * library lacks a case, its test fails. Also runs the tests that only one library has.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { type Cluster, startCluster } from '../../src/entry/testing/index.ts'
import { type Case, runCase } from '../clients/testing/run-case.ts'
import { goBuildVariables } from '../support/harness/go-build.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'test', 'clients', 'testing')
const cases: readonly Case[] = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'))
const names = cases.map(({ name }) => name)
/** Maximum duration of the tests of a language. Go compiles its library first. */
const LANGUAGE_MS_MAX = 600_000
const limits = { timeout: LANGUAGE_MS_MAX, maxBuffer: 64 << 20 }
const env = {
  ...process.env,
  KEELSON: keelsonProgram,
  PYTHONDONTWRITEBYTECODE: '1',
  ...goBuildVariables,
}

/** Returns the reason to skip tests if a program is not installed. */
const lacks = async (program: string, ...args: readonly string[]): Promise<string | false> =>
  run(program, args).then(
    () => false,
    () => `${program} is not installed`,
  )

const go = async (cwd: string, ...args: readonly string[]): Promise<string> =>
  (await run('go', args, { ...limits, cwd, env })).stdout

test('all test cases for the client libraries have different names', () => {
  assert.equal(new Set(names).size, names.length)
})

suite('the TypeScript library passes the cases for client libraries', () => {
  let shared: Cluster
  before(async () => {
    shared = await startCluster()
  })
  after(() => shared.stop())
  for (const one of cases) test(one.name, () => runCase(one, shared))
})

suite('the Go library of keelson/testing works', { skip: await lacks('go', 'version') }, () => {
  const library = join(root, 'clients', 'go')

  test('the Go library passes the cases for client libraries', async () => {
    const output = await go(join(folder, 'go'), 'test', '-count=1', '-json', './...')
    const passed = output
      .split('\n')
      .filter((line) => line.includes('"Action":"pass"'))
      .map((line): { Test?: string } => JSON.parse(line))
      .flatMap(({ Test = '' }) => /^TestCases\/(.*)$/.exec(Test)?.[1] ?? [])
    // Go replaces the spaces in the names of test cases by underscores.
    assert.deepEqual(
      passed,
      names.map((name) => name.replaceAll(' ', '_')),
    )
  })

  test('the examples and the tests of the Go library pass', async () => {
    assert.match(await go(library, 'test', '-count=1', './...'), /^ok/m)
  })

  test('the Go library is formatted and has no dependencies', async () => {
    for (const each of [library, join(folder, 'go')]) {
      assert.equal((await run('gofmt', ['-l', '.'], { cwd: each })).stdout, '')
      await go(each, 'vet', './...')
    }
    assert.doesNotMatch(readFileSync(join(library, 'go.mod'), 'utf8'), /require/)
  })
})

suite('the Python library of keelson/testing works', {
  skip: await lacks('python3', '--version'),
}, () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-python-'))
  after(() => rmSync(dir, { recursive: true, force: true }))
  /**
   * The reason to skip the tests, if the wheel could not be built because the machine has no
   * network.
   */
  let missing: string | undefined
  const python = (...args: readonly string[]): ReturnType<typeof run> =>
    run(join(dir, 'venv', 'bin', 'python'), args, {
      ...limits,
      cwd: join(folder, 'python'),
      env,
    })

  before(async () => {
    // Copy the sources, because the build writes into their folder.
    cpSync(join(root, 'clients', 'python'), join(dir, 'source'), { recursive: true })
    await run('python3', ['-m', 'venv', join(dir, 'venv')], limits)
    try {
      const pip = ['-m', 'pip', '--disable-pip-version-check', '--quiet']
      await python(...pip, 'wheel', '--no-deps', '--wheel-dir', dir, join(dir, 'source'))
      await python(...pip, 'install', 'pytest', 'mypy')
      await python(...pip, 'install', '--no-deps', '--no-index', join(dir, wheelIn(dir)))
    } catch (error) {
      if (!/NewConnectionError|NameResolutionError|ConnectTimeout/.test(String(error))) throw error
      missing = 'PyPI cannot be reached, and it has the programs that build the wheel'
    }
  })
  const pythonTest = (name: string, body: (t: TestContext) => Promise<void>): void => {
    test(name, (t) => (missing === undefined ? body(t) : t.skip(missing)))
  }

  pythonTest('the installed Python library passes the cases', async () => {
    const { stdout } = await python('test_cases.py')
    assert.deepEqual(String(stdout).trim().split('\n').toSorted(), names.toSorted())
  })

  pythonTest('the tests of the Python library pass', async () => {
    const { stderr } = await python('test_process.py')
    assert.match(String(stderr), /^OK$/m)
    const { stdout } = await python(
      '-m',
      'pytest',
      '-q',
      '-p',
      'no:cacheprovider',
      'test_fixtures.py',
    )
    assert.match(String(stdout), /^3 passed/m)
  })

  pythonTest('the types of the Python library are complete', async () => {
    const target = ['--strict', '--cache-dir', join(dir, 'mypy'), '-p', 'keelson_testing']
    assert.match(String((await python('-m', 'mypy', ...target)).stdout), /^Success/)
  })

  pythonTest('the wheel contains only the library', async () => {
    const list = 'import sys, zipfile; print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))'
    const { stdout } = await python('-c', list, join(dir, wheelIn(dir)))
    const files = String(stdout).trim().split('\n')
    assert.ok(files.includes('keelson_testing/py.typed'))
    const others = files.filter(
      (file) => !/^keelson_testing(?:-[\d.]+\.dist-info)?\/[\w.]+$/.test(file),
    )
    assert.deepEqual(others, [])
  })
})

/** Returns the name of the only wheel in a folder. */
function wheelIn(dir: string): string {
  const [name = '', ...others] = readdirSync(dir).filter((file) => file.endsWith('.whl'))
  assert.deepEqual(others, [])
  return name
}
