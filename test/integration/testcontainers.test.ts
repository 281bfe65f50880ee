/**
 * Compiles the example for Testcontainers against its npm package, and tests the parts that need no
 * container engine.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const dir = mkdtempSync(join(tmpdir(), 'keelson-testcontainers-'))
after(() => rmSync(dir, { recursive: true, force: true }))
const RUN_MS_MAX = 600_000
/** Version of Testcontainers. docs/testing.md names its major version. */
const TESTCONTAINERS = '12.2.0'

/** Installs packages from the registry. If the registry cannot be reached, returns the reason. */
async function install(...packages: readonly string[]): Promise<string | undefined> {
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ type: 'module' }))
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  try {
    await run('npm', ['install', ...flags, ...packages], { cwd: dir, timeout: RUN_MS_MAX })
    return undefined
  } catch (error) {
    if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.test(String(error))) throw error
    return 'the npm registry cannot be reached'
  }
}

const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))

test('the Testcontainers example compiles against the npm package, and can read files of a container', async (t) => {
  const types = `@types/node@${read('package.json').devDependencies['@types/node']}`
  const missing = await install(`testcontainers@${TESTCONTAINERS}`, types)
  if (missing !== undefined) return t.skip(missing)
  cpSync(join(root, 'examples', 'testcontainers'), join(dir, 'example'), { recursive: true })
  symlinkSync(join(root, 'node_modules/@kubernetes'), join(dir, 'node_modules/@kubernetes'))
  const { compilerOptions } = read('tsconfig.json')
  const settings = { compilerOptions, include: ['example'] }
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(settings))
  const tsc = join(root, 'node_modules', '.bin', 'tsc')
  await run(tsc, ['-p', dir], { timeout: RUN_MS_MAX }).catch((error: { stdout: string }) =>
    assert.fail(error.stdout),
  )

  writeFileSync(join(dir, 'kubeconfig'), 'kind: Config\n')
  await run('tar', ['-cf', 'archive', 'kubeconfig'], { cwd: dir })
  const script = `import { readFileSync } from 'node:fs'
    import { fileIn } from './example/keelson-container.ts'
    process.stdout.write(fileIn(readFileSync('archive')))`
  const node = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: dir })
  assert.equal(node.stdout, 'kind: Config\n')
})
