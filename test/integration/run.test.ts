/**
 * Tests `keelson run`: the command gets its own server, and `keelson run` exits with the command's
 * status. No process and no file remains, regardless of how the command or Keelson ends.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { toolPath } from '../support/harness/etcd.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { until } from '../support/harness/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-run-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const TIMEOUT_MS = 300_000

type Run = { readonly code: number | string; readonly out: string; readonly err: string }

/** Returns the environment for a run whose temporary files are in their own folder. */
function environment(name: string): NodeJS.ProcessEnv & { readonly TMPDIR: string } {
  const temporary = join(folder, name)
  mkdirSync(temporary, { recursive: true })
  const { KUBECONFIG: _, ...env } = process.env
  return { ...env, TMPDIR: temporary, KUBECTL: toolPath('kubectl') }
}

function runKeelson(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Run> {
  return new Promise((resolve) => {
    const options = { env: { ...environment(name), ...env }, timeout: TIMEOUT_MS }
    execFile(keelsonProgram, ['run', ...args], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? ''), out, err }),
    )
  })
}

const inShell = (script: string): readonly string[] => ['--', '/bin/sh', '-c', script]

/** Returns the files that a run left behind, except for caches of Node. */
const leftFiles = (name: string): readonly string[] =>
  readdirSync(join(folder, name)).filter((file) => file.startsWith('keelson'))

const createAndList = (name: string): string =>
  `"$KUBECTL" create namespace ${name} >&2; "$KUBECTL" get namespaces -o name`

suite('keelson run starts a server for a command', { concurrency: 2 }, () => {
  test('the command gets a server, and keelson run exits with the status of the command', async () => {
    const script =
      'echo "$USE_EXISTING_CLUSTER $KUBECONFIG $1"; "$KUBECTL" get namespaces -o name; exit 7'
    const { code, out, err } = await runKeelson('status', [...inShell(script), 'sh', '--help'])
    assert.equal(code, 7, err)
    assert.match(out, /^true \/.*\/status\/.*\/kubeconfig --help\n/)
    assert.match(out, /^namespace\/default$/m)
    assert.deepEqual(leftFiles('status'), [])
  })

  test('if a signal ends the command, the exit status contains the number of the signal', async () => {
    assert.equal((await runKeelson('signal', inShell('kill -9 $$'))).code, 137)
  })

  test('keelson run exits with 127 if the command does not exist', async () => {
    const { code, err } = await runKeelson('missing', ['--', 'no-such-command'])
    assert.equal(code, 127)
    assert.match(err, /keelson: command not found: no-such-command\n$/)
    assert.deepEqual(leftFiles('missing'), [])
  })

  test('the command gets variables whose names are not valid in a shell', async () => {
    const odd = { 'my.setting': 'a b', 'BASH_FUNC_f%%': '() { echo hi; }' }
    const { out } = await runKeelson('odd', ['--', 'env'], odd)
    assert.match(out, /^my\.setting=a b$/m)
    assert.match(out, /^BASH_FUNC_f%%=\(\) { echo hi; }$/m)
  })

  test('the values of variables are not on the command line of any program', async () => {
    const programs = join(folder, 'programs')
    mkdirSync(programs)
    const print = `#!/bin/sh\necho "$*" >>${folder}/arguments\nexec /usr/bin/env "$@"\n`
    writeFileSync(join(programs, 'env'), print, { mode: 0o755 })
    const env = { 'INPUT_MY-TOKEN': 'secret', PATH: `${programs}:${process.env['PATH'] ?? ''}` }
    const { out } = await runKeelson('secret', ['--', '/usr/bin/env'], env)
    assert.match(out, /^INPUT_MY-TOKEN=secret$/m)
    assert.equal(existsSync(join(folder, 'arguments')), false)
  })

  test('keelson run exits with 126 if the command is not an executable file', async () => {
    const file = join(folder, 'plain')
    writeFileSync(file, '')
    const { code, err } = await runKeelson('plain-file', ['--', file])
    assert.equal(code, 126)
    assert.match(err, /plain is not an executable file: run chmod \+x\n$/)
  })

  test('keelson run applies manifests before the command starts', async () => {
    const manifests = join(folder, 'manifests')
    mkdirSync(manifests)
    writeFileSync(
      join(manifests, 'shop.yaml'),
      'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n',
    )
    const command = inShell('"$KUBECTL" get namespace shop -o name')
    const { code, out, err } = await runKeelson('apply', [`--apply=${manifests}`, ...command])
    assert.deepEqual([code, out], [0, 'namespace/shop\n'], err)
    const failed = await runKeelson('apply', ['--apply=/no/such/folder', ...command])
    assert.equal(failed.code, 1)
    assert.match(failed.err, /\/no\/such\/folder/)
    assert.deepEqual(leftFiles('apply'), [])
  })

  test('keelson run starts only the selected controllers', async () => {
    const script =
      '"$KUBECTL" create namespace shop >&2; "$KUBECTL" get serviceaccounts -n shop -o name'
    const { code, out } = await runKeelson('controllers', ['--controllers=', ...inShell(script)])
    assert.deepEqual([code, out], [0, ''])
    const wrong = await runKeelson('controllers', ['--controllers=garbage', ...inShell('true')])
    assert.equal(wrong.code, 2)
    assert.match(wrong.err, /did you mean garbage-collector-controller\?/)
  })

  test('keelson run rejects arguments without a command', async () => {
    for (const args of [[], ['--'], ['sh', '-c', 'true']]) {
      const { code, err } = await runKeelson('usage', args)
      assert.equal(code, 2, args.join(' '))
      assert.match(err, /for example: keelson run -- go test/)
    }
  })

  test('if no temporary folder can be created, the error names TMPDIR and its folder', async () => {
    const { code, err } = await runKeelson('none', inShell('true'), { TMPDIR: '/no/such/folder' })
    assert.equal(code, 1)
    assert.match(
      err,
      /^keelson: \/no\/such\/folder cannot be used \(ENOENT: .*\): set TMPDIR to a writable folder\n$/,
    )
  })

  test('two runs at the same time have separate servers', async () => {
    const runs = await Promise.all(
      ['one', 'two'].map((name) => runKeelson(name, inShell(createAndList(name)))),
    )
    const [one, two] = runs.map(({ out }) => out)
    assert.ok(one?.includes('namespace/one\n') === true && !one.includes('namespace/two'), one)
    assert.ok(two?.includes('namespace/two\n') === true && !two.includes('namespace/one'), two)
  })

  for (const [signal, status] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGKILL', null],
  ] as const)
    test(`after ${signal}, keelson run ends the command and removes its folder`, async () => {
      const command = inShell('echo $$ "$KUBECONFIG"; exec sleep 600')
      const child = spawn(keelsonProgram, ['run', ...command], {
        env: environment(signal),
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = once(child, 'exit')
      const [printed]: readonly unknown[] = await once(child.stdout, 'data')
      const [pid = '', kubeconfig = ''] = String(printed).trim().split(' ')
      assert.ok(existsSync(kubeconfig))
      child.kill(signal)
      assert.deepEqual(await exited, status === null ? [null, signal] : [status, null])
      await until(
        () => !isRunning(Number(pid)) && leftFiles(signal).length === 0,
        'the command and its folder are gone',
      )
    })

  const variables = { usual: {}, unusual: { 'INPUT_MY-NAME': 'a' } }
  for (const [about, env] of Object.entries(variables))
    test(`a command with ${about} variables that kills keelson run as soon as it starts is ended, and its folder is removed`, async () => {
      const name = `killer-${about}`
      const command = inShell('echo $$; kill -9 $PPID; exec sleep 600')
      const child = spawn(keelsonProgram, ['run', ...command], {
        env: { ...environment(name), ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [printed]: readonly unknown[] = await once(child.stdout, 'data')
      await until(
        () => !isRunning(Number(printed)) && leftFiles(name).length === 0,
        'the command and its folder are gone',
      )
    })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
