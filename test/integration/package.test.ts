/**
 * Tests the built package: its program starts, and finds the worker threads that it loads by name.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual, promisify } from 'node:util'
import { type ApiServerProcess, startApiServer } from '../support/harness/api-server.ts'
import { freePorts, startEtcd, toolPath } from '../support/harness/etcd.ts'
import { installPackage } from '../support/harness/package.ts'
import { clients, type Client } from './support.ts'

const run = promisify(execFile)
let client: Client
let server: ApiServerProcess
let cacheHome = ''
let packageFolder = ''
const parts = new AsyncDisposableStack()

before(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-package-'))
  parts.defer(() => rmSync(dir, { recursive: true, force: true }))
  const program = await installPackage(dir)
  packageFolder = join(program, '..', '..')
  cacheHome = process.env['XDG_CACHE_HOME'] = join(dir, 'cache-home')
  const etcd = parts.use(await startEtcd())
  server = parts.use(await startApiServer([program, 'serve'], { etcdUrl: etcd.clientUrl }))
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = parts.use(made)
})
after(() => parts.disposeAsync())

const object = (name: string, text: string): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Text',
  metadata: { name },
  spec: { text },
})

const kept = (): string[] =>
  readdirSync(join(cacheHome, 'keelson')).filter((file) => /^code-v[0-9.]+-/.test(file))

test('the code cache of a server is kept for its next start', async () => {
  // Wait for two seconds, after which the server writes the code cache as soon as it is idle.
  await sleep(2_500)
  await server.restart('SIGTERM')
  assert.equal(kept().length, 1)
  assert.equal((await client.call({ path: '/readyz' })).status, 200)
})

test('a start does not load modules of Node that few servers need', async () => {
  const hook = join(packageFolder, 'loaded.cjs')
  writeFileSync(hook, "process.on('exit', () => console.log(process.moduleLoadList.join('\\n')))")
  const main = join(packageFolder, 'dist', 'main.cjs')
  const { stdout } = await run(process.execPath, ['--require', hook, main, '--version'])
  const loaded = new Set(stdout.split('\n').map((line) => line.replace('NativeModule ', '')))
  assert.ok(loaded.has('net'))
  for (const name of ['assert', 'child_process', 'inspector/promises', 'sqlite', 'v8'])
    assert.equal(loaded.has(name), false, name)
})

test('the descriptions of fields in OpenAPI documents are loaded from the package', async () => {
  const { text } = await client.call({ path: '/openapi/v3/api/v1' })
  assert.match(text, /"description":"A group of containers that run on the same node /)
})

test('a large YAML body is converted in a worker thread', async () => {
  const yaml = `metadata:\n  name: large\ndata:\n  key: ${'v'.repeat(300_000)}\n`
  const body = Buffer.from(yaml)
  const headers = { 'content-type': 'application/yaml' }
  const made = await client.call({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    body,
    headers,
  })
  assert.equal(made.status, 201, made.text.slice(0, 200))
})

test('a pattern is matched against a long string in a worker thread', async () => {
  const rule = { rule: 'self.text.matches("^(a|b)*c$")' }
  const spec = {
    type: 'object',
    properties: { text: { type: 'string' } },
    'x-kubernetes-validations': [rule],
  }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
  }
  const definition = {
    metadata: { name: 'texts.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'texts', kind: 'Text' },
      versions: [version],
    },
  }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const made = await client.call({ method: 'POST', path: definitions, body: definition })
  assert.equal(made.status, 201, made.text)
  const path = '/apis/example.com/v1/texts'
  while ((await client.call({ path })).status !== 200) await sleep(10)
  const long = 'ab'.repeat(50_000)
  assert.equal(
    (await client.call({ method: 'POST', path, body: object('good', `${long}c`) })).status,
    201,
  )
  assert.equal((await client.call({ method: 'POST', path, body: object('bad', long) })).status, 422)
})

/**
 * Returns the objects of an in-memory server. Waits until they are as expected, or until a timeout
 * has passed.
 */
async function ephemeral(
  flags: readonly string[],
  isExpected: (objects: readonly string[]) => boolean,
): Promise<string[]> {
  const [port = 0] = await freePorts(1)
  const folder = mkdtempSync(join(cacheHome, 'ephemeral-'))
  const program = join(packageFolder, 'bin', 'keelson')
  const args = ['dev', '--ephemeral', `--data-dir=${folder}`, `--secure-port=${port}`, ...flags]
  const dev = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const gone = once(dev, 'exit')
  try {
    await once(dev.stdout, 'data')
    const authority = JSON.stringify(readFileSync(join(folder, 'ca.crt'), 'utf8'))
    const plain = (item: object): string =>
      JSON.stringify(item)
        .replaceAll(authority, '"AUTHORITY"')
        .replaceAll(String(port), 'PORT')
        .replaceAll(/"resourceVersion":"\d+"/g, '')
        .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"')
        .replaceAll(/"uid":"[0-9a-f-]{36}"/g, '"UID"')
    const kubectl = [
      `--kubeconfig=${join(folder, 'kubeconfig')}`,
      'get',
      '-A',
      '-o',
      'json',
      firstKinds,
    ]
    for (const endMs = Date.now() + SETTLED_MS_MAX; ; await sleep(50)) {
      const { stdout } = await run(toolPath('kubectl'), kubectl, {
        maxBuffer: 16_000_000,
        timeout: 120_000,
      })
      const { items }: { items: object[] } = JSON.parse(stdout)
      // Ignore aggregated roles, because the order of their rules is random.
      const objects = items.map(plain).filter((item) => !item.includes('aggregationRule'))
      if (isExpected(objects.sort()) || Date.now() > endMs) return objects
    }
  } finally {
    dev.kill()
    await gone
  }
}

const SETTLED_MS_MAX = 30_000
const firstKinds =
  'ns,cm,sa,svc,ep,clusterroles,clusterrolebindings,roles,rolebindings,apiservices,flowschemas,prioritylevelconfigurations,priorityclasses,servicecidrs,ipaddresses'

test('an in-memory server has the same objects whether it loads them from the package or creates them', async () => {
  const prepared = await ephemeral([], (objects) =>
    objects.some((item) => item.includes('"kind":"Endpoints"')),
  )
  assert.ok(prepared.some((item) => item.includes('"targetPort":PORT')))
  const created = await ephemeral(['--v=0'], (objects) => isDeepStrictEqual(objects, prepared))
  assert.deepEqual(created, prepared)
})

/**
 * A script that starts a cluster and prints facts about its first objects. Its argument is the
 * folder of the package.
 */
const starting = `
const [folder] = process.argv.slice(1)
const { startCluster } = require(folder + '/dist/testing.cjs')
void (async () => {
  const cluster = await startCluster()
  const found = await Promise.all(
    ['/api/v1/namespaces/kube-system', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt'].map((path) => cluster.request({ path })),
  )
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const made = await cluster.request({ method: 'POST', path: '/api/v1/namespaces/default/pods', body: pod })
  console.log(JSON.stringify({
    created: found[0].body.metadata.creationTimestamp,
    uid: found[0].body.metadata.uid,
    isOwnAuthority: found[1].body.data['ca.crt'] === cluster.certificateAuthority,
    pod: made.status,
  }))
  await cluster.stop()
})()
`

test('a cluster of keelson/testing starts with the initial objects that the package contains', async () => {
  const folder = packageFolder
  assert.ok(existsSync(join(folder, 'dist', 'first-objects.json')))
  const start = async () => {
    const { stdout } = await run(process.execPath, ['--eval', starting, folder], {
      timeout: 120_000,
    })
    return JSON.parse(stdout)
  }
  const beganMs = Date.now()
  const [one, other] = [await start(), await start()]
  for (const { created, isOwnAuthority, pod } of [one, other]) {
    assert.ok(Date.parse(created) >= beganMs - 1_000 && Date.parse(created) <= Date.now(), created)
    assert.deepEqual({ isOwnAuthority, pod }, { isOwnAuthority: true, pod: 201 })
  }
  assert.notEqual(one.uid, other.uid)
  const compiled = readdirSync(join(cacheHome, 'keelson')).filter((file) =>
    file.startsWith('testing-'),
  )
  assert.equal(compiled.length, 1, 'compiled code is kept when the process ends')
})
