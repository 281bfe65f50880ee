/**
 * Tests the output of `keelson dev` on a terminal. test/integration/dev.test.ts tests its output to
 * pipes.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { promisify, stripVTControlCharacters } from 'node:util'
import { freePorts, toolPath } from '../support/harness/etcd.ts'
import { createCacheHome, keelsonProgram } from '../support/harness/keelson.ts'
import { findOnPath } from '../support/harness/packed.ts'
import { PseudoTerminal, visibleText } from '../support/harness/pseudo-terminal.ts'
import { PATIENCE_MS } from '../support/harness/until.ts'

const run = promisify(execFile)
const CTRL_C = '\u0003'
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-terminal-')))
after(() => rmSync(dir, { recursive: true, force: true }))

type DevTerminalOptions = { readonly name: string; readonly env?: NodeJS.ProcessEnv }

/** `keelson dev` on a terminal, with its own data folder. */
class DevTerminal extends PseudoTerminal {
  readonly folder: string

  constructor(flags: readonly string[], { name, env = {} }: DevTerminalOptions) {
    const folder = join(dir, name)
    // Pass only these environment variables. Others, such as CI, can change whether Node uses
    // colors.
    const own = {
      PATH: process.env['PATH'],
      HOME: dir,
      XDG_CACHE_HOME: createCacheHome(join(dir, 'cache')),
      TERM: 'xterm-256color',
    }
    super([keelsonProgram, 'dev', `--data-dir=${folder}`, ...flags], { env: { ...own, ...env } })
    this.folder = folder
  }

  /**
   * The text on the terminal without log lines. Slow requests are logged, and requests are slow on
   * a busy machine.
   */
  get shown(): string {
    return visibleText(this.output).replaceAll(/^\d\d:\d\d:\d\d\.\d{3} .*\n/gm, '')
  }

  async ready(): Promise<void> {
    await this.waitFor('kubectl get ns')
  }
}

async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}

function skipsWithoutPython(t: TestContext): boolean {
  if (findOnPath('python3') !== undefined) return false
  t.skip('needs python3')
  return true
}

const ESCAPE = '\u001b'

test('on a terminal, keelson dev describes its server, and Ctrl-C prints one line', async (t) => {
  if (skipsWithoutPython(t)) return
  const port = await freePort()
  await using dev = new DevTerminal([`--secure-port=${port}`], { name: 'described' })
  await dev.ready()
  dev.type(CTRL_C)
  assert.equal(await dev.ended(), 0, dev.output)
  const { folder } = dev
  const expected = `
  Keelson VERSION for Kubernetes v1.33.5, ready after N ms

  Address      https://127.0.0.1:${port}
  Kubeconfig   ${folder}/kubeconfig
  Data         ${folder}
  Controllers  all N, among them garbage-collector, namespace, resourcequota
  Stop         Ctrl-C; the next start uses the same data

  In another terminal, run:

  export KUBECONFIG=${folder}/kubeconfig
  kubectl get ns

keelson: stopped; the objects are kept in ${folder}
`
  const shown = stripVTControlCharacters(dev.shown)
    .replace(/Keelson \d\S+/, 'Keelson VERSION')
    .replace(/after \d+ ms/, 'after N ms')
    .replace(/all \d+,/, 'all N,')
  assert.equal(shown, expected)
  assert.ok(dev.shown.includes(`${ESCAPE}[36mhttps://127.0.0.1:${port}`))
})

test('with NO_COLOR, the output of keelson dev has no colors, and -v prints a line for each request', async (t) => {
  if (skipsWithoutPython(t)) return
  const flags = ['--ephemeral', '--secure-port=0', '-v']
  await using dev = new DevTerminal(flags, { name: 'plain', env: { NO_COLOR: '1' } })
  await dev.ready()
  const kubeconfig = join(dev.folder, 'kubeconfig')
  const get = ['--kubeconfig', kubeconfig, 'get', '--raw', '/api/v1/namespaces/default']
  await run(toolPath('kubectl'), get, { timeout: PATIENCE_MS })
  await dev.waitFor('/api/v1/namespaces/default')
  dev.type(CTRL_C)
  assert.equal(await dev.ended(), 0, dev.output)
  assert.match(
    visibleText(dev.output),
    /^[\d:.]+ GET {4}200 +\d+ ms {2}\/api\/v1\/namespaces\/default +admin\n/m,
  )
  assert.match(dev.shown, /kubectl get ns\n\nkeelson: stopped; all objects are deleted\n$/)
  assert.ok(!dev.shown.includes(ESCAPE))
})

test('a terminal that does not support escape sequences receives none, and keelson dev explains a changed port', async (t) => {
  if (skipsWithoutPython(t)) return
  const port = await freePort()
  const options = { name: 'dumb', env: { TERM: 'dumb' } }
  {
    await using dev = new DevTerminal(['--ephemeral', `--secure-port=${port}`], options)
    await dev.ready()
    dev.type(CTRL_C)
    assert.equal(await dev.ended(), 0, dev.output)
    assert.ok(!dev.output.includes(ESCAPE), dev.output)
  }
  const other = createServer().listen(port, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  await using dev = new DevTerminal(['--ephemeral'], options)
  await dev.ready()
  const line = new RegExp(
    `^ {2}Address {6}https://127\\.0\\.0\\.1:\\d+ \\(port ${port} is not free\\)$`,
    'm',
  )
  assert.match(dev.shown, line)
})

test('a second Ctrl-C stops the program immediately, even if the server has not started, and prints one line', async (t) => {
  if (skipsWithoutPython(t)) return
  // An etcd that never responds.
  const etcd = createServer().listen(0, '127.0.0.1')
  t.after(() => etcd.close())
  await once(etcd, 'listening')
  const address = etcd.address()
  assert.ok(typeof address === 'object' && address !== null)
  const servers = `--etcd-servers=http://127.0.0.1:${address.port}`
  await using dev = new DevTerminal([servers, '--secure-port=0'], { name: 'forced' })
  await dev.waitFor('starting')
  dev.type(CTRL_C)
  await dev.waitFor('stopping')
  dev.type(CTRL_C)
  assert.equal(await dev.ended(), 1, dev.output)
  assert.equal(dev.shown, 'keelson: stopped at once\n')
})

test('the output into a pipe is plain, even if the log is shown on a terminal', async (t) => {
  if (skipsWithoutPython(t)) return
  const folder = join(dir, 'piped')
  const command = `"$0" dev --ephemeral --data-dir=${folder} --secure-port=0 | cat`
  await using terminal = new PseudoTerminal(['sh', '-c', command, keelsonProgram], {
    env: { ...process.env, XDG_CACHE_HOME: createCacheHome(join(dir, 'cache')) },
  })
  await terminal.waitFor('kubectl get ns')
  const shown = visibleText(terminal.output)
  assert.match(shown, /^keelson: serving at https:\/\/127\.0\.0\.1:\d+ after \d+ ms$/m)
  assert.match(shown, new RegExp(`^export KUBECONFIG=${folder}/kubeconfig\nkubectl get ns\n`, 'm'))
})
