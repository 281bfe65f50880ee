/**
 * Runs the commands on the first screen of README.md as a new user would: `node
 * test/integration/docs/first-screen.ts`. Runs the commands in a fresh checkout, with only npm and
 * Node of this machine on the PATH. Then sends a request to the server. The script needs the npm
 * registry. If root runs the script, the script switches to another user. Otherwise, the script
 * uses an empty home folder. The script fails if the first screen is incomplete or a command fails.
 *
 *   --node FILE   the Node on the PATH; default: that of this process
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { findProgram } from '../../support/harness/packed.ts'
import { until } from '../../support/harness/until.ts'

/** ID of the user without privileges on Debian and other systems. */
const USER_ID = 65_534
/** Maximum number of lines that a browser shows without scrolling. */
const SCREEN_LINES = 30
const COMMAND_MS_MAX = 600_000
const READY_MS_MAX = 120_000
const root = join(import.meta.dirname, '..', '..', '..')

const { values } = parseArgs({ options: { node: { type: 'string', default: process.execPath } } })

/** Checks the text that precedes the first heading below the title. Returns its commands. */
function firstScreen(): { readonly commands: readonly string[] } {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const screen = readme.slice(0, readme.indexOf('\n## '))
  assert.ok(screen.split('\n').length <= SCREEN_LINES, 'the text fits a screen')
  assert.match(screen, /^# Keelson\n\n\S.*Kubernetes/, 'the text begins with what Keelson is')
  const pictures = screen.match(/!\[[^\]]+\]\([^)]+\)/g) ?? []
  assert.equal(pictures.length, 1, 'one picture')
  assert.equal(screen.match(/^\|(?:-+\|)+$/gm)?.length, 1, 'one table')
  const commands = [...screen.matchAll(/^```sh[^\n]*\n(.*?)^```$/gms)].flatMap(([, text = '']) =>
    text.trim().split('\n'),
  )
  assert.deepEqual(commands.slice(1), ['bin/keelson dev'], 'one command, after npm install')
  return { commands }
}

async function main(): Promise<void> {
  const { commands } = firstScreen()
  const [install = '', serve = ''] = commands
  const dir = mkdtempSync(join(tmpdir(), 'keelson-first-'))
  let server: ChildProcess | undefined
  try {
    const { checkout, env } = prepare(dir)
    const began = performance.now()
    await type(install, checkout, env)
    const installed = performance.now()
    console.log(`${install}: ${((installed - began) / 1000).toFixed(1)} s`)
    server = start(serve, checkout, env)
    let reported = ''
    for (const stream of [server.stdout, server.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (reported += text))
    const running = server
    await until(
      () => {
        assert.equal(running.exitCode, null, reported)
        return reported.includes('kubectl get ns')
      },
      'the server prints what to type next',
      READY_MS_MAX,
    )
    const url = /serving at (\S+)/.exec(reported)?.[1] ?? ''
    const folder = join(checkout, '.keelson')
    await until(
      () => answers(`${url}/api/v1/namespaces/default`, folder),
      'the server responds',
      READY_MS_MAX,
    )
    console.log(`${serve}: responds after ${Math.round(performance.now() - installed)} ms`)
    console.log(reported.trimEnd())
  } finally {
    if (server !== undefined && server.exitCode === null) {
      const gone = once(server, 'exit')
      server.kill('SIGINT')
      await gone
    }
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * Creates a checkout of the committed files, a home folder, and a PATH that contains node, npm, sh
 * and env.
 */
function prepare(dir: string): { readonly checkout: string; readonly env: NodeJS.ProcessEnv } {
  const checkout = join(dir, 'keelson')
  const path = join(dir, 'path')
  for (const one of [checkout, path, join(dir, 'home')]) mkdirSync(one)
  const archive = execFileSync('git', ['archive', 'HEAD'], { cwd: root, maxBuffer: 1 << 30 })
  execFileSync('tar', ['-x', '-C', checkout], { input: archive })
  symlinkSync(realpathSync(values.node), join(path, 'node'))
  symlinkSync(findProgram('npm'), join(path, 'npm'))
  for (const name of ['sh', 'env']) symlinkSync(findProgram(name), join(path, name))
  if (process.getuid?.() === 0) {
    chmodSync(dir, 0o755)
    execFileSync('chown', ['-R', `${USER_ID}:${USER_ID}`, checkout, join(dir, 'home')])
    chownSync(dir, USER_ID, USER_ID)
  }
  // Keep the variables that npm needs to reach the registry from this machine.
  const network = Object.entries(process.env).filter(([name]) =>
    /^(?:NODE_EXTRA_CA_CERTS|(?:https?|no)_proxy)$/i.test(name),
  )
  const own = { HOME: join(dir, 'home'), PATH: path, TMPDIR: dirname(checkout) }
  return { checkout, env: { ...Object.fromEntries(network), ...own } }
}

function start(command: string, cwd: string, env: NodeJS.ProcessEnv): ChildProcess {
  const user = process.getuid?.() === 0 ? { uid: USER_ID, gid: USER_ID } : {}
  return spawn('/bin/sh', ['-c', `exec ${command}`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
}

async function type(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = start(command, cwd, env)
  let reported = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (reported += text))
  const tooLate = setTimeout(() => child.kill('SIGKILL'), COMMAND_MS_MAX)
  const [status] = await once(child, 'close')
  clearTimeout(tooLate)
  assert.equal(status, 0, `${command}\n${reported}`)
}

function answers(url: string, folder: string): Promise<boolean> {
  const file = (name: string): Buffer => readFileSync(join(folder, name))
  return new Promise((resolve) => {
    get(
      url,
      { agent: false, ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') },
      (response) => {
        response.resume()
        resolve(response.statusCode === 200)
      },
    ).on('error', () => resolve(false))
  })
}

await main()
