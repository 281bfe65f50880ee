/**
 * Tests bin/keelson as a program: it can be started through links, reports errors clearly, and
 * stops on a signal.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startEtcd } from '../support/harness/etcd.ts'
import { startApiServer } from '../support/harness/api-server.ts'
import { keelsonProgram, startKeelson } from '../support/harness/keelson.ts'

const program = join(import.meta.dirname, '..', '..', 'bin', 'keelson')
let dir: string

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-program-'))
})
after(() => rm(dir, { recursive: true, force: true }))

type Run = { readonly code: number; readonly out: string; readonly err: string }

function run(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Run> {
  return new Promise((resolve) => {
    const done = (error: (Error & { code?: unknown }) | null, out: string, err: string): void =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err })
    const child: ChildProcess = execFile(path, args, { timeout: 120_000, env }, done)
    child.stdin?.end()
  })
}

test('the program can be started through a chain of links', async () => {
  await symlink(program, join(dir, 'one'))
  await symlink('one', join(dir, 'two'))
  const { code, out } = await run(join(dir, 'two'), ['--version'])
  assert.deepEqual(
    [code, /^Keelson \d+\.\d+\.\d+, for Kubernetes v1\.33\.\d+\n$/.test(out)],
    [0, true],
  )
})

test('the short flags print the same versions as --version', async () => {
  const { out } = await run(program, ['--version'])
  for (const args of [['-v'], ['-V'], ['serve', '--version']])
    assert.deepEqual([args, (await run(program, args)).out], [args, out])
})

test('without Node on the PATH, the program uses the Node in its package', async () => {
  const { code, out } = await run(program, ['--help'], { PATH: '/usr/bin:/bin' })
  assert.equal(code, 0)
  assert.match(out, /^Usage: keelson <command>/)
})

test('serve --help lists the flags', async () => {
  const { out } = await run(program, ['serve', '--help'])
  assert.match(out, /^Etcd:\n {2}--etcd-servers=list\n {8}URLs of the etcd servers/m)
  assert.equal((await run(program, ['serve', '--help=true'])).out, out)
})

test('keelson version prints the versions and the commit', async () => {
  const { out } = await run(program, ['version', '--output=json'])
  const versions: Record<string, string> = JSON.parse(out)
  const head = await run('git', ['-C', join(program, '..'), 'rev-parse', 'HEAD'])
  assert.match(versions['keelson'] ?? '', /^\d+\.\d+\.\d+/)
  assert.match(versions['kubernetes'] ?? '', /^v1\.33\.\d+$/)
  assert.match(versions['node'] ?? '', /^v\d+\./)
  assert.equal(versions['commit'], head.out.trim())
  const text = (await run(program, ['version'])).out
  for (const value of Object.values(versions)) assert.ok(text.includes(value), text)
  const withoutGit = await run(process.execPath, [program, 'version'], { PATH: '' })
  assert.match(withoutGit.out, /^Commit +unknown$/m)
})

test('keelson help prints the same text as --help', async () => {
  for (const command of [['dev'], ['auth', 'why']]) {
    const { code, out } = await run(program, ['help', ...command])
    assert.equal(code, 0)
    assert.equal(out, (await run(program, [...command, '--help'])).out)
    assert.ok(out.startsWith(`Usage: keelson ${command.join(' ')}`), out)
  }
  assert.equal((await run(program, ['help'])).out, (await run(program, ['--help'])).out)
})

for (const [args, hint] of [
  ['sttus', 'did you mean keelson status?'],
  ['store exprt --file=x', 'did you mean keelson store export?'],
  ['atuh why', 'did you mean keelson auth why?'],
  ['auth', 'keelson auth needs one of its commands: keelson auth why'],
  ['help sttus', 'did you mean keelson status?'],
  ['dev help', 'keelson dev --help lists the flags'],
] as const)
  test(`the advice for keelson ${args} is ${hint}`, async () => {
    const { code, err } = await run(program, args.split(' '))
    assert.equal(code, 2)
    assert.ok(err.trimEnd().endsWith(hint), err)
    assert.doesNotMatch(err, /keelson serve/)
  })

test('invalid arguments are reported together, with advice', async () => {
  const { code, out, err } = await run(program, ['serve', '--no-such-flag', '--secure-port=0'])
  assert.deepEqual([code, out], [2, ''])
  // First come all errors, in the words of kube-apiserver. Advice follows.
  assert.match(
    err,
    /^keelson: unknown flag: --no-such-flag\nkeelson: --etcd-servers must be specified\n/,
  )
  assert.match(err, /\nkeelson: keelson serve --help lists the flags\n/)
  assert.match(
    (await run(program, ['sreve'])).err,
    /unknown command "sreve": keelson --help lists the commands/,
  )
})

test('the error message names an etcd that does not respond', async () => {
  const args = [
    'serve',
    '--etcd-servers=http://127.0.0.1:1',
    `--cert-dir=${dir}`,
    '--secure-port=1',
  ]
  const { code, err } = await run(program, args)
  assert.equal(code, 1)
  assert.match(
    err,
    /keelson: etcd at http:\/\/127.0.0.1:1 does not respond \(.*\): start it, or correct --etcd-servers\n$/,
  )
})

test('a port in use is named in the error; SIGUSR1 opens no debugger, and SIGTERM stops the server', async () => {
  await using etcd = await startEtcd()
  await using server = await startKeelson({ etcdUrl: etcd.clientUrl })
  process.kill(server.pid, 'SIGUSR1')
  const { port } = new URL(server.url)
  const flags = [
    `--etcd-servers=${etcd.clientUrl}`,
    `--cert-dir=${dir}`,
    '--bind-address=127.0.0.1',
  ]
  const second = await run(program, ['serve', ...flags, `--secure-port=${port}`])
  assert.equal(second.code, 1)
  assert.match(second.err, /cannot listen \(.*EADDRINUSE.*\): choose another --secure-port/)
  await server.ready()
  assert.doesNotMatch(server.log, /Debugger/)
  process.kill(server.pid, 'SIGTERM')
  while (!server.log.includes('"stopping"')) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.ok(!/"level":"(warn|error)"/.test(server.log), server.log)
})

for (const format of ['json', 'text'])
  test(`the server continues if the disk for its ${format} log is full`, async () => {
    await using etcd = await startEtcd()
    const command = [
      '/bin/sh',
      '-c',
      'exec "$0" "$@" 2>/dev/full',
      keelsonProgram,
      'serve',
    ] as const
    const args = [`--logging-format=${format}`, '-v=2']
    await using server = await startApiServer(command, { etcdUrl: etcd.clientUrl, args })
    await server.ready()
  })
