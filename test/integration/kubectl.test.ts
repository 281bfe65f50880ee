/** The real kubectl against bin/keelson on a real etcd: what a person would type, and what they would read. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { ApiServerProcess } from '../harness/api-server.ts'
import { type EtcdProcess, startEtcd, toolPath } from '../harness/etcd.ts'
import { startKeelson } from '../harness/keelson.ts'

let etcd: EtcdProcess
let server: ApiServerProcess
let dir: string

before(async () => {
  etcd = await startEtcd()
  server = await startKeelson({ etcdUrl: etcd.clientUrl })
  dir = await mkdtemp(join(tmpdir(), 'keelson-kubectl-'))
  await writeFile(join(dir, 'admin'), kubeconfig(server.token))
  await writeFile(join(dir, 'nobody'), kubeconfig('wrong-token'))
  await writeFile(join(dir, 'bob'), kubeconfig('bob-token'))
})

after(async () => {
  await server.stop()
  await etcd[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

/** The server's own certificate is the authority: kubectl checks that its hosts are right. */
function kubeconfig(token: string): string {
  const certificate = join(server.dir, 'apiserver.crt')
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'k', cluster: { server: server.url, 'certificate-authority': certificate } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace: 'shop' } }],
    'current-context': 'c',
  })
}

type Run = { readonly code: number; readonly out: string; readonly err: string }

const argsFor = (user: string, args: readonly string[]): string[] => [
  `--kubeconfig=${join(dir, user)}`,
  // One for all users: then those without rights get past discovery.
  `--cache-dir=${join(dir, 'cache')}`,
  ...args,
]

function kubectlAs(user: string, ...args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(toolPath('kubectl'), argsFor(user, args), { timeout: 30_000 }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err })
    })
    child.stdin?.end()
  })
}

const kubectl = (...args: readonly string[]): Promise<Run> => kubectlAs('admin', ...args)

async function manifest(name: string, text: string): Promise<string> {
  const path = join(dir, name)
  await writeFile(path, text)
  return path
}

const settings = (value: string): Promise<string> =>
  manifest('settings.yaml', `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {colour: ${value}}\n`)

test('create, get, replace and delete a ConfigMap', async () => {
  const space = await manifest('space.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n')
  const madeSpace = await kubectl('create', '--validate=false', '-f', space)
  assert.deepEqual(madeSpace, { code: 0, out: 'namespace/shop created\n', err: '' })
  const made = await kubectl('create', '--validate=false', '-f', await settings('red'))
  assert.deepEqual(made, { code: 0, out: 'configmap/settings created\n', err: '' })
  const twice = await kubectl('create', '--validate=false', '-f', await settings('red'))
  assert.match(twice.err, /^Error from server \(AlreadyExists\): .*configmaps "settings" already exists\n$/)

  const shown = await kubectl('get', 'cm')
  assert.match(shown.out, /^NAME\s+AGE\nsettings\s+\d+s\n$/)
  const yaml = await kubectl('get', 'cm', 'settings', '-o', 'yaml')
  assert.match(
    yaml.out,
    /^apiVersion: v1\ndata:\n {2}colour: red\nkind: ConfigMap\nmetadata:\n {2}creationTimestamp: "/,
  )

  const replaced = await kubectl('replace', '--validate=false', '-f', await settings('blue'))
  assert.deepEqual(replaced, { code: 0, out: 'configmap/settings replaced\n', err: '' })
  const value = await kubectl('get', 'cm', 'settings', '-o', 'jsonpath={.data.colour}')
  assert.equal(value.out, 'blue')
  const everywhere = await kubectl('get', 'cm', '--all-namespaces', '-o', 'name')
  assert.equal(everywhere.out, 'configmap/settings\n')

  const deleted = await kubectl('delete', 'cm', 'settings')
  assert.deepEqual(deleted, { code: 0, out: 'configmap "settings" deleted\n', err: '' })
  const gone = await kubectl('get', 'cm', 'settings')
  assert.deepEqual(gone, { code: 1, out: '', err: 'Error from server (NotFound): configmaps "settings" not found\n' })
})

const watching = (...args: readonly string[]): Watching =>
  new Watching(argsFor('admin', ['get', ...args, '-w', '--output-watch-events']))

test('get -w shows what happens, for ConfigMaps and Namespaces', async () => {
  const maps = watching('cm')
  await kubectl('create', '--validate=false', '-f', await settings('red'))
  await maps.until(/^ADDED\s+settings/m)
  await kubectl('replace', '--validate=false', '-f', await settings('green'))
  await maps.until(/^MODIFIED\s+settings/m)
  await kubectl('delete', 'cm', 'settings')
  await maps.until(/^DELETED\s+settings/m)
  await maps.stop()

  const space = await manifest('brief.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: brief}\n')
  assert.equal((await kubectl('create', '--validate=false', '-f', space)).err, '')
  const brief = watching('ns', 'brief')
  await brief.until(/^ADDED\s+brief/m)
  const marked = await kubectl('delete', 'ns', 'brief', '--wait=false')
  assert.equal(marked.out, 'namespace "brief" deleted\n')
  await brief.until(/^MODIFIED\s+brief/m)
  await brief.stop()
  const phase = await kubectl('get', 'ns', 'brief', '-o', 'jsonpath={.status.phase}')
  assert.equal(phase.out, 'Terminating')
})

test('who may not is told so', async () => {
  const nobody = await kubectlAs('nobody', 'get', 'cm')
  assert.equal(nobody.code, 1)
  assert.match(nobody.err, /error: You must be logged in to the server \(Unauthorized\)\n$/)
  const bob = await kubectlAs('bob', 'get', 'cm')
  assert.equal(
    bob.err,
    'Error from server (Forbidden): configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "shop"\n',
  )
})

test('discovery and version', async () => {
  const { out } = await kubectl('api-resources', '--no-headers')
  assert.match(out, /^configmaps\s+cm\s+v1\s+true\s+ConfigMap\nnamespaces\s+ns\s+v1\s+false\s+Namespace\n$/)
  assert.match((await kubectl('version')).out, /^Server Version: v1\.33\.\d+$/m)
})

/** A kubectl that goes on. */
class Watching {
  readonly #child
  #out = ''

  constructor(args: readonly string[]) {
    this.#child = spawn(toolPath('kubectl'), args, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text
    })
  }

  async until(pattern: RegExp): Promise<void> {
    const signal = AbortSignal.timeout(20_000)
    while (!pattern.test(this.#out)) {
      try {
        await once(this.#child.stdout, 'data', { signal })
      } catch (cause) {
        throw new Error(`${pattern} did not come, but: ${this.#out}`, { cause })
      }
    }
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill()
    await gone
  }
}
