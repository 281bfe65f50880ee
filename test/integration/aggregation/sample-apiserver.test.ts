/**
 * Tests the real sample-apiserver behind Keelson. kubectl discovers and explains its kinds, and
 * creates, lists, watches, patches and deletes its objects. While it is down, only its API group is
 * unavailable. Needs test/support/tools/install sample-apiserver.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ApiServerProcess } from '../../support/harness/api-server.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { Authority } from '../../support/harness/issued-certificate.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { type Kubectl, kubeconfig, kubectlFor } from '../../support/harness/kubectl.ts'
import { until } from '../../support/harness/until.ts'
import { type ExtensionProgram, hostService, startExtension } from './extension-program.ts'
import { prepareFrontProxy } from './front-proxy.ts'

const parts = new AsyncDisposableStack()
let server: ApiServerProcess
let kubectl: Kubectl
let extension: ExtensionProgram

const group = 'wardle.example.com'
const authority = new Authority('extension-ca')
const { certificatePem, keyPem } = authority.issue({
  cn: 'sample',
  usage: ['server'],
  hosts: ['sample.default.svc'],
})

const apiService = (version: string): object => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: `${version}.${group}` },
  spec: {
    group,
    version,
    groupPriorityMinimum: 2000,
    versionPriority: version === 'v1alpha1' ? 200 : 100,
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
    service: { namespace: 'default', name: 'sample', port: extension.port },
  },
})

const flunder = (name: string): object => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'Flunder',
  metadata: { name, labels: { of: 'test' } },
})

/** Runs kubectl and returns its output. The remote server may print a deprecation warning. */
async function done(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await kubectl.run(...args)
  assert.equal(code, 0, err)
  assert.match(err, /^(Warning: wardle\.example\.com\/v1alpha1 Flunder is deprecated.*\n)*$/)
  return out
}

const isAvailable = async (): Promise<boolean> =>
  (await kubectl.run('get', 'apiservice', `v1alpha1.${group}`)).out.includes('True')

before(async () => {
  const [etcd, ownEtcd] = await Promise.all([startEtcd(), startEtcd()])
  parts.use(etcd)
  parts.use(ownEtcd)
  server = parts.use(await startKeelson({ etcdUrl: etcd.clientUrl, prepare: prepareFrontProxy }))
  kubectl = parts.use(await kubectlFor(server))
  extension = await startExtension({
    name: 'sample-apiserver',
    certificatePem,
    keyPem,
    kubeconfig: kubeconfig(server),
    args: [`--etcd-servers=${ownEtcd.clientUrl}`],
  })
  parts.defer(() => extension[Symbol.asyncDispose]())
  const objects = [hostService('default', 'sample'), apiService('v1alpha1'), apiService('v1beta1')]
  for (const [at, object] of objects.entries())
    await kubectl.out('create', '-f', await kubectl.file(`object-${at}.json`, object))
  await until(isAvailable, 'the APIService is available')
})

after(() => parts.disposeAsync())

test("kubectl discovers and explains the remote server's kinds", async () => {
  await until(
    async () =>
      (await kubectl.run('api-resources', `--api-group=${group}`)).out.includes('flunders'),
    'kubectl finds the kinds of the remote server',
  )
  const found = await kubectl.out('api-resources', `--api-group=${group}`, '--no-headers')
  assert.match(found, /^fischers +wardle\.example\.com\/v1alpha1 +false +Fischer$/m)
  assert.match(found, /^flunders +wardle\.example\.com\/v1alpha1 +true +Flunder$/m)
  assert.match(
    await kubectl.out('api-versions'),
    /^wardle\.example\.com\/v1alpha1\nwardle\.example\.com\/v1beta1$/m,
  )
  const explained = async (): Promise<string> => (await kubectl.run('explain', 'flunder.spec')).out
  await until(
    async () => (await explained()).includes('referenceType'),
    'OpenAPI has the kinds of the remote server',
  )
})

test('objects of the remote server can be created, listed, watched, patched and deleted', async () => {
  await using watching = kubectl.follow(
    'get',
    'flunders',
    '--watch',
    '--output-watch-events',
    '--no-headers',
  )
  await done('create', '-f', await kubectl.file('flunder.json', flunder('one')))
  await watching.until(/ADDED +one/)
  assert.match(
    await done('get', 'flunders', '-l', 'of=test', '-o', 'name'),
    /^flunder\.wardle\.example\.com\/one$/m,
  )
  await done(
    'patch',
    'flunder',
    'one',
    '--type=merge',
    '-p',
    '{"metadata":{"labels":{"more":"1"}}}',
  )
  await watching.until(/MODIFIED +one/)
  await done('label', 'flunder', 'one', 'of=other', '--overwrite')
  await done('delete', 'flunder', 'one')
  await watching.until(/DELETED +one/)
  assert.equal((await kubectl.run('get', 'flunder', 'one')).code, 1)
})

test('the remote server authorizes users by the roles in Keelson', async () => {
  const alice = parts.use(await kubectlFor(server, { token: 'alice-token' }))
  const refused = await alice.run('get', 'flunders')
  assert.match(
    refused.err,
    /flunders.wardle.example.com is forbidden: User "alice" cannot list resource "flunders"/,
  )
  await kubectl.out(
    'create',
    'role',
    'reads',
    '--verb=list,get',
    '--resource=flunders.wardle.example.com',
  )
  await kubectl.out('create', 'rolebinding', 'alice', '--role=reads', '--user=alice')
  await until(async () => (await alice.run('get', 'flunders')).code === 0, 'alice may list')
})

test('while the remote server is down, only its group is unavailable', async () => {
  await extension[Symbol.asyncDispose]()
  await until(async () => !(await isAvailable()), 'the APIService is not available any more')
  assert.match(
    (await kubectl.run('get', 'flunders')).err,
    /the server is currently unable to handle the request/,
  )
  assert.equal((await kubectl.run('get', 'configmaps')).code, 0)
  const found = await kubectl.run('api-resources', '--cached=false')
  assert.match(found.out, /^deployments /m)
  await kubectl.out('delete', 'apiservice', `v1alpha1.${group}`, `v1beta1.${group}`)
  await until(
    async () => !(await kubectl.run('api-versions')).out.includes(group),
    'its group is not listed any more',
  )
})
