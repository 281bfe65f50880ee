/**
 * Tests the audit log of a whole server: which events are recorded, what they contain, and that
 * each event is recorded before the client receives its response.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Fields, fieldsOf, textOf } from '../../src/api/object.ts'
import { parseText } from '../../src/api/json-value.ts'
import { until } from '../support/harness/until.ts'
import { type Call, type Client, clients, startTestServer, type TestServer } from './support.ts'

const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
  - level: None
    users: ["system:apiserver"]
  - level: None
    nonResourceURLs: ["/livez*"]
  - level: RequestResponse
    resources: [{group: "", resources: ["configmaps"]}]
    omitManagedFields: true
  - level: Request
    resources: [{group: "", resources: ["secrets"]}]
    omitStages: [RequestReceived]
  - level: Metadata
`

const maps = '/api/v1/namespaces/default/configmaps'
let dir = ''
let server: TestServer
let client: Client

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-audit-'))
  await writeFile(join(dir, 'policy.yaml'), policy)
  server = await startTestServer([
    `--audit-policy-file=${join(dir, 'policy.yaml')}`,
    `--audit-log-path=${join(dir, 'logs', 'audit.log')}`,
  ])
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = made
})

after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
  assert.deepEqual(server.complaints, [])
})

let asked = 0

/** Sends a request and returns its events, which are recorded before the response arrives. */
async function audited(
  call: Call,
): Promise<{ readonly status: number; readonly events: readonly Fields[] }> {
  const id = `request-${++asked}`
  const { status } = await client.call({ ...call, headers: { 'audit-id': id, ...call.headers } })
  return { status, events: await eventsOf(id) }
}

async function eventsOf(id: string): Promise<readonly Fields[]> {
  const lines = (await readFile(join(dir, 'logs', 'audit.log'), 'utf8')).trimEnd().split('\n')
  return lines.map((line) => fieldsOf(parseText(line))).filter(({ auditID }) => auditID === id)
}

const stagesOf = (events: readonly Fields[]): readonly string[] =>
  events.map(({ stage }) => textOf(stage))

test('a read is recorded when it is received and when its response is complete', async () => {
  const headers = { 'user-agent': 'me', 'x-forwarded-for': '1.2.3.4, nobody, ::ffff:5.6.7.8' }
  const { events } = await audited({ path: '/api/v1/namespaces/default?a=%20b', headers })
  assert.deepEqual(stagesOf(events), ['RequestReceived', 'ResponseComplete'])
  const [received, complete] = events
  const { requestReceivedTimestamp, stageTimestamp, ...first } = received ?? {}
  assert.match(textOf(stageTimestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  assert.equal(stageTimestamp, requestReceivedTimestamp)
  const same = {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: `request-${asked}`,
    requestURI: '/api/v1/namespaces/default?a=%20b',
    verb: 'get',
    user: {
      username: 'admin',
      uid: 'admin-uid',
      groups: ['system:masters', 'system:authenticated'],
    },
    sourceIPs: ['1.2.3.4', '5.6.7.8', '127.0.0.1'],
    userAgent: 'me',
    objectRef: { resource: 'namespaces', namespace: 'default', name: 'default', apiVersion: 'v1' },
  }
  assert.deepEqual(first, { ...same, stage: 'RequestReceived' })
  const { requestReceivedTimestamp: again, stageTimestamp: _end, ...last } = complete ?? {}
  assert.equal(again, requestReceivedTimestamp)
  assert.deepEqual(last, {
    ...same,
    stage: 'ResponseComplete',
    responseStatus: { metadata: {}, code: 200 },
    annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
  })
})

test('the audit level determines which objects are recorded, always as JSON without managed fields', async () => {
  const body = { metadata: { name: 'a', uid: 'mine' }, data: { k: 'v' } }
  const accept = 'application/vnd.kubernetes.protobuf'
  const { status, events } = await audited({
    method: 'POST',
    path: maps,
    body,
    headers: { accept },
  })
  assert.equal(status, 201)
  const [received, complete] = events
  assert.deepEqual(received?.['objectRef'], {
    resource: 'configmaps',
    namespace: 'default',
    apiVersion: 'v1',
  })
  assert.deepEqual(complete?.['objectRef'], {
    resource: 'configmaps',
    namespace: 'default',
    name: 'a',
    uid: 'mine',
    apiVersion: 'v1',
  })
  assert.deepEqual(fieldsOf(complete?.['requestObject'])['data'], { k: 'v' })
  const shown = fieldsOf(complete?.['responseObject'])
  assert.deepEqual(shown['data'], { k: 'v' })
  assert.equal(fieldsOf(shown['metadata'])['managedFields'], undefined)
  const list = (await audited({ path: maps, headers: { accept } })).events.at(-1)
  assert.ok(Array.isArray(fieldsOf(list?.['responseObject'])['items']))
  const secret = { metadata: { name: 's' }, stringData: { k: 'hidden' } }
  const written = await audited({
    method: 'POST',
    path: '/api/v1/namespaces/default/secrets',
    body: secret,
  })
  assert.deepEqual(stagesOf(written.events), ['ResponseComplete'])
  assert.deepEqual(fieldsOf(written.events[0]?.['requestObject'])['data'], { k: 'aGlkZGVu' })
  assert.equal(written.events[0]?.['responseObject'], undefined)
})

const mergeType = { 'content-type': 'application/merge-patch+json' }

const patch = (body: string) =>
  audited({ method: 'PATCH', path: `${maps}/a`, body: Buffer.from(body), headers: mergeType })

test('a patch is recorded in the form in which it was sent', async () => {
  const merged = await patch('{ "data": {\n "k": "w" } }')
  assert.deepEqual(merged.events.at(-1)?.['requestObject'], { data: { k: 'w' } })
  const broken = await patch('{ "data"')
  assert.equal(broken.status, 400)
  assert.equal(broken.events.at(-1)?.['requestObject'], '{ "data"')
})

test('rejected requests are recorded in the audit log', async () => {
  const unknown = await audited({ path: maps, token: 'nobody' })
  assert.deepEqual([unknown.status, stagesOf(unknown.events)], [401, ['ResponseStarted']])
  assert.deepEqual(unknown.events[0]?.['user'], {})
  assert.equal(fieldsOf(unknown.events[0]?.['responseStatus'])['code'], 401)
  const forbidden = await audited({ path: maps, token: 'bob-token' })
  assert.equal(forbidden.status, 403)
  assert.equal(
    fieldsOf(forbidden.events.at(-1)?.['annotations'])['authorization.k8s.io/decision'],
    'forbid',
  )
  assert.equal(fieldsOf(forbidden.events.at(-1)?.['responseStatus'])['reason'], 'Forbidden')
  const timeout = await audited({ path: `${maps}?timeout=x` })
  assert.deepEqual([timeout.status, stagesOf(timeout.events)], [400, ['ResponseStarted']])
  assert.deepEqual((await audited({ path: '/livez' })).events, [])
})

test('an impersonated request is recorded with both users', async () => {
  const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'dev' }
  const { events } = await audited({ path: '/api/v1/nodes', headers })
  assert.equal(fieldsOf(events[0]?.['user'])['username'], 'admin')
  assert.equal(events[0]?.['impersonatedUser'], undefined)
  assert.deepEqual(events[1]?.['impersonatedUser'], {
    username: 'bob',
    groups: ['dev', 'system:authenticated'],
  })
})

test('a watch is recorded when it starts and when it ends', async () => {
  const headers = { 'audit-id': 'watching' }
  const lines = client.lines({ path: `${maps}?watch=true`, headers })
  await lines.next()
  await lines.return()
  const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete']
  await until(
    async () => (await eventsOf('watching')).length >= stages.length,
    'the end of a watch is recorded',
  )
  const events = await eventsOf('watching')
  assert.deepEqual(stagesOf(events), stages)
  assert.deepEqual(events[1]?.['responseStatus'], { metadata: {}, code: 200 })
  assert.equal(events[2]?.['responseObject'], undefined)
})

test('metrics count audit events, and count requests by audit level', async () => {
  const { text } = await client.call({ path: '/metrics' })
  assert.match(text, /^apiserver_audit_event_total [1-9]/m)
  assert.match(text, /^apiserver_audit_level_total\{level="Metadata"\} [1-9]/m)
  assert.match(text, /^apiserver_audit_requests_rejected_total 0$/m)
})
