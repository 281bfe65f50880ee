/**
 * Tests the real kubectl against bin/keelson on a real etcd: commands that users type, and the
 * output of kubectl.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ApiServerProcess } from '../support/harness/api-server.ts'
import { type EtcdProcess, startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { type Kubectl, kubectlFor } from '../support/harness/kubectl.ts'

let etcd: EtcdProcess
let server: ApiServerProcess
let kubectl: Kubectl

before(async () => {
  etcd = await startEtcd()
  server = await startKeelson({ etcdUrl: etcd.clientUrl })
  kubectl = await kubectlFor(server, { namespace: 'shop' })
  const space = await kubectl.file(
    'space.yaml',
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n',
  )
  assert.equal(await kubectl.out('create', '-f', space), 'namespace/shop created\n')
})

after(async () => {
  await kubectl[Symbol.asyncDispose]()
  await server.stop()
  await etcd[Symbol.asyncDispose]()
})

const settings = (value: string): Promise<string> =>
  kubectl.file(
    'settings.yaml',
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {colour: ${value}}\n`,
  )

const create = async (file: string): Promise<string> => kubectl.out('create', '-f', file)

test('a ConfigMap can be created, read, replaced and deleted', async () => {
  assert.equal(await create(await settings('red')), 'configmap/settings created\n')
  const twice = await kubectl.run('create', '-f', await settings('red'))
  assert.match(
    twice.err,
    /^Error from server \(AlreadyExists\): .*configmaps "settings" already exists\n$/,
  )

  assert.match(await kubectl.out('get', 'cm'), /^NAME +DATA +AGE\nsettings +1 +\d+s\n$/)
  assert.match(
    await kubectl.out('get', 'cm', 'settings', '-o', 'yaml'),
    /^apiVersion: v1\ndata:\n {2}colour: red\nkind: ConfigMap\nmetadata:\n {2}creationTimestamp: "/,
  )

  const replaced = await kubectl.out('replace', '-f', await settings('blue'))
  assert.equal(replaced, 'configmap/settings replaced\n')
  assert.equal(await kubectl.out('get', 'cm', 'settings', '-o', 'jsonpath={.data.colour}'), 'blue')
  assert.match(
    await kubectl.out('get', 'cm', '--all-namespaces', '-o', 'name'),
    /^configmap\/settings$/m,
  )

  assert.equal(await kubectl.out('delete', 'cm', 'settings'), 'configmap "settings" deleted\n')
  const gone = await kubectl.run('get', 'cm', 'settings')
  assert.deepEqual(gone, {
    code: 1,
    out: '',
    err: 'Error from server (NotFound): configmaps "settings" not found\n',
  })
})

test('kubectl get -w shows events of ConfigMaps and Namespaces', async () => {
  await using maps = kubectl.follow('get', 'cm', '-w', '--output-watch-events')
  await create(await settings('red'))
  await maps.until(/^ADDED\s+settings/m)
  await kubectl.out('replace', '-f', await settings('green'))
  await maps.until(/^MODIFIED\s+settings/m)
  await kubectl.out('delete', 'cm', 'settings')
  await maps.until(/^DELETED\s+settings/m)

  await create(
    await kubectl.file('brief.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: brief}\n'),
  )
  await using brief = kubectl.follow('get', 'ns', 'brief', '-w', '--output-watch-events')
  await brief.until(/^ADDED\s+brief/m)
  assert.equal(
    await kubectl.out('delete', 'ns', 'brief', '--wait=false'),
    'namespace "brief" deleted\n',
  )
  await brief.until(/^MODIFIED\s+brief/m)
  assert.equal(
    await kubectl.out('get', 'ns', 'brief', '-o', 'jsonpath={.status.phase}'),
    'Terminating',
  )
})

test('a user without permission is rejected with a clear error', async () => {
  await using nobody = await kubectlFor(server, { token: 'wrong-token' })
  const refused = await nobody.run('get', 'cm')
  assert.equal(refused.code, 1)
  assert.match(
    refused.err,
    /^error: You must be logged in to the server \(the server has asked for the client to provide credentials\)$/m,
  )
  await using bob = await kubectlFor(server, { token: 'bob-token', namespace: 'shop' })
  assert.equal(
    (await bob.run('get', 'cm')).err,
    'Error from server (Forbidden): configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "shop"\n',
  )
})

test('the discovery commands work: api-resources, api-versions, cluster-info and version', async () => {
  const resources = await kubectl.out('api-resources', '--no-headers')
  assert.match(resources, /^configmaps\s+cm\s+v1\s+true\s+ConfigMap$/m)
  assert.match(resources, /^deployments\s+deploy\s+apps\/v1\s+true\s+Deployment$/m)
  assert.match(
    resources,
    /^horizontalpodautoscalers\s+hpa\s+autoscaling\/v2\s+true\s+HorizontalPodAutoscaler$/m,
  )
  const verbs = await kubectl.out(
    'api-resources',
    '--namespaced=false',
    '--verbs=list,watch',
    '-o',
    'name',
  )
  assert.match(verbs, /^namespaces$/m)
  assert.doesNotMatch(verbs, /^configmaps$|^componentstatuses$|^tokenreviews/m)
  const versions = (await kubectl.out('api-versions')).trimEnd().split('\n')
  assert.ok(
    versions.length > 15 && versions.includes('apps/v1') && versions.at(-1) === 'v1',
    versions.join(' '),
  )
  assert.ok((await kubectl.out('cluster-info')).includes(server.url))
  assert.match(await kubectl.out('version'), /^Server Version: v1\.33\.\d+$/m)
  assert.equal(await kubectl.out('get', '--raw', '/readyz'), 'ok')
  const components = await kubectl.run('get', 'componentstatuses')
  assert.equal(components.err, 'Warning: v1 ComponentStatus is deprecated in v1.19+\n')
  assert.match(components.out, /^NAME +STATUS +MESSAGE +ERROR$[\s\S]*^etcd-0 +Healthy +ok +$/m)
})

test('invalid requests return the errors that kubectl expects', async () => {
  const errorOf = async (...args: string[]): Promise<string> => (await kubectl.run(...args)).err
  assert.equal(
    await errorOf('get', 'nosuch'),
    'error: the server doesn\'t have a resource type "nosuch"\n',
  )
  assert.match(await errorOf('get', 'cm', '-l', 'a in (b'), /unable to parse requirement/)
  assert.match(
    await errorOf('get', 'cm', '--field-selector', 'a=b'),
    /^Error from server \(BadRequest\): Unable to find .*field selector "a=b": "a" is not a known field selector/,
  )
  const unknown = await kubectl.file('unknown.json', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {},
    dta: {},
  })
  assert.match(await errorOf('create', '-f', unknown), /strict decoding error: unknown field "dta"/)
  const wrong = await kubectl.file('wrong.json', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'Wrong Name' },
  })
  const invalid = await kubectl.run('create', '-f', wrong)
  assert.match(
    invalid.err,
    /^The ConfigMap "Wrong Name" is invalid: metadata.name: Invalid value: "Wrong Name": a lower/,
  )
})
