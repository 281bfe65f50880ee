/**
 * Tests that the real kubectl works with our OpenAPI documents. kubectl explains kinds with OpenAPI
 * v3, and validates objects with either version of OpenAPI.
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
  kubectl = await kubectlFor(server, { namespace: 'default' })
})

after(async () => {
  await kubectl[Symbol.asyncDispose]()
  await server.stop()
  await etcd[Symbol.asyncDispose]()
})

test('kubectl explain shows the description, the type and the allowed values of fields', async () => {
  const containers = await kubectl.out('explain', 'pod.spec.containers')
  assert.match(containers, /^KIND: +Pod\nVERSION: +v1\n\nFIELD: containers <\[\]Container>\n/)
  assert.match(containers, /\n {2}name\t<string> -required-\n {4}The name of the container/)
  assert.match(
    containers,
    /\n {2}imagePullPolicy\t<string>\n {2}enum: Always, IfNotPresent, Never\n {4}When the image/,
  )
  assert.doesNotMatch(containers, /<no description>|<empty>/)

  const deployment = await kubectl.out('explain', 'deployment', '--recursive')
  assert.match(
    deployment,
    /^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nDESCRIPTION:\n {4}Keeps a number of identical pods/,
  )
  assert.match(
    deployment,
    /\n {6}rollingUpdate\t<RollingUpdateDeployment>\n {8}maxSurge\t<IntOrString>\n/,
  )
})

test('every field of the most common kinds has a description', async () => {
  const paths = [
    'pod',
    'pod.spec',
    'pod.status',
    'deployment.spec',
    'replicaset.spec',
    'statefulset.spec',
    'daemonset.spec',
  ]
  const others = [
    'job.spec',
    'cronjob.spec',
    'service.spec',
    'ingress.spec',
    'configmap',
    'secret',
    'namespace',
    'node.spec',
  ]
  const last = ['node.status', 'pvc.spec', 'serviceaccount', 'hpa.spec', 'pod.metadata', 'crd.spec']
  for (const path of [...paths, ...others, ...last]) {
    const missing = /.*\n *<no description>/.exec(await kubectl.out('explain', path))?.[0]
    assert.equal(missing, undefined, path)
  }
})

test('kubectl explain also works with version 2 of the OpenAPI document, in protobuf', async () => {
  const pod = await kubectl.out('explain', 'pod.spec', '--output=plaintext-openapiv2')
  assert.match(pod, /^KIND: +Pod\nVERSION: +v1\n\nRESOURCE: spec <Object>\n/)
  assert.match(pod, /\n {3}containers\t<\[\]Object> -required-\n {5}The containers of the pod\./)
})

test('kubectl --validate determines whether an unknown field is rejected, reported or ignored', async () => {
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typo}\ndate: {a: b}\n'
  const file = await kubectl.file('typo.yaml', text)
  const create = (validate: string) =>
    kubectl.run('create', `--validate=${validate}`, '--dry-run=server', '-f', file)
  for (const validate of ['strict', 'true']) {
    const { code, err } = await create(validate)
    assert.equal(code, 1)
    assert.match(err, /strict decoding error: unknown field "date"\n$/)
  }
  const created = 'configmap/typo created (server dry run)\n'
  assert.deepEqual(await create('warn'), {
    code: 0,
    out: created,
    err: 'Warning: unknown field "date"\n',
  })
  assert.deepEqual(await create('ignore'), { code: 0, out: created, err: '' })
})

test('kubectl apply works without further flags', async () => {
  const file = await kubectl.file(
    'good.yaml',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\ndata: {a: b}\n',
  )
  assert.equal(
    await kubectl.out('apply', '--dry-run=server', '-f', file),
    'configmap/good created (server dry run)\n',
  )
  assert.equal(await kubectl.out('apply', '-f', file), 'configmap/good created\n')
  assert.equal(await kubectl.out('diff', '-f', file), '')
})

test('a custom kind can be explained once it is defined', async () => {
  const schema = {
    type: 'object',
    description: 'A thing that turns.',
    properties: {
      spec: {
        type: 'object',
        properties: { size: { type: 'integer', description: 'How large.' } },
      },
    },
  }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'wheels.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'wheels', singular: 'wheel', kind: 'Wheel', listKind: 'WheelList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }
  await kubectl.out('create', '-f', await kubectl.file('wheels.json', definition))
  await kubectl.out('wait', '--for=condition=Established', 'crd/wheels.example.com')
  const wheel = await kubectl.out('explain', 'wheel')
  assert.match(wheel, /DESCRIPTION:\n {4}A thing that turns\./)
  // Kubernetes' conformance tests search for these words in the output of `kubectl explain`, for
  // custom and built-in kinds.
  for (const text of [wheel, await kubectl.out('explain', 'pod')])
    assert.match(text, /\n {2}apiVersion\t<string>\n {4}APIVersion defines /)
  assert.match(await kubectl.out('explain', 'wheel.spec'), /\n {2}size\t<integer>\n {4}How large\./)
})
