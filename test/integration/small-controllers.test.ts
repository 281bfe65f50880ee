/**
 * Tests small controllers inside the server: finished Jobs, volumes and claims in use, bootstrap
 * tokens, and type checks of policies.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bits,
  context,
  integer,
  objectId,
  pem,
  sequence,
  set,
  text as derText,
} from '../../src/lib/x509/der.ts'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer([
    '--controllers=*,token-cleaner-controller',
    '--authorization-mode=RBAC',
  ])
  client = clients['HTTP/2']?.(server.url) ?? assert.fail()
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function read(path: string) {
  const { status, text } = await client.call({ path })
  return status === 200 ? JSON.parse(text) : undefined
}

async function post(path: string, body: object): Promise<void> {
  const { status, text } = await client.call({ method: 'POST', path, body })
  assert.equal(status, 201, text)
}

const remove = (path: string, body?: object) => client.call({ method: 'DELETE', path, body })

async function patch(path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const { status, text } = await client.call({ method: 'PATCH', path, headers, body })
  assert.equal(status, 200, text)
}

async function untilGone(path: string): Promise<void> {
  await until(async () => (await read(path)) === undefined, `${path} is gone`)
}

const second = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z/, 'Z')

const TTL_S = 2

test('a finished Job is deleted after its time to live', async () => {
  const jobs = '/apis/batch/v1/namespaces/default/jobs'
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
  await post(jobs, { metadata: { name: 'j' }, spec: { template, ttlSecondsAfterFinished: TTL_S } })
  await post(jobs, { metadata: { name: 'stays' }, spec: { template } })
  const nowMs = Date.now()
  const now = second(nowMs)
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: now,
  }))
  const status = { startTime: now, completionTime: now, conditions, succeeded: 1 }
  for (const name of ['j', 'stays']) await patch(`${jobs}/${name}/status`, { status })
  await untilGone(`${jobs}/j`)
  // The time to live of the Job starts at the beginning of the second in which the Job finished.
  assert.ok(Date.now() - Math.floor(nowMs / 1000) * 1000 >= TTL_S * 1000, 'not before')
  assert.ok(await read(`${jobs}/stays`))
})

test('a claim that a pod uses is deleted only after the pod', async () => {
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
  const pods = '/api/v1/namespaces/default/pods'
  const resources = { requests: { storage: '1Gi' } }
  for (const name of ['used', 'free']) {
    await post(claims, {
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources, storageClassName: '' },
    })
  }
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'used' } }]
  await post(pods, {
    metadata: { name: 'p' },
    spec: { nodeName: 'n', volumes, containers: [{ name: 'c', image: 'i' }] },
  })
  await remove(`${claims}/used`)
  await remove(`${claims}/free`)
  await untilGone(`${claims}/free`)
  assert.deepEqual((await read(`${claims}/used`)).metadata.finalizers, [
    'kubernetes.io/pvc-protection',
  ])
  await remove(`${pods}/p`, { gracePeriodSeconds: 0 })
  await untilGone(`${claims}/used`)
})

test('a bound volume is deleted only after its phase is no longer Bound', async () => {
  const volumes = '/api/v1/persistentvolumes'
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/d' },
  }
  await post(volumes, { metadata: { name: 'bound' }, spec })
  await patch(`${volumes}/bound/status`, { status: { phase: 'Bound' } })
  await remove(`${volumes}/bound`)
  await sleep(500)
  assert.ok(await read(`${volumes}/bound`))
  await patch(`${volumes}/bound/status`, { status: { phase: 'Released' } })
  await untilGone(`${volumes}/bound`)
})

const token = (id: string, expiration?: string) => ({
  metadata: { name: `bootstrap-token-${id}` },
  type: 'bootstrap.kubernetes.io/token',
  stringData: {
    'token-id': id,
    'token-secret': '0123456789abcdef',
    ...(expiration === undefined ? {} : { expiration }),
  },
})

test('a bootstrap token is deleted when it has expired', async () => {
  const secrets = '/api/v1/namespaces/kube-system/secrets'
  await post(secrets, token('aaaaaa', second(Date.now() + 2_000)))
  await post(secrets, token('bbbbbb'))
  assert.ok(await read(`${secrets}/bootstrap-token-aaaaaa`))
  await untilGone(`${secrets}/bootstrap-token-aaaaaa`)
  assert.ok(await read(`${secrets}/bootstrap-token-bbbbbb`))
})

const part = (id: number, value: string): Buffer =>
  set(sequence(objectId([2, 5, 4, id]), derText(value)))

function kubeletRequest(): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = sequence(part(10, 'system:nodes'), part(3, 'system:node:n'))
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const info = sequence(integer(Buffer.from([0])), subject, key, context(0, Buffer.alloc(0)))
  const algorithm = sequence(objectId([1, 2, 840, 10045, 4, 3, 2]))
  const whole = sequence(info, algorithm, bits(sign('sha256', info, privateKey)))
  return Buffer.from(pem('CERTIFICATE REQUEST', whole)).toString('base64')
}

test('a certificate request of a kubelet is approved as soon as the kubelet gets the required permission', async () => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const bind = (name: string, role: string): Promise<void> =>
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'joiner' }],
    })
  await bind('joins', 'system:node-bootstrapper')
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
  const spec = {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    request: kubeletRequest(),
    usages: ['digital signature', 'client auth'],
  }
  const headers = { 'impersonate-user': 'joiner' }
  const body = { metadata: { name: 'early' }, spec }
  const { status, text } = await client.call({ method: 'POST', path, headers, body })
  assert.equal(status, 201, text)
  const conditions = async () => (await read(`${path}/early`)).status.conditions
  await sleep(500)
  assert.equal(await conditions(), undefined)
  await bind('approved', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient')
  await until(async () => (await conditions()) !== undefined, 'the request is approved')
  assert.equal((await conditions())[0].type, 'Approved')
})

test('the server logs no warnings or errors while the tests of this file run', () =>
  assert.deepEqual(server.complaints, []))

test('the status of a policy contains the type errors of its expressions, and is updated when the expressions change', async () => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
  const rule = {
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    resources: ['deployments'],
    operations: ['CREATE'],
  }
  const spec = (expression: string) => ({
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression }],
  })
  const statusAt = async (generation: number) => {
    let policy = await read(`${path}/checked`)
    await until(async () => {
      policy = await read(`${path}/checked`)
      return policy.status?.observedGeneration === generation
    }, `generation ${generation} is checked`)
    return policy.status
  }
  await post(path, { metadata: { name: 'checked' }, spec: spec('object.spec.replicsa > 1') })
  const [{ fieldRef, warning }] = (await statusAt(1)).typeChecking.expressionWarnings
  assert.equal(fieldRef, 'spec.validations[0].expression')
  assert.match(warning, /apps\/v1, Kind=Deployment: ERROR: .*undefined field 'replicsa'/s)
  await patch(`${path}/checked`, { spec: spec('object.spec.replicas > 1') })
  assert.equal((await statusAt(2)).typeChecking?.expressionWarnings, undefined)
  assert.deepEqual(server.complaints, [])
})
