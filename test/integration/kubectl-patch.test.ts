/**
 * Tests changes that the real kubectl makes: labels, annotations, patches of all types, edits, and
 * apply, which records its input in an annotation.
 */
import assert from 'node:assert/strict'
import { chmod } from 'node:fs/promises'
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
  kubectl = await kubectlFor(server, { namespace: 'default' })
})

after(async () => {
  await kubectl[Symbol.asyncDispose]()
  await server.stop()
  await etcd[Symbol.asyncDispose]()
})

/** Returns the value at a path in an object. */
const field = (object: string, path: string): Promise<string> =>
  kubectl.out('get', object, '-o', `jsonpath={${path}}`)

const containers = '.spec.template.spec.containers'

const deployment = (
  name: string,
  image = 'web:1',
  env = '[{name: A, value: "1"}, {name: B, value: "2"}]',
): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers:
      - name: web
        image: ${image}
        env: ${env}
`

test('kubectl label and kubectl annotate add, change and remove labels and annotations', async () => {
  await kubectl.out('create', 'configmap', 'marked', '--from-literal=a=1')
  await kubectl.out('label', 'configmap', 'marked', 'tier=one', 'side=left')
  const taken = await kubectl.run('label', 'configmap', 'marked', 'tier=two')
  assert.match(taken.err, /'tier' already has a value \(one\)/)
  await kubectl.out('label', '--overwrite', 'configmap', 'marked', 'tier=two', 'side-')
  assert.equal(await field('configmap/marked', '.metadata.labels'), '{"tier":"two"}')
  await kubectl.out('annotate', 'configmap', 'marked', 'note=some text')
  assert.equal(await field('configmap/marked', '.metadata.annotations.note'), 'some text')
  await kubectl.out('annotate', 'configmap', 'marked', 'note-')
  assert.equal(await field('configmap/marked', '.metadata.annotations'), '')
})

test('kubectl patch works with all three patch types', async () => {
  await kubectl.out('create', '-f', await kubectl.file('patched.yaml', deployment('patched')))
  const patch = (type: string, body: unknown): Promise<string> =>
    kubectl.out('patch', 'deployment', 'patched', `--type=${type}`, '-p', JSON.stringify(body))
  const spec = { containers: [{ name: 'web', env: [{ name: 'B', value: 'two' }] }] }
  await patch('strategic', { spec: { template: { spec } } })
  assert.equal(await field('deployment/patched', `${containers}[0].env[*].value`), '1 two')
  await patch('merge', { spec: { replicas: 5 }, metadata: { labels: { app: null } } })
  assert.equal(await field('deployment/patched', '.spec.replicas'), '5')
  assert.equal(await field('deployment/patched', '.metadata.labels'), '')
  const image = '/spec/template/spec/containers/0/image'
  await patch('json', [
    { op: 'test', path: image, value: 'web:1' },
    { op: 'replace', path: image, value: 'web:2' },
  ])
  assert.equal(await field('deployment/patched', `${containers}[0].image`), 'web:2')
  assert.match(await patch('merge', { spec: { replicas: 5 } }), /patched \(no change\)/)
  const failed = await kubectl.run(
    'patch',
    'deployment',
    'patched',
    '--type=json',
    '-p',
    '[{"op":"remove","path":"/no"}]',
  )
  assert.match(failed.err, /the server rejected our request due to an error in our request/)
  const missing = await kubectl.run('patch', 'deployment', 'nobody', '-p', '{}')
  assert.match(missing.err, /deployments.apps "nobody" not found/)
})

test('kubectl set image, set env and scale change a Deployment', async () => {
  await kubectl.out('create', '-f', await kubectl.file('set.yaml', deployment('set')))
  await kubectl.out('set', 'image', 'deployment/set', 'web=web:7')
  await kubectl.out('set', 'env', 'deployment/set', 'A-', 'C=3')
  assert.equal(await field('deployment/set', `${containers}[0].image`), 'web:7')
  assert.equal(await field('deployment/set', `${containers}[0].env[*].name`), 'B C')
  await kubectl.out('scale', 'deployment/set', '--replicas=4')
  assert.equal(await field('deployment/set', '.spec.replicas'), '4')
  const stale = await kubectl.run('scale', 'deployment/set', '--replicas=1', '--current-replicas=2')
  assert.match(stale.err, /Expected replicas to be 2, was 4/)
})

test('kubectl edit sends the changes that were made in the editor', async () => {
  await kubectl.out('create', 'configmap', 'edited', '--from-literal=a=1', '--from-literal=b=2')
  const editor = await kubectl.file(
    'editor',
    '#!/bin/sh\nsed -i -e \'s/a: "1"/a: edited/\' -e "/ b:/d" "$1"\n',
  )
  await chmod(editor, 0o700)
  assert.match(await kubectl.out('edit', 'configmap', 'edited'), /configmap\/edited edited/)
  assert.equal(await field('configmap/edited', '.data'), '{"a":"edited"}')
})

test('kubectl apply creates and changes fields, and removes fields that are no longer in its file', async () => {
  const first = await kubectl.file('first.yaml', deployment('applied'))
  assert.match(await kubectl.out('apply', '-f', first), /deployment.apps\/applied created/)
  assert.match(await kubectl.out('apply', '-f', first), /deployment.apps\/applied unchanged/)
  // Another client sets a label. `kubectl apply` must keep this label, and must change only the
  // fields of its own file.
  await kubectl.out('label', 'deployment/applied', 'owner=other')
  const changed = deployment('applied', 'web:2', '[{name: B, value: "2"}, {name: C, value: "3"}]')
  const second = await kubectl.file('second.yaml', changed)
  const diff = await kubectl.run('diff', '-f', second)
  assert.equal(diff.code, 1)
  assert.match(diff.out, /^-\s+image: web:1$/m)
  assert.match(diff.out, /^\+\s+image: web:2$/m)
  assert.equal(await field('deployment/applied', `${containers}[0].image`), 'web:1')
  assert.match(await kubectl.out('apply', '-f', second), /deployment.apps\/applied configured/)
  assert.equal(await field('deployment/applied', `${containers}[0].image`), 'web:2')
  assert.equal(await field('deployment/applied', `${containers}[0].env[*].name`), 'B C')
  assert.equal(
    await field('deployment/applied', '.metadata.labels'),
    '{"app":"web","owner":"other"}',
  )
  assert.equal((await kubectl.run('diff', '-f', second)).code, 0)
})

test('kubectl replace keeps the uid of the object, and replace --force deletes and recreates the object', async () => {
  const file = await kubectl.file('replaced.yaml', deployment('replaced'))
  await kubectl.out('create', '-f', file)
  const uid = await field('deployment/replaced', '.metadata.uid')
  await kubectl.out(
    'replace',
    '-f',
    await kubectl.file('other.yaml', deployment('replaced', 'web:3')),
  )
  assert.equal(await field('deployment/replaced', '.metadata.uid'), uid)
  assert.equal(await field('deployment/replaced', `${containers}[0].image`), 'web:3')
  await kubectl.run('replace', '--force', '--grace-period=0', '-f', file)
  assert.notEqual(await field('deployment/replaced', '.metadata.uid'), uid)
  assert.equal(await field('deployment/replaced', `${containers}[0].image`), 'web:1')
})
