/**
 * Tests deploy/keelson.service: systemd accepts every line and rates the unit as well sandboxed.
 * After the commands of docs/operate.md have installed it, a server starts with its command.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { isFlagName } from '../../src/config/flags.ts'
import { readUnitCommand } from '../../src/entry/doctor/unit-file.ts'
import { type Certificate, createAuthority, issue } from '../../src/lib/x509/certificates.ts'
import { freePorts } from '../support/harness/etcd.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { bashBlock } from '../support/harness/markdown-commands.ts'
import { until } from '../support/harness/until.ts'
import { findOnPath } from '../support/harness/packed.ts'

/**
 * Maximum exposure level of the unit, multiplied by ten. systemd rates the exposure of a unit from
 * 0 to 10. Less than 1.3 is not possible, because the server needs the network, sockets and V8's
 * compiler.
 */
const EXPOSURE_MAX = 15
const COMMAND_MS_MAX = 60_000
const run = promisify(execFile)
/** Maximum time until the server is ready on a busy machine. */
const READY_MS_MAX = 300_000
const root = join(import.meta.dirname, '..', '..')
const unit = readFileSync(join(root, 'deploy', 'keelson.service'), 'utf8')

test('keelson serve knows all flags of the systemd unit', () => {
  const flags = [...(/^ExecStart=\S+ serve (.*)$/m.exec(unit)?.[1]?.matchAll(/--([^= ]+)/g) ?? [])]
  assert.ok(flags.length > 0)
  for (const [, name = ''] of flags) assert.ok(isFlagName(name), name)
})

test('systemd accepts the unit file', {
  skip: findOnPath('systemd-analyze') === undefined,
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-unit-'))
  try {
    const file = join(dir, 'keelson.service')
    // Replace the program by an existing one, because systemd checks that it exists.
    writeFileSync(file, unit.replace('/usr/local/bin/keelson', process.execPath))
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', file], {
      timeout: COMMAND_MS_MAX,
    })
    assert.equal(stderr, '')
    // systemd-analyze fails if the exposure level is above the threshold.
    await run(
      'systemd-analyze',
      ['security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, file],
      {
        timeout: COMMAND_MS_MAX,
      },
    )
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

test('the commands of docs/operate.md install all files that the systemd unit needs', {
  skip: findOnPath('openssl') === undefined && 'install openssl',
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-service-'))
  try {
    const authority = createAuthority('clients', Date.now())
    await install(dir, authority.certificatePem)
    assert.equal(readFileSync(join(dir, 'systemctl-args'), 'utf8'), 'enable --now keelson\n')
    const installed = readFileSync(join(dir, 'etc/systemd/system/keelson.service'), 'utf8')
    assert.equal(installed, unit)
    const placed = installed
      .replaceAll('%d/', '/etc/keelson/')
      .replaceAll(/\/(?=etc\/keelson|usr\/local|var\/lib)/g, `${dir}/`)
    const [program = '', ...args] = readUnitCommand(placed, () => undefined)
    const admin = issue(authority, {
      commonName: 'admin',
      organizations: ['system:masters'],
      usage: 'client',
      hosts: [],
      nowMs: Date.now(),
    })
    await serve(program, args, admin)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

/** Runs the commands of docs/operate.md with this folder as the root of the file system. */
async function install(dir: string, authority: string): Promise<void> {
  const page = readFileSync(join(root, 'docs', 'operate.md'), 'utf8')
  const commands = bashBlock(page, 'systemctl enable --now keelson\n')
  writeFileSync(join(dir, 'ca.crt'), authority)
  // Create the file that the commands install as the program. A copy of the checkout's program
  // would not find its other files.
  writeFileSync(join(dir, 'keelson'), `#!/bin/sh\nexec ${keelsonProgram} "$@"\n`)
  symlinkSync(join(root, 'deploy'), join(dir, 'deploy'))
  mkdirSync(join(dir, 'bin'))
  const systemctl = `#!/bin/sh\necho "$@" >${join(dir, 'systemctl-args')}\n`
  writeFileSync(join(dir, 'bin', 'systemctl'), systemctl, { mode: 0o755 })
  const placed = commands.replaceAll(/ \/(?=usr|etc)/g, ` ${dir}/`)
  const env = { ...process.env, PATH: `${join(dir, 'bin')}:${process.env['PATH']}` }
  await run('sh', ['-euc', placed], { cwd: dir, env, timeout: COMMAND_MS_MAX })
}

/** Starts the server, and checks that it accepts an administrator of the client CA. */
async function serve(program: string, args: readonly string[], admin: Certificate): Promise<void> {
  const [port = 0] = await freePorts(1)
  const all = [...args, '--bind-address=127.0.0.1', `--secure-port=${port}`]
  const child = spawn(program, all, { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  try {
    const isAccepted = async (): Promise<boolean> => {
      assert.equal(child.exitCode, null, log)
      return (await statusOfSecrets(port, admin)) === 200
    }
    await until(isAccepted, 'the administrator can list Secrets', READY_MS_MAX)
  } finally {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
}

/** Returns the status of a request that only an administrator may send, or 0 without a response. */
function statusOfSecrets(port: number, { certificatePem, keyPem }: Certificate): Promise<number> {
  return new Promise((resolve) => {
    const identity = { cert: certificatePem, key: keyPem, rejectUnauthorized: false, agent: false }
    request({ host: '127.0.0.1', port, path: '/api/v1/secrets', ...identity }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('error', () => resolve(0))
      .end()
  })
}
