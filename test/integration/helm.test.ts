/**
 * Tests the real Helm against bin/keelson on a real etcd: a release is installed, upgraded, rolled
 * back and uninstalled.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { ApiServerProcess } from '../support/harness/api-server.ts'
import { type EtcdProcess, startEtcd } from '../support/harness/etcd.ts'
import { type Helm, helmFor } from '../support/harness/helm.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { type Kubectl, kubectlFor } from '../support/harness/kubectl.ts'

const chart = join(import.meta.dirname, 'chart')

let etcd: EtcdProcess
let server: ApiServerProcess
let kubectl: Kubectl
let helm: Helm

before(async () => {
  etcd = await startEtcd()
  server = await startKeelson({ etcdUrl: etcd.clientUrl })
  kubectl = await kubectlFor(server, { namespace: 'shop' })
  helm = helmFor(kubectl, 'shop')
})

after(async () => {
  await kubectl[Symbol.asyncDispose]()
  await server.stop()
  await etcd[Symbol.asyncDispose]()
})

const get = (what: string, path: string): Promise<string> =>
  kubectl.out('get', what, '-o', `jsonpath=${path}`)

test('helm install creates every object of the chart', async () => {
  const printed = await helm('install', 'web', chart, '--create-namespace')
  assert.match(printed, /^NAME: web$[\s\S]*^STATUS: deployed$[\s\S]*^REVISION: 1$/m)
  assert.equal(
    await kubectl.out(
      'get',
      'deploy,svc,cm,secret,ingress',
      '-l',
      'app.kubernetes.io/managed-by=Helm',
      '-o',
      'name',
    ),
    'deployment.apps/web\nservice/web\nconfigmap/web\nsecret/web\ningress.networking.k8s.io/web\n',
  )
  assert.equal(await get('secret/web', '{.data.password}'), Buffer.from('cmVk').toString('base64'))
})

test('helm list and helm status show the release', async () => {
  assert.match(await helm('list'), /^web\s+shop\s+1\s+.*\sdeployed\s+shop-0\.1\.0\s+1\s*$/m)
  const status = await helm('status', 'web', '--show-resources')
  assert.match(status, /^STATUS: deployed$/m)
  assert.match(status, /^web +0\/1 +0 +0 +\d+s$/m)
})

test('helm upgrade applies changed values, and preserves the changes of other clients', async () => {
  await kubectl.out('label', 'deploy/web', 'team=blue')
  const printed = await helm('upgrade', 'web', chart, '--set=replicas=3,colour=green')
  assert.match(printed, /^REVISION: 2$/m)
  assert.equal(await get('deploy/web', '{.spec.replicas} {.metadata.labels.team}'), '3 blue')
  assert.equal(await get('cm/web', '{.data.colour}'), 'green')
})

test('helm rollback restores the earlier values', async () => {
  assert.match(await helm('rollback', 'web', '1'), /^Rollback was a success/m)
  assert.equal(await get('deploy/web', '{.spec.replicas} {.metadata.labels.team}'), '1 blue')
  assert.equal(await get('cm/web', '{.data.colour}'), 'red')
  const history = await helm('history', 'web')
  assert.match(history, /^1\s.*superseded.*\n2\s.*superseded.*\n3\s.*deployed/m)
})

test('helm uninstall leaves nothing behind', async () => {
  assert.equal(await helm('uninstall', 'web'), 'release "web" uninstalled\n')
  assert.equal(await helm('list', '--all', '--short'), '')
  assert.match((await kubectl.run('get', 'cm/web')).err, /NotFound/)
  assert.equal(await kubectl.out('get', 'deploy,svc,secret,ingress', '-o', 'name'), '')
})
