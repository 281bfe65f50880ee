/**
 * Checks the exit codes of all commands, because scripts depend on them: 0 for success and for a
 * graceful stop, 1 for a failure, 2 for invalid arguments.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { createCacheHome, keelsonProgram } from '../support/harness/keelson.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-exit-codes-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const other = join(folder, 'other')
mkdirSync(other)
writeFileSync(join(other, 'notes.txt'), 'a file that Keelson did not create')
const missing = join(folder, 'missing')
/** Uses separate folders instead of the files of the user who runs the test. */
const env = {
  ...process.env,
  HOME: folder,
  XDG_CACHE_HOME: createCacheHome(join(folder, 'cache')),
  KUBECONFIG: '',
}
const TIMEOUT_MS = 120_000

/** Runs a command to its end and returns its exit code. */
function exitCodeOf(args: readonly string[]): Promise<number | string> {
  return new Promise((resolve) => {
    const child = execFile(
      keelsonProgram,
      args,
      { env, cwd: folder, timeout: TIMEOUT_MS },
      (error) => resolve(error === null ? 0 : (error.code ?? error.signal ?? '')),
    )
    child.stdin?.end()
  })
}

const cases: readonly (readonly [code: number, args: string])[] = [
  [0, ''],
  [0, '--help'],
  [0, '--version'],
  ...['serve', 'dev', 'status', 'stop', 'assets', 'store', 'auth why', 'check-crd', 'doctor'].map(
    (command) => [0, `${command} --help`] as const,
  ),
  [0, 'help'],
  [0, 'version'],
  [2, 'version --no-such-flag'],
  [0, 'run -- true'],
  [1, 'run -- false'],
  [2, 'run true'],
  [127, 'run -- no-such-command'],
  [0, 'help auth why'],
  [2, 'help no-such-command'],
  [0, 'serve --version'],
  [0, 'status'],
  [0, 'stop --all'],
  [2, 'no-such-command'],
  [2, 'serve --no-such-flag'],
  [2, 'serve'],
  [2, 'serve --store=memory --secure-port=none'],
  [2, 'serve --store=memory --encryption-provider-config=/no/such/file'],
  [2, 'dev --no-such-flag'],
  [2, 'dev --ephemeral --etcd=etcd'],
  [2, 'status --no-such-flag'],
  [2, 'stop --all --data-dir=x'],
  [2, 'assets --no-such-flag'],
  [2, 'store'],
  [2, 'store export'],
  [2, 'auth'],
  [2, 'auth why'],
  [2, 'doctor --no-such-flag'],
  // `serve --testing` reports an invalid flag like any other failed start, with 1 instead of 2.
  [1, 'serve --testing --no-such-flag'],
  [1, 'serve --etcd-servers=http://127.0.0.1:1'],
  [1, `dev --data-dir=${other}`],
  [1, `stop --data-dir=${missing}`],
  [1, `assets --dir=${join(other, 'notes.txt')}`],
  [1, `store export --data-dir=${missing} --file=${join(folder, 'export')}`],
  [1, 'doctor --etcd-servers=http://127.0.0.1:1'],
  [1, 'auth why --as alice get pods'],
  [1, 'auth why --as alice get pods --server=https://127.0.0.1:1 --token=x'],
]

suite('commands that end without a signal exit with a documented code', { concurrency: 2 }, () => {
  for (const [code, args] of cases)
    test(`${`keelson ${args.replaceAll(folder, '…')}`.trim()} exits with ${code}`, async () => {
      assert.equal(await exitCodeOf(args.split(' ').filter((one) => one !== '')), code)
    })
})

test('a server that cannot listen exits with 1', async () => {
  await using taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const address = taken.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const flags = ['--store=memory', '--bind-address=127.0.0.1', `--cert-dir=${join(folder, 'pki')}`]
  assert.equal(await exitCodeOf(['serve', ...flags, `--secure-port=${port}`]), 1)
})

test('a server that is stopped exits with 0, and the commands that query and stop it succeed', async () => {
  const dataDir = join(folder, 'dev')
  const args = ['dev', '--ephemeral', `--data-dir=${dataDir}`, '--secure-port=0']
  const server = spawn(keelsonProgram, args, {
    env,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(server, 'exit')
  try {
    await once(server.stdout, 'data')
    const why = ['auth', 'why', `--kubeconfig=${join(dataDir, 'kubeconfig')}`]
    const alice = [...why, '--as', 'alice']
    assert.equal(await exitCodeOf([...alice, 'get', 'pods']), 1, 'a denied user')
    assert.equal(await exitCodeOf([...alice, '--as-group', 'system:masters', 'get', 'pods']), 0)
    assert.equal(await exitCodeOf(['status', '--output=json']), 0)
    assert.equal(await exitCodeOf(['dev', `--data-dir=${dataDir}`]), 1, 'a folder in use')
    assert.equal(await exitCodeOf(['stop', `--data-dir=${dataDir}`]), 0)
    assert.deepEqual(await ended, [0, null])
  } finally {
    server.kill('SIGKILL')
  }
})
