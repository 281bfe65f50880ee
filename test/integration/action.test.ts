/**
 * Tests the GitHub Action: runs its script as a job does, and checks its definition with actionlint
 * in a workflow that uses it.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { toolPath } from '../support/harness/etcd.ts'
import { installPackage } from '../support/harness/package.ts'
import { npmEnvironment } from '../support/harness/packed.ts'
import { until } from '../support/harness/until.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const dir = mkdtempSync(join(tmpdir(), 'keelson-action-'))
after(() => rmSync(dir, { recursive: true, force: true }))
const RUN_MS_MAX = 300_000

/**
 * Value of the action's input `version`: the path of a folder that contains the package, because no
 * package has been published.
 */
let version: string
before(async () => {
  version = `file:${join(await installPackage(dir), '..', '..')}`
})

/** Runs the script of the action, and returns the lines of the files that GitHub reads. */
async function runAction(name: string, inputs: NodeJS.ProcessEnv): Promise<Map<string, string>> {
  const temporary = join(dir, name)
  mkdirSync(temporary)
  const files = Object.fromEntries(
    ['GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_OUTPUT'].map((file) => [file, join(temporary, file)]),
  )
  await run(process.execPath, [join(root, 'scripts', 'action.ts')], {
    timeout: RUN_MS_MAX,
    env: {
      ...npmEnvironment(temporary, process.env['PATH'] ?? ''),
      RUNNER_TEMP: temporary,
      ...files,
      ...inputs,
    },
  })
  const entries = Object.entries(files).map(([file, path]): [string, string] => [
    file,
    readFileSync(path, 'utf8'),
  ])
  return new Map(entries)
}

const pidOf = (name: string): number =>
  Number(readFileSync(join(dir, name, 'keelson', 'pid'), 'utf8'))

test('the GitHub action installs the requested version of Keelson and starts a server with the selected controllers', async () => {
  const files = await runAction('job', { KEELSON_VERSION: version, KEELSON_CONTROLLERS: 'none' })
  try {
    const output = files.get('GITHUB_OUTPUT') ?? ''
    assert.match(output, /^url=https:\/\/127\.0\.0\.1:\d+$/m)
    const path = /^kubeconfig=(.*)$/m.exec(output)?.[1] ?? ''
    const bin = files.get('GITHUB_PATH')?.trim() ?? ''
    assert.equal(files.get('GITHUB_ENV'), `KUBECONFIG=${path}\nKEELSON=${join(bin, 'keelson')}\n`)

    const kubeconfig = new KubeConfig()
    kubeconfig.loadFromFile(path)
    const core = kubeconfig.makeApiClient(CoreV1Api)
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    // The server runs without controllers, so its ServiceAccount admission plugin is disabled.
    // Otherwise it would reject this Pod, whose ServiceAccount does not exist.
    await core.createNamespacedPod({
      namespace: 'default',
      body: { metadata: { name: 'p' }, spec },
    })
    await run(join(bin, 'keelson'), ['--version'])
  } finally {
    process.kill(pidOf('job'))
  }
  await until(() => {
    try {
      return !process.kill(pidOf('job'), 0)
    } catch {
      return true
    }
  }, 'the server ends')
})

test('the GitHub action fails if the version is wrong or the server does not start', async () => {
  await assert.rejects(runAction('text', { KEELSON_VERSION: '1; ls' }), /1; ls is not a version/)
  await assert.rejects(
    runAction('controllers', { KEELSON_VERSION: version, KEELSON_CONTROLLERS: 'no-such' }),
    /the server did not start:\n.*no-such/,
  )
})

/** Runs actionlint on a workflow that uses the action, and returns what it prints. */
async function lint(name: string, ...inputs: readonly string[]): Promise<string> {
  const checkout = join(dir, name)
  const workflows = join(checkout, '.github', 'workflows')
  mkdirSync(workflows, { recursive: true })
  copyFileSync(join(root, 'action.yml'), join(checkout, 'action.yml'))
  const workflow = [
    'on: push',
    'jobs:',
    '  test:',
    '    runs-on: ubuntu-24.04',
    '    steps:',
    '      - id: keelson',
    '        uses: ./',
    '        with:',
    ...inputs.map((input) => `          ${input}`),
    '      - run: echo "$KUBECONFIG" "$URL"',
    '        env:',
    '          URL: ${{ steps.keelson.outputs.url }}',
    '',
  ]
  writeFileSync(join(workflows, 'use.yml'), workflow.join('\n'))
  await run('git', ['init', '--quiet'], { cwd: checkout })
  const flags = ['-shellcheck=', '-pyflakes=', '-no-color']
  try {
    return (await run(toolPath('actionlint'), flags, { cwd: checkout })).stdout
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
  }
}

test('actionlint accepts the definition of the GitHub action, and reports unknown inputs', async () => {
  assert.equal(await lint('right', 'version: 0.1.0', 'controllers: none'), '')
  assert.match(await lint('wrong', 'colour: red'), /input "colour" is not defined in action/)
})

test('the steps of the GitHub action use inputs only through environment variables', () => {
  const text = readFileSync(join(root, 'action.yml'), 'utf8')
  for (const line of text.split('\n').filter((each) => each.includes('run:')))
    assert.doesNotMatch(line, /\$\{\{/)
})
