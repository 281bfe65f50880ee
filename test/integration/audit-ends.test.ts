/**
 * Tests the audit events of requests without an ordinary response: they time out, exceed a limit,
 * or trigger an internal error.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { randomIds } from '../../src/api/ids.ts'
import { parseText } from '../../src/api/json-value.ts'
import { type Fields, fieldsOf } from '../../src/api/object.ts'
import { type Call, type Client, clients, startTestServer, type TestServer } from './support.ts'

const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }
const maps = '/api/v1/namespaces/default/configmaps'
const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'

let dir = ''
let server: TestServer
let client: Client
let nameSuffix = randomIds.nameSuffix

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-audit-ends-'))
  await writeFile(join(dir, 'policy.json'), JSON.stringify(policy))
  const flags = [
    `--audit-policy-file=${join(dir, 'policy.json')}`,
    `--audit-log-path=${join(dir, 'audit.log')}`,
    '--enable-priority-and-fairness=false',
    '--max-requests-inflight=1',
    '--feature-gates=AllowUnsafeMalformedObjectDeletion=true',
  ]
  server = await startTestServer(flags, { ids: { ...randomIds, nameSuffix: () => nameSuffix() } })
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = made
})

after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

async function ended(
  id: string,
  call: Call,
): Promise<{ readonly status: number; readonly events: readonly Fields[] }> {
  const { status } = await client.call({ ...call, headers: { 'audit-id': id } })
  const lines = (await readFile(join(dir, 'audit.log'), 'utf8')).trimEnd().split('\n')
  return {
    status,
    events: lines.map((line) => fieldsOf(parseText(line))).filter(({ auditID }) => auditID === id),
  }
}

const statusOf = (event: Fields | undefined): Fields => fieldsOf(event?.['responseStatus'])

test('a request that times out is recorded with status 504 and its latencies', async () => {
  server.pauseEtcd()
  try {
    const { status, events } = await ended('late', { path: `${maps}?timeout=600ms` })
    assert.equal(status, 504)
    assert.deepEqual(
      events.map(({ stage }) => stage),
      ['RequestReceived', 'ResponseComplete'],
    )
    const { code, reason } = statusOf(events[1])
    assert.deepEqual([code, reason], [504, 'Timeout'])
    const annotations = fieldsOf(events[1]?.['annotations'])
    const names = ['authentication', 'authorization', 'total'].map(
      (name) => `apiserver.latency.k8s.io/${name}`,
    )
    assert.deepEqual(
      Object.keys(annotations).filter((name) => name.startsWith('apiserver.latency')),
      names,
    )
  } finally {
    server.resumeEtcd()
  }
})

test('a request that exceeds the limit for requests in flight is recorded with status 429', async () => {
  const binding = {
    metadata: { name: 'bob' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
  }
  assert.equal((await client.call({ method: 'POST', path: bindings, body: binding })).status, 201)
  server.pauseEtcd()
  try {
    const first = client.call({ path: `${maps}?timeout=2s`, token: 'bob-token' })
    let tried = await ended('many-0', { path: `${maps}?timeout=100ms`, token: 'bob-token' })
    for (let tries = 1; tried.status !== 429 && tries < 20; tries++) {
      tried = await ended(`many-${tries}`, { path: `${maps}?timeout=100ms`, token: 'bob-token' })
    }
    assert.equal(tried.status, 429)
    assert.deepEqual(
      tried.events.map(({ stage, responseStatus }) => [stage, fieldsOf(responseStatus)['code']]),
      [
        ['RequestReceived', undefined],
        ['ResponseComplete', 429],
      ],
    )
    assert.equal((await first).status, 504)
  } finally {
    server.resumeEtcd()
  }
})

test('a request that fails with an internal error has an audit event with the stage Panic', async () => {
  nameSuffix = () => {
    throw new Error('no more of them')
  }
  const { status, events } = await ended('fault', {
    method: 'POST',
    path: maps,
    body: { metadata: { generateName: 'a' } },
  })
  nameSuffix = randomIds.nameSuffix
  assert.equal(status, 500)
  assert.deepEqual(
    events.map(({ stage }) => stage),
    ['RequestReceived', 'Panic'],
  )
  const { code, reason, message } = statusOf(events[1])
  assert.deepEqual(
    [code, reason, message],
    [500, 'InternalError', "APIServer panic'd: no more of them"],
  )
  assert.match(server.complaints.join('\n'), /a request failed.*no more of them/)
})

test('the audit event of an unsafe delete has an annotation', async () => {
  const body = { ignoreStoreReadErrorWithClusterBreakingPotential: true }
  const { events } = await ended('unsafe', { method: 'DELETE', path: `${maps}/a`, body })
  const annotations = fieldsOf(events.at(-1)?.['annotations'])
  assert.equal(annotations['apiserver.k8s.io/unsafe-delete-ignore-read-error'], '')
})
