/**
 * Tests the package as a new user would install it: packed by npm, installed without a network in
 * an empty folder, with only Node on the PATH.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
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

const PACKED_BYTES_MAX = 3_000_000
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
    (path) =>
      !/^(bin|dist|clients)\/|^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(path),
  )
  assert.deepEqual(others, [])
  assert.deepEqual(
    packed.files.filter((path) => /\.test\.|recording|scenario|\.map$|(?<!\.d)\.ts$/.test(path)),
    [],
  )
  assert.ok(packed.files.includes('dist/program.cjs'))
  const libraries = packed.files.filter((path) => path.startsWith('clients/'))
  for (const path of ['go/go.mod', 'go/README.md', 'python/pyproject.toml', 'python/README.md'])
    assert.ok(libraries.includes(`clients/${path}`), path)
  assert.deepEqual(
    libraries.filter((path) => !/\.(?:go|py|md|mod|toml|typed)$/.test(path)),
    [],
  )
  const installed = readdirSync(join(folder, 'node_modules')).filter(
    (name) => !name.startsWith('.'),
  )
  assert.deepEqual(installed, ['keelson'])
})

test('links in the README of the package lead to files of the release', () => {
  const root = join(import.meta.dirname, '..', '..')
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const readme = readFileSync(join(folder, 'node_modules', 'keelson', 'README.md'), 'utf8')
  const links = [...readme.matchAll(/\]\(([^)]*)\)/g)].map(([, link = '']) => link)
  const targets = links.flatMap((link) => {
    const file =
      /^https:\/\/(?:github\.com\/keelson\/keelson\/blob|raw\.githubusercontent\.com\/keelson\/keelson)\/v([^/]+)\/([^#]+)(?:#.*)?$/.exec(
        link,
      )
    if (file === null) {
      assert.match(link, /^https:\/\/github\.com\/keelson\/keelson$/)
      return []
    }
    assert.equal(file[1], manifest.version, link)
    return file[2] ?? []
  })
  assert.ok(targets.includes('docs/start.md') || targets.includes('docs/dev.md'), links.join('\n'))
  assert.deepEqual(
    targets.filter((target) => !existsSync(join(root, target))),
    [],
  )
  assert.match(readme, /\]\(https:\/\/raw\.githubusercontent\.com\/\S+\/docs\/pictures\/dev\.svg\)/)
  // After packing, npm must have restored the README of the checkout.
  assert.equal(
    readFileSync(join(folder, '..', 'checkout', 'README.md'), 'utf8'),
    readFileSync(join(root, 'README.md'), 'utf8'),
  )
})

test('the package contains the licenses of third-party code', () => {
  const manifest = readFileSync(
    join(folder, 'node_modules', 'keelson', 'dist', 'licenses.txt'),
    'utf8',
  )
  for (const name of ['jose', 'js-yaml', 're2js', 'sorted-btree'])
    assert.match(manifest, new RegExp(`^${name} \\d`, 'm'))
})

test('the package contains a manual page for each command, and completions for each shell', async () => {
  const program = join(folder, 'node_modules', 'keelson', 'bin', 'keelson')
  const { stdout } = await run('node', [program, 'help'], { env, timeout: COMMAND_MS_MAX })
  const commands = [...stdout.matchAll(/^ {2}([a-z][a-z-]*(?: [a-z-]+)*) {2}/gm)].map(
    ([, name = '']) => name,
  )
  const pages = commands.map((name) => `dist/man/keelson-${name.replaceAll(' ', '-')}.1`)
  pages.push('dist/man/keelson.1')
  const manifest: { readonly man: readonly string[] } = JSON.parse(
    readFileSync(join(folder, 'node_modules', 'keelson', 'package.json'), 'utf8'),
  )
  assert.deepEqual(manifest.man.map((path) => path.slice('./'.length)).toSorted(), pages.toSorted())
  for (const shell of ['keelson.bash', '_keelson', 'keelson.fish'])
    pages.push(`dist/completions/${shell}`)
  assert.deepEqual(
    packed.files.filter((path) => /^dist\/(?:man|completions)\//.test(path)).toSorted(),
    pages.toSorted(),
  )
})

test('npm installs the manual pages, and man shows them without warnings', async (t) => {
  const prefix = join(folder, 'global')
  await run('npm', ['install', '--global', '--prefix', prefix, packed.tarball], { env })
  const manuals = join(prefix, 'share', 'man')
  const pages = readdirSync(join(manuals, 'man1')).filter((name) => name.startsWith('keelson'))
  assert.ok(pages.includes('keelson-auth-why.1'))
  for (const [name, ...args] of renderers) {
    const path = findOnPath(name)
    if (path === undefined) t.diagnostic(`${name} is not installed`)
    else for (const page of pages) await render(path, [...args, join(manuals, 'man1', page)])
  }
})

/** Programs that show manual pages, with the flags that make them print all warnings. */
const renderers = [
  ['man', '--warnings=w', '--local-file'],
  ['groff', '-man', '-ww', '-Tutf8'],
  ['mandoc', '-T', 'lint', '-W', 'warning'],
] as const

async function render(program: string, args: readonly string[]): Promise<void> {
  const { stdout, stderr } = await run(program, args, {
    env: { ...process.env, MANWIDTH: '80', LC_ALL: 'C.UTF-8' },
    timeout: COMMAND_MS_MAX,
  })
  assert.equal(stderr, '', args.join(' '))
  // With these flags, mandoc prints only warnings, and not the page.
  if (!args.includes('lint')) assert.match(stdout, /^ +keelson[a-z-]* - /m)
}

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
  const { types } = manifest.exports['./testing']
  const declarations = packed.files.filter((path) => /\.d\.[cm]?ts$/.test(path))
  assert.deepEqual(declarations, [types.replace('./', '')], 'all declarations are in one file')
  const text = readFileSync(join(folder, 'node_modules', 'keelson', types), 'utf8')
  assert.match(text, /startCluster/)
  for (const internal of [/@internal/, /onStopped/, /EngineState/, /^import /m, /import\(/])
    assert.doesNotMatch(text, internal)
})

/**
 * A TypeScript file as a user could write it. It uses the type declarations in ways that must
 * compile.
 */
const userFile = `
import { type Cluster, type Fault, type Snapshot, startCluster, type Write } from 'keelson/testing'

class Api { constructor(readonly configuration: { readonly url: string }) {} }

export async function use(): Promise<string> {
  await using cluster: Cluster = await startCluster({ controllers: ['*'], now: new Date() })
  using fault: Fault = cluster.faults.on({ verb: 'get' }, { status: 503, reason: 'ServerTimeout' })
  const snapshot: Snapshot = cluster.snapshot()
  await cluster.restore(snapshot)
  await using fork = await cluster.fork()
  const api: Api = await fork.client(Api)
  const writes: readonly Write[] = fork.history({ source: 'client' })
  const found: string = await cluster.waitFor(() => writes.at(0)?.user?.name, { what: 'a write' })
  // @ts-expect-error an object that is not a snapshot
  await cluster.restore({})
  // @ts-expect-error an option that does not exist
  await startCluster({ flag: [] })
  return found + api.configuration.url + fault.hits + cluster.clock.now().toISOString()
}
`

test('a file of a user compiles with TypeScript 5.9 and 7, even if TypeScript checks declarations', async () => {
  const requireHere = createRequire(import.meta.url)
  const requireBundler = createRequire(requireHere.resolve('dts-bundle-generator'))
  const compilers = [requireBundler, requireHere].map((from) =>
    join(dirname(from.resolve('typescript/package.json')), 'bin', 'tsc'),
  )
  for (const file of ['user.mts', 'user.cts']) writeFileSync(join(folder, file), userFile)
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    module: 'nodenext',
    target: 'es2022',
    types: [],
    noEmit: true,
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['user.*'] }),
  )
  const versions: string[] = []
  for (const compiler of compilers) {
    const { stdout: version } = await run(process.execPath, [compiler, '--version'])
    versions.push(version.trim())
    const ended = await run(process.execPath, [compiler], { cwd: folder }).catch(
      ({ stdout }: { readonly stdout?: string }) => ({ stdout }),
    )
    assert.equal(ended.stdout, '', version)
  }
  assert.deepEqual(versions, ['Version 5.9.3', 'Version 7.0.2'])
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
 * Stops all processes of the group, because npx does not forward signals to its child. Kills them
 * if they do not exit in time.
 */
async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  const signal = (name: 'SIGTERM' | 'SIGKILL' | 0): boolean => {
    try {
      return process.kill(-pid, name)
    } catch {
      // The group has no running process.
      return false
    }
  }
  if (!signal('SIGTERM')) return
  try {
    // Wait until the output of the processes has ended. If no process reaps its exited members, the
    // group itself continues to exist.
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
    // kubectl is not among the installed tools. Use that of this machine, if there is one.
    return findOnPath('kubectl')
  }
}

/** A script that needs only Node. Its arguments are the data folder and the port of a server. */
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

/** Whether /usr/bin/node exists and is older than the versions that Keelson supports. */
const hasOldNode = async (): Promise<boolean> => {
  if (!existsSync('/usr/bin/node')) return false
  const { stdout: version } = await run('/usr/bin/node', ['--version'])
  return Number(/^v(\d+)/.exec(version)?.[1]) < 24
}

test('with an old Node, the program prints what to do', async (t) => {
  if (!(await hasOldNode())) return t.skip('there is no old Node')
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

test('with an old Node, keelson/testing fails with a message that says what to do', async (t) => {
  if (!(await hasOldNode())) return t.skip('there is no old Node')
  const programs = ["import 'keelson/testing'", "await import('keelson/testing')"]
  for (const program of programs)
    await assert.rejects(
      run('/usr/bin/node', ['--input-type=module', '-e', program], { cwd: folder }),
      /Error: keelson\/testing needs Node 24\.18\.1 or newer, or 26\.5\.1 or newer, and this is v\d+\..*Install it from https:/,
    )
})
