/**
 * Tests that the real kubectl creates objects of several kinds from YAML and JSON, describes them,
 * waits for them, and deletes them in every way.
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
})

after(async () => {
  await kubectl[Symbol.asyncDispose]()
  await server.stop()
  await etcd[Symbol.asyncDispose]()
})

const yaml = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: key, labels: {app: web}}
stringData: {password: secret}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "web:1"}]
---
apiVersion: v1
kind: Pod
metadata: {name: web-1}
spec:
  containers: [{name: web, image: "web:1", resources: {limits: {cpu: 0.1}}}]
`

const eventOf = (podUid: string): object => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'it-happened' },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'web-1', namespace: 'shop', uid: podUid },
  reason: 'Happened',
  message: 'it happened',
  type: 'Normal',
  count: 1,
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:00Z',
})

const list = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    },
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'leader' },
      spec: {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        renewTime: '2026-01-01T00:00:00.123456Z',
      },
    },
  ],
}

test('kubectl create -f creates several kinds from one file, as YAML and as JSON', async () => {
  const fromYaml = await kubectl.out('create', '-f', await kubectl.file('all.yaml', yaml))
  assert.equal(
    fromYaml,
    'namespace/shop created\nsecret/key created\ndeployment.apps/web created\npod/web-1 created\n',
  )
  const fromJson = await kubectl.out('create', '-f', await kubectl.file('all.json', list))
  assert.equal(
    fromJson,
    'serviceaccount/robot created\nservice/web created\nlease.coordination.k8s.io/leader created\n',
  )
})

test('kubectl get selects objects by label and by field, and prints them in several formats', async () => {
  assert.match(
    await kubectl.out('get', 'secrets', '-l', 'app=web'),
    /^NAME +TYPE +DATA +AGE\nkey +Opaque +1 +\d+s\n$/,
  )
  assert.equal(
    await kubectl.out('get', 'secrets', '--field-selector', 'metadata.name=key', '-o', 'name'),
    'secret/key\n',
  )
  const several = await kubectl.out('get', 'deploy,sa,lease', '-o', 'name')
  assert.equal(
    several,
    'deployment.apps/web\nserviceaccount/robot\nlease.coordination.k8s.io/leader\n',
  )
  const password = await kubectl.out(
    'get',
    'secret',
    'key',
    '-o',
    'jsonpath={.type} {.data.password}',
  )
  assert.equal(password, 'Opaque c2VjcmV0')
  assert.equal(
    await kubectl.out('get', 'lease', 'leader', '-o', 'jsonpath={.spec.renewTime}'),
    '2026-01-01T00:00:00.123456Z',
  )
  assert.equal(await kubectl.out('get', 'pod', 'web-1', '-o', 'jsonpath={..limits.cpu}'), '100m')
  assert.match(
    await kubectl.out('get', 'deploy', '-o', 'wide'),
    /^web +0\/2 +0 +0 +\d+s +web +web:1 +app=web$/m,
  )
})

test('kubectl describe shows related objects', async () => {
  assert.match(
    await kubectl.out('describe', 'ns', 'shop'),
    /^Name: +shop$[\s\S]*^Status: +Active$/m,
  )
  assert.match(
    await kubectl.out('describe', 'secret', 'key'),
    /^Type: +Opaque$[\s\S]*^password: +6 bytes$/m,
  )
  assert.match(await kubectl.out('describe', 'sa', 'robot'), /^Tokens: +<none>$/m)
  assert.match(await kubectl.out('describe', 'svc', 'web'), /^Selector: +app=web$/m)
  assert.match(
    await kubectl.out('describe', 'deploy', 'web'),
    /^Replicas: +2 desired \| 0 updated/m,
  )
  assert.match(await kubectl.out('describe', 'lease', 'leader'), /^ {2}Holder Identity: +a$/m)
  const uid = await kubectl.out('get', 'pod', 'web-1', '-o', 'jsonpath={.metadata.uid}')
  await kubectl.out('create', '-f', await kubectl.file('event.json', eventOf(uid)))
  // kubectl finds the event with field selectors such as involvedObject.uid.
  assert.match(
    await kubectl.out('describe', 'pod', 'web-1'),
    /^ {2}Normal +Happened .*it happened$/m,
  )
  assert.match(
    await kubectl.out('events', '--for', 'pod/web-1'),
    /Normal +Happened +Pod\/web-1 +it happened$/m,
  )
  assert.equal(
    await kubectl.out('get', 'events.events.k8s.io', '-o', 'jsonpath={.items[*].note}'),
    'it happened',
  )
})

test('kubectl replace fails if the object has changed since it was read', async () => {
  const path = await kubectl.file(
    'read.json',
    await kubectl.out('get', 'deploy', 'web', '-o', 'json'),
  )
  const read: { spec: { replicas: number } } = JSON.parse(
    await kubectl.out('get', 'deploy', 'web', '-o', 'json'),
  )
  const changed = await kubectl.file('changed.json', {
    ...read,
    spec: { ...read.spec, replicas: 3 },
  })
  assert.equal(await kubectl.out('replace', '-f', changed), 'deployment.apps/web replaced\n')
  assert.equal(
    await kubectl.out(
      'get',
      'deploy',
      'web',
      '-o',
      'jsonpath={.spec.replicas} {.metadata.generation}',
    ),
    '3 2',
  )
  const stale = await kubectl.run('replace', '-f', path)
  assert.match(
    stale.err,
    /^Error from server \(Conflict\): .*the object has been modified; please apply your changes/,
  )
})

test('kubectl wait waits for conditions, fields, creation and deletion', async () => {
  assert.equal(
    await kubectl.out('wait', '--for=jsonpath={.status.phase}=Pending', 'pod/web-1'),
    'pod/web-1 condition met\n',
  )
  const never = await kubectl.run(
    'wait',
    '--for=condition=Available',
    'deploy/web',
    '--timeout=500ms',
  )
  assert.deepEqual([never.code, never.out], [1, ''])
  assert.match(never.err, /error: timed out waiting for the condition on deployments\/web\n$/)

  await using condition = kubectl.follow(
    'wait',
    '--for=condition=Ready',
    'pod/web-1',
    '--timeout=20s',
  )
  const pod: { status: object } = JSON.parse(await kubectl.out('get', 'pod', 'web-1', '-o', 'json'))
  const ready = {
    ...pod,
    status: { ...pod.status, conditions: [{ type: 'Ready', status: 'True' }] },
  }
  const path = await kubectl.file('ready.json', ready)
  await kubectl.out('replace', '--subresource=status', '-f', path)
  assert.equal(await condition.end(), 0)

  await using creation = kubectl.follow('wait', '--for=create', 'cm/awaited', '--timeout=20s')
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'awaited' } }
  await kubectl.out('create', '-f', await kubectl.file('awaited.json', map))
  assert.equal(await creation.end(), 0)
  await using deletion = kubectl.follow('wait', '--for=delete', 'cm/awaited', '--timeout=20s')
  await kubectl.out('delete', 'cm', 'awaited')
  assert.equal(await deletion.end(), 0)
})

test('kubectl delete --cascade sets the finalizer that the propagation policy requires', async () => {
  const deleteWith = async (cascade: string, what: string): Promise<string> => {
    await kubectl.out('delete', what, `--cascade=${cascade}`, '--wait=false')
    return (await kubectl.run('get', what, '-o', 'jsonpath={.metadata.finalizers}')).out
  }
  assert.equal(await deleteWith('foreground', 'deploy/web'), '["foregroundDeletion"]')
  assert.equal(await deleteWith('orphan', 'svc/web'), '["orphan"]')
  assert.equal(await deleteWith('background', 'secret/key'), '')
  assert.match((await kubectl.run('get', 'secret/key')).err, /NotFound/)
})

test('kubectl delete --wait returns when the object no longer exists', async () => {
  const held = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'held', finalizers: ['keelson.test/hold'] },
  }
  await kubectl.out('create', '-f', await kubectl.file('held.json', held))
  await using waiting = kubectl.follow('delete', 'cm/held', '--wait', '--timeout=20s')
  await waiting.until(/deleted/)
  const left: { metadata: object } = JSON.parse(await kubectl.out('get', 'cm/held', '-o', 'json'))
  const freed = { ...left, metadata: { ...left.metadata, finalizers: [] } }
  await kubectl.out('replace', '-f', await kubectl.file('freed.json', freed))
  assert.equal(await waiting.end(), 0)

  assert.equal(
    await kubectl.out('delete', 'pod', 'web-1', '--wait', '--timeout=20s'),
    'pod "web-1" deleted\n',
  )
  const several = await kubectl.out('delete', 'lease,sa', '--all')
  assert.equal(
    several,
    'lease.coordination.k8s.io "leader" deleted\nserviceaccount "robot" deleted\n',
  )
  const dry = await kubectl.out('delete', 'event', 'it-happened', '--dry-run=server')
  assert.equal(dry, 'event "it-happened" deleted (server dry run)\n')
  assert.equal(await kubectl.out('get', 'events', '-o', 'name'), 'event/it-happened\n')
})

test('a namespace is deleted after it is finalized', async () => {
  await using waiting = kubectl.follow('delete', 'ns', 'shop', '--timeout=20s')
  await waiting.until(/deleted/)
  const space: { spec: object } = JSON.parse(await kubectl.out('get', 'ns', 'shop', '-o', 'json'))
  const path = await kubectl.file('finalized.json', { ...space, spec: {} })
  await kubectl.out('replace', '--raw', '/api/v1/namespaces/shop/finalize', '-f', path)
  assert.equal(await waiting.end(), 0)
  assert.equal(
    (await kubectl.run('get', 'ns', 'shop')).err,
    'Error from server (NotFound): namespaces "shop" not found\n',
  )
})
