/**
 * Tests the single executable that scripts/binary.ts builds: alone with an empty PATH, in the
 * read-only file system of an image, and in an image if this machine can build one.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { get } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { buildBinary } from '../../scripts/binary.ts'
import { fillImage } from '../../scripts/image.ts'
import { freePorts } from '../support/harness/etcd.ts'
import { findOnPath } from '../support/harness/packed.ts'
import { until } from '../support/harness/until.ts'

const run = promisify(execFile)
const COMMAND_MS_MAX = 300_000
/**
 * Maximum time until the server is ready. It takes a second on an idle machine, but minutes on a
 * busy one.
 */
const READY_MS_MAX = 300_000
/** Time in which a server without a code cache would write one. A server writes it after 2 s. */
const SAVED_MS = 5_000
/** The user ID in deploy/Containerfile. */
const USER_ID = 65_532

const deploy = join(import.meta.dirname, '..', '..', 'deploy')
const containerfile = readFileSync(join(deploy, 'Containerfile'), 'utf8')
const parts = new AsyncDisposableStack()
let dir = ''
let binary = ''
let env: NodeJS.ProcessEnv

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-binary-test-'))
  parts.defer(() => rmSync(dir, { recursive: true, force: true }))
  binary = join(dir, 'bin', 'keelson')
  const began = performance.now()
  await buildBinary(binary)
  const megabytes = (statSync(binary).size / 1e6).toFixed(1)
  console.log(`built in ${((performance.now() - began) / 1000).toFixed(1)} s: ${megabytes} MB`)
  env = { HOME: dir, PATH: '', XDG_CACHE_HOME: join(dir, 'cache') }
})
after(() => parts.disposeAsync())

class RunningBinary implements AsyncDisposable {
  readonly process: ChildProcess
  told = ''

  constructor(
    program: string,
    args: readonly string[],
    options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
  ) {
    this.process = spawn(program, args, { env, ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.told += text))
  }

  async has(what: () => boolean | Promise<boolean>, name: string): Promise<void> {
    await until(
      async () => {
        assert.equal(this.process.exitCode, null, this.told)
        return what()
      },
      name,
      READY_MS_MAX,
    )
  }

  /** Stops the process and returns its exit code. */
  async stop(): Promise<number | null> {
    if (this.process.exitCode !== null || this.process.signalCode !== null)
      return this.process.exitCode
    const gone = once(this.process, 'exit')
    this.process.kill('SIGTERM')
    await gone
    return this.process.exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

type HttpResult = { readonly status: number; readonly text: string }

/** Sends a request. The status is 0 if there is no response. */
function ask(options: RequestOptions, body?: string): Promise<HttpResult> {
  return new Promise((resolve) => {
    const headers =
      body === undefined
        ? {}
        : { 'content-type': body.startsWith('{') ? 'application/json' : 'application/yaml' }
    request({ host: '127.0.0.1', agent: false, headers, ...options }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (more: string) => (text += more))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
      .on('error', () => resolve({ status: 0, text: '' }))
      .end(body)
  })
}

const adminOf = (folder: string): RequestOptions => ({
  ca: readFileSync(join(folder, 'ca.crt')),
  cert: readFileSync(join(folder, 'admin.crt')),
  key: readFileSync(join(folder, 'admin.key')),
})

const isReady = async (port: number): Promise<boolean> =>
  (await ask({ port, path: '/readyz', rejectUnauthorized: false })).status === 200

test('the executable prints its version', async () => {
  const { stdout } = await run(binary, ['--version'], { env, timeout: COMMAND_MS_MAX })
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  assert.ok(stdout.startsWith(`Keelson ${JSON.parse(manifest).version}, for Kubernetes v1.33.`))
})

test('keelson dev works with an empty PATH, and its threads start', async () => {
  const [port = 0] = await freePorts(1)
  const data = join(dir, 'data')
  const args = ['dev', `--data-dir=${data}`, `--secure-port=${port}`]
  {
    const began = performance.now()
    await using server = new RunningBinary(binary, args)
    await server.has(() => isReady(port), 'the server is ready')
    console.log(`ready after ${Math.round(performance.now() - began)} ms`)
    const readyMs = performance.now()
    const call = (method: string, path: string, body?: string): Promise<HttpResult> =>
      ask({ port, method, path, ...adminOf(data) }, body)

    // This request starts two threads of the server: one that parses large YAML bodies, and one
    // that stores objects.
    const yaml = `metadata:\n  name: large\ndata:\n  key: ${'v'.repeat(300_000)}\n`
    const made = await call('POST', '/api/v1/namespaces/default/configmaps', yaml)
    assert.equal(made.status, 201, made.text.slice(0, 200))

    // Objects of this kind start a third thread of the server, which matches long strings against
    // regular expressions.
    const definition = await call(
      'POST',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      definitionOfTexts,
    )
    assert.equal(definition.status, 201, definition.text)
    const path = '/apis/example.com/v1/texts'
    await server.has(async () => (await call('GET', path)).status === 200, 'the kind is served')
    const long = 'ab'.repeat(50_000)
    assert.equal((await call('POST', path, textObject('good', `${long}c`))).status, 201)
    assert.equal((await call('POST', path, textObject('bad', long))).status, 422)

    // The executable contains a code cache, so the server must not write one. Wait until it would
    // have done so.
    await sleep(Math.max(0, SAVED_MS - (performance.now() - readyMs)))
    assert.deepEqual(
      readdirSync(join(dir, 'cache', 'keelson')).filter((name) => name.startsWith('code-')),
      [],
    )
    assert.equal(await server.stop(), 0, server.told)
  }
  await using again = new RunningBinary(binary, args)
  await again.has(() => isReady(port), 'the server is ready again')
  const path = '/api/v1/namespaces/default/configmaps/large'
  assert.equal((await ask({ port, path, ...adminOf(data) })).status, 200)
})

const definitionOfTexts = JSON.stringify({
  metadata: { name: 'texts.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'texts', kind: 'Text' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { text: { type: 'string' } },
                'x-kubernetes-validations': [{ rule: 'self.text.matches("^(a|b)*c$")' }],
              },
            },
          },
        },
      },
    ],
  },
})

const textObject = (name: string, text: string): string =>
  JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Text', metadata: { name }, spec: { text } })

test('keelson serve runs with MALLOC_ARENA_MAX=2 and keeps its process ID', async () => {
  const [port = 0] = await freePorts(1)
  const folder = join(dir, 'served')
  const args = ['serve', `--data-dir=${folder}`, `--cert-dir=${folder}`, `--secure-port=${port}`]
  await using server = new RunningBinary(binary, [...args, '--bind-address=127.0.0.1'])
  await server.has(() => isReady(port), 'the server is ready')
  assert.match(
    readFileSync(`/proc/${server.process.pid}/environ`, 'utf8'),
    /\0?MALLOC_ARENA_MAX=2\0/,
  )
  assert.equal(await server.stop(), 0, server.told)
})

test('keelson assets installs programs for envtest', async () => {
  const { stdout } = await run(binary, ['assets', `--dir=${join(dir, 'assets')}`], {
    env,
    timeout: COMMAND_MS_MAX,
  })
  const folder = stdout.trimEnd()
  const [etcdPort = 0, port = 0] = await freePorts(2)
  const url = `http://127.0.0.1:${etcdPort}`
  await using etcd = new RunningBinary(join(folder, 'etcd'), [`--listen-client-urls=${url}`])
  await etcd.has(() => answers(`${url}/health`), 'the stand-in for etcd responds')
  const args = [
    `--etcd-servers=${url}`,
    `--secure-port=${port}`,
    `--cert-dir=${dir}`,
    '--bind-address=127.0.0.1',
  ]
  await using server = new RunningBinary(join(folder, 'kube-apiserver'), args)
  await server.has(() => isReady(port), 'kube-apiserver is ready')
})

const answers = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    get(url, { agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on('error', () => resolve(false))
  })

/**
 * A shell script that runs the program like a container engine: without privileges, with a
 * read-only root file system, and with a volume. Its arguments are the root, the volume, and the
 * arguments of the program.
 */
const inImage = `
set -eu
root=$1 data=$2
shift 2
mkdir -p "$root/proc" "$root/var/lib/keelson"
mount --bind "$root" "$root"
# Like ProcSubset=pid of systemd, where the kernel supports it: only processes are visible in /proc.
mount -t proc -o subset=pid proc "$root/proc" || mount -t proc proc "$root/proc"
mount --bind "$data" "$root/var/lib/keelson"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs chroot --userspec=${USER_ID}:${USER_ID} "$root" /usr/local/bin/keelson "$@"
`

test('the executable runs without privileges in the read-only file system of an image', async (t) => {
  if (!(await canMount())) return t.skip('needs root, and unshare, setpriv and chroot')
  await serveFrom(join(imageFolder(), 'root'))
})

test('the executable runs in an image, if this machine can build one', async (t) => {
  const buildah = findOnPath('buildah')
  if (buildah === undefined || !(await canMount())) return t.skip('needs buildah, and root')
  // Store everything in the folder of this test, so that nothing else on the machine is changed.
  const storage = [
    '--storage-driver=vfs',
    `--root=${join(dir, 'storage')}`,
    `--runroot=${join(dir, 'storage-run')}`,
  ]
  const command = async (...args: string[]): Promise<string> =>
    (
      await run(buildah, [...storage, ...args], { timeout: COMMAND_MS_MAX, maxBuffer: 1 << 24 })
    ).stdout.trim()
  await command('build', '--isolation=chroot', '--tag=keelson-test', imageFolder())
  const { OCIv1: image } = JSON.parse(await command('inspect', '--type=image', 'keelson-test'))
  assert.equal(image.config.User, `${USER_ID}:${USER_ID}`)
  assert.deepEqual(image.config.Entrypoint, ['/usr/local/bin/keelson'])
  assert.deepEqual(Object.keys(image.config.Volumes), ['/var/lib/keelson'])
  const mounted = await command('mount', await command('from', '--pull-never', 'keelson-test'))
  // When a container engine creates the volume, the volume gets the owner of this folder.
  assert.equal(statSync(join(mounted, 'var/lib/keelson')).uid, USER_ID)
  await serveFrom(mounted)
})

/** Runs `keelson dev` with the root file system of an image. */
async function serveFrom(root: string): Promise<void> {
  const volume = mkdtempSync(join(dir, 'volume-'))
  chownSync(volume, USER_ID, USER_ID)
  const [port = 0] = await freePorts(1)
  const args = ['dev', '--data-dir=/var/lib/keelson/dev', `--secure-port=${port}`]
  const script = ['--mount', 'sh', '-c', inImage, 'sh', root, volume, ...args]
  await using server = new RunningBinary('unshare', script, { env: { PATH: process.env['PATH'] } })
  await server.has(() => isReady(port), 'the server is ready')
  const folder = `/proc/${server.process.pid}`
  assert.match(
    readFileSync(`${folder}/status`, 'utf8'),
    new RegExp(`^Uid:\\s+${USER_ID}\\s+${USER_ID}\\s`, 'm'),
  )
  assert.match(readFileSync(`${folder}/mountinfo`, 'utf8'), /^\d+ \d+ \S+ \S+ \/ ro,/m)
  await createFirst(port, join(volume, 'dev'))
  await checkHealth(root, port)
  assert.equal(await server.stop(), 0, server.told)
}

/** Runs the health check of deploy/Containerfile in the file system of an image. */
async function checkHealth(root: string, port: number): Promise<void> {
  const [, command = '[]'] = /^HEALTHCHECK .*CMD (\[.*\])$/m.exec(containerfile) ?? []
  const words: readonly string[] = JSON.parse(command)
  const user = `--userspec=${USER_ID}:${USER_ID}`
  const check = (at: number) =>
    run('chroot', [user, root, ...words, `--server=https://127.0.0.1:${at}`], {
      env: { PATH: process.env['PATH'] },
      timeout: COMMAND_MS_MAX,
    })
  assert.equal((await check(port)).stdout, 'ok\n')
  const [free = 0] = await freePorts(1)
  await assert.rejects(check(free), { code: 1, stderr: /ECONNREFUSED/ })
}

test('docs/operate.md names the size of the image', () => {
  const page = readFileSync(join(deploy, '..', 'docs', 'operate.md'), 'utf8')
  const [, megabytes] = /The image has about (\d+) MB/.exec(page) ?? []
  const root = join(imageFolder(), 'root')
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
  const bytes = files
    .filter((file) => file.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  const difference = Math.abs(bytes / 1e6 - Number(megabytes))
  assert.ok(difference < 10, `${(bytes / 1e6).toFixed(1)} MB, but the page says ${megabytes} MB`)
})

async function createFirst(port: number, folder: string): Promise<void> {
  const options = {
    port,
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    ...adminOf(folder),
  }
  const made = await ask(options, JSON.stringify({ metadata: { name: 'first' } }))
  assert.equal(made.status, 201, made.text)
}

test('the link named kube-apiserver in the image runs keelson serve', async () => {
  const link = join(imageFolder(), 'root', 'usr', 'local', 'bin', 'kube-apiserver')
  const { stdout } = await run(link, ['--help'], { env, timeout: COMMAND_MS_MAX })
  assert.match(stdout, /--etcd-servers/)
})

function imageFolder(): string {
  const folder = join(dir, 'image')
  if (!existsSync(folder)) fillImage(folder, binary)
  assert.ok(existsSync(join(folder, 'Containerfile')))
  assert.match(
    readFileSync(join(folder, 'root/etc/ssl/cert.pem'), 'utf8'),
    /^-----BEGIN CERTIFICATE-----$/m,
  )
  return folder
}

async function canMount(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  const tried = run('unshare', ['--mount', 'sh', '-c', 'setpriv --version && chroot / true'], {
    timeout: COMMAND_MS_MAX,
  })
  return tried.then(
    () => true,
    () => false,
  )
}
