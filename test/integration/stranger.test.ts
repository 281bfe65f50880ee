/**
 * Tests the package as a new user would install it: packed by npm, installed without a network in
 * an empty folder, with only Node on the PATH.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { freePorts, toolPath } from '../support/harness/etcd.ts'
import {
  findOnPath,
  installPacked,
  npmEnvironment,
  type PackedPackage,
  packPackage,
  pathWithNodeAlone,
} from '../support/harness/packed.ts'
import { until } from '../support/harness/until.ts'

const PACKED_BYTES_MAX = 4 << 20
const COMMAND_MS_MAX = 120_000
const run = promisify(execFile)

const parts = new AsyncDisposableStack()
let packed: PackedPackage
let folder: string
let env: NodeJS.ProcessEnv

before(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-stranger-'))
  parts.defer(() => rmSync(dir, { recursive: true, force: true }))
  env = npmEnvironment(dir, pathWithNodeAlone(dir))
  packed = await packPackage(dir, env)
  folder = await installPacked(packed.tarball, dir, env)
})
after(() => parts.disposeAsync())

test('the package contains all required files and no others', () => {
  assert.ok(packed.bytes < PACKED_BYTES_MAX, `${packed.bytes} bytes`)
  const others = packed.files.filter(
    (path) => !/^(bin|dist)\/|^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(path),
  )
  assert.deepEqual(others, [])
  assert.deepEqual(
    packed.files.filter((path) => /\.test\.|recording|scenario|\.map$|(?<!\.d)\.ts$/.test(path)),
    [],
  )
  assert.ok(packed.files.includes('dist/program.cjs'))
  const installed = readdirSync(join(folder, 'node_modules')).filter(
    (name) => !name.startsWith('.'),
  )
  assert.deepEqual(installed, ['keelson'])
})

test('the package contains the licenses of third-party code', () => {
  const manifest = readFileSync(
    join(folder, 'node_modules', 'keelson', 'dist', 'licenses.txt'),
    'utf8',
  )
  for (const name of ['jose', 'js-yaml', 're2js', 'sorted-btree'])
    assert.match(manifest, new RegExp(`^${name} \\d`, 'm'))
})

test('keelson/testing can be imported and has type declarations', async () => {
  const program = "import { startCluster } from 'keelson/testing'; console.log(typeof startCluster)"
  const { stdout } = await run('node', ['--input-type=module', '-e', program], {
    cwd: folder,
    env,
    timeout: COMMAND_MS_MAX,
  })
  assert.equal(stdout, 'function\n')
  const manifest = JSON.parse(
    readFileSync(join(folder, 'node_modules', 'keelson', 'package.json'), 'utf8'),
  )
  const types = readFileSync(
    join(folder, 'node_modules', 'keelson', manifest.exports['./testing'].types),
    'utf8',
  )
  assert.match(types, /startCluster/)
  // Every module to which the type declarations refer must exist.
  for (const path of packed.files.filter((one) => one.endsWith('.d.ts'))) {
    const text = readFileSync(join(folder, 'node_modules', 'keelson', path), 'utf8')
    for (const [, to = ''] of text.matchAll(/from ["'](\.[^"']+)\.js["']/g)) {
      assert.ok(packed.files.includes(join(path, '..', `${to}.d.ts`)), `${path} names ${to}`)
    }
  }
})

test('npx keelson dev starts a server for curl and kubectl', async () => {
  const [port = 0] = await freePorts(1)
  const began = performance.now()
  const npx = spawn('npx', ['keelson', 'dev', `--secure-port=${port}`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let reported = ''
  for (const stream of [npx.stdout, npx.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (reported += text))
  npx.on('error', (error) => (reported += error.message))
  const hasEnded = (): boolean =>
    npx.pid === undefined || npx.exitCode !== null || npx.signalCode !== null
  try {
    await until(
      () => reported.includes('kubectl get ns') || hasEnded(),
      'keelson dev is ready',
      COMMAND_MS_MAX,
    )
    assert.ok(!hasEnded(), reported)
    console.log(`npx keelson dev was ready after ${Math.round(performance.now() - began)} ms`)
    const data = join(folder, '.keelson')
    const certificates = [
      '--cacert',
      join(data, 'ca.crt'),
      '--cert',
      join(data, 'admin.crt'),
      '--key',
      join(data, 'admin.key'),
    ]
    const curl = findOnPath('curl')
    if (curl !== undefined) {
      const args = [
        '--silent',
        '--fail',
        ...certificates,
        `https://127.0.0.1:${port}/api/v1/namespaces/default`,
      ]
      const { stdout } = await run(curl, args, { timeout: COMMAND_MS_MAX })
      assert.match(stdout, /"kind":\s*"Namespace"/)
    }
    const { stdout } = await run('node', ['-e', asking, data, `${port}`], {
      cwd: folder,
      env,
      timeout: COMMAND_MS_MAX,
    })
    assert.equal(stdout, '200 v1\n')
    const kubectl = findKubectl()
    if (kubectl !== undefined) {
      const flags = ['--kubeconfig', join(data, 'kubeconfig'), '--cache-dir', join(data, 'kubectl')]
      await run(kubectl, [...flags, 'create', 'configmap', 'first', '--from-literal=a=b'], {
        timeout: COMMAND_MS_MAX,
      })
      const { stdout: value } = await run(kubectl, [
        ...flags,
        'get',
        'configmap',
        'first',
        '-o',
        'jsonpath={.data.a}',
      ])
      assert.equal(value, 'b')
    }
  } finally {
    await endGroup(npx)
  }
})

/**
 * Stops the whole process group, because npx does not forward signals to its child. Kills the group
 * if it does not exit.
 */
async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  const signal = (name: 'SIGTERM' | 'SIGKILL' | 0): boolean => {
    try {
      return process.kill(-pid, name)
    } catch {
      // No process of the group is running.
      return false
    }
  }
  if (!signal('SIGTERM')) return
  try {
    // If no process reaps the exited children, the group still exists, but its output has ended.
    const isSilent = (): boolean =>
      [child.stdout, child.stderr].every((stream) => stream?.closed !== false)
    await until(() => isSilent() || !signal(0), 'keelson dev has ended', COMMAND_MS_MAX)
  } finally {
    signal('SIGKILL')
  }
}

function findKubectl(): string | undefined {
  try {
    return toolPath('kubectl')
  } catch {
    // kubectl was not built here. Use the one on this machine, if there is one.
    return findOnPath('kubectl')
  }
}

/** A program that needs only Node. Its arguments are the data folder and the port. */
const asking = `
const { readFileSync } = require('node:fs')
const [folder, port] = process.argv.slice(1)
const file = (name) => readFileSync(folder + '/' + name)
const options = { host: '127.0.0.1', port, path: '/api', ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') }
require('node:https').get(options, (response) => {
  let text = ''
  response.on('data', (chunk) => (text += chunk)).on('end', () => console.log(response.statusCode, JSON.parse(text).versions[0]))
})
`

test('with an old Node, the program prints what to do', {
  skip: !existsSync('/usr/bin/node'),
}, async () => {
  const { stdout: version } = await run('/usr/bin/node', ['--version'])
  if (Number(/^v(\d+)/.exec(version)?.[1]) >= 24) return
  const program = join(folder, 'node_modules', 'keelson', 'bin', 'keelson')
  await assert.rejects(
    run('/usr/bin/node', [program, 'dev']),
    (error: Error & { stderr?: string }) => {
      assert.match(
        error.stderr ?? '',
        /^keelson: needs Node 24\.18\.1 or newer, or 26\.5\.1 or newer, and this is v\d+\.\d+\.\d+: install it from https:/,
      )
      return true
    },
  )
})
