/**
 * Tests priority and fairness on a whole server: which requests wait, which are rejected, and how
 * metrics and debug pages show them.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Fields, fieldsOf, type KubeObject } from '../../src/api/object.ts'
import type { Handler } from '../../src/api/request.ts'
import { flowControlObjects } from '../../src/controllers/bootstrap-flow-control.ts'
import { keepFlowControl } from '../../src/controllers/kept-flow-control.ts'
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  field,
  frame,
  headersFrame,
  RawHttp2,
  requestFields,
} from '../support/harness/raw-http2.ts'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

const flow = '/apis/flowcontrol.apiserver.k8s.io/v1'
const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const bob = 'bob-token'

let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer(['--feature-gates=WatchList=true'])
  client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  await until(
    async () =>
      (await metric('nominal_limit_seats', 'priority_level="global-default"')) !== undefined,
    'levels',
  )
})

after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function metric(name: string, labels: string): Promise<number | undefined> {
  const { text } = await client.call({ path: '/metrics' })
  const line = text
    .split('\n')
    .find((one) => one.startsWith(`apiserver_flowcontrol_${name}{`) && one.includes(labels))
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')))
}

async function make(path: string, body: Fields): Promise<Fields> {
  const { status, text } = await client.call({ method: 'POST', path, body })
  assert.equal(status, 201, text)
  return JSON.parse(text)
}

/** Creates a priority level that applies only to access reviews by bob. */
async function level(name: string, limited: Fields): Promise<AsyncDisposable> {
  const apiVersion = 'flowcontrol.apiserver.k8s.io/v1'
  const metadata = { name }
  await make(`${flow}/prioritylevelconfigurations`, {
    apiVersion,
    kind: 'PriorityLevelConfiguration',
    metadata,
    spec: { type: 'Limited', limited },
  })
  const resourceRules = [
    { verbs: ['*'], apiGroups: ['authentication.k8s.io'], resources: ['*'], clusterScope: true },
  ]
  await make(`${flow}/flowschemas`, {
    apiVersion,
    kind: 'FlowSchema',
    metadata,
    spec: {
      matchingPrecedence: 10,
      priorityLevelConfiguration: { name },
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: [{ kind: 'User', user: { name: 'bob' } }], resourceRules }],
    },
  })
  const labels = `flow_schema="${name}",priority_level="${name}"`
  await until(async () => {
    await client.call({ method: 'POST', path: review, body: {}, token: bob })
    return ((await metric('dispatched_requests_total', labels)) ?? 0) > 0
  }, 'bob falls under the level')
  return {
    [Symbol.asyncDispose]: async () => {
      await client.call({ method: 'DELETE', path: `${flow}/flowschemas/${name}` })
      await client.call({ method: 'DELETE', path: `${flow}/prioritylevelconfigurations/${name}` })
    },
  }
}

/** Starts a request that occupies its seats until the returned function sends its body. */
async function hold(raw: RawHttp2, stream: number): Promise<() => Promise<void>> {
  const fields = [
    field('authorization', `Bearer ${bob}`),
    field('content-type', 'application/json'),
  ]
  await raw.send(headersFrame(stream, requestFields('POST', review, ...fields), END_HEADERS))
  return async () => raw.send(frame(FRAME.DATA, END_STREAM, stream, Buffer.from('{}')))
}

const ask = (path = review) => client.call({ method: 'POST', path, body: {}, token: bob })

test('a priority level without queues rejects requests when no seat is free', async () => {
  await using _ = await level('rejecting', {
    nominalConcurrencyShares: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Reject' },
  })
  using raw = await RawHttp2.open(Number(new URL(server.url).port))
  const release = await hold(raw, 1)
  const executing = 'flow_schema="rejecting",priority_level="rejecting"'
  await until(
    async () => (await metric('current_executing_requests', executing)) === 1,
    'the first request has its seat',
  )
  const refused = await ask()
  assert.equal(refused.status, 429)
  assert.equal(refused.text, 'Too many requests, please try again later.\n')
  assert.match(refused.headers['content-type'] ?? '', /^text\/plain/)
  assert.equal(refused.headers['retry-after'], '1')
  assert.ok(refused.headers['x-kubernetes-pf-flowschema-uid'])
  assert.ok(refused.headers['x-kubernetes-pf-prioritylevel-uid'])
  const reason = `${executing},reason="concurrency-limit"`
  assert.equal(await metric('rejected_requests_total', reason), 1)
  assert.equal(
    (await client.call({ method: 'POST', path: review, body: {} })).status,
    201,
    'another level',
  )
  await release()
  await until(async () => (await ask()).status === 201, 'the seat is free again')
})

test('requests wait in queues until a seat is free or their timeout expires, and full queues reject further requests', async () => {
  await using _ = await level('queuing', {
    nominalConcurrencyShares: 1,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 2 } },
  })
  const labels = 'flow_schema="queuing",priority_level="queuing"'
  const seats = (await metric('nominal_limit_seats', 'priority_level="queuing"')) ?? 0
  assert.ok(seats >= 1 && seats <= 5, `${seats}`)
  using raw = await RawHttp2.open(Number(new URL(server.url).port))
  const releases = await Promise.all(
    Array.from({ length: seats }, (__, at) => hold(raw, 1 + 2 * at)),
  )
  await until(
    async () => (await metric('current_executing_seats', labels)) === seats,
    'all seats are taken',
  )

  const late = await ask(`${review}?timeout=400ms`)
  assert.equal(late.status, 429, 'a quarter of its time is over')
  assert.equal(await metric('rejected_requests_total', `${labels},reason="time-out"`), 1)

  const waiting = [ask(), ask()]
  await until(
    async () => (await metric('current_inqueue_requests', labels)) === 2,
    'two requests wait',
  )
  assert.equal((await ask()).status, 429)
  assert.equal(await metric('rejected_requests_total', `${labels},reason="queue-full"`), 1)

  const dumped = await client.call({
    path: '/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1',
  })
  assert.match(
    dumped.text,
    /^queuing, +queuing, +0, +1, +, +20\S+Z, +1, +0, +0s, +0001-01-01T00:00:00Z, +bob, +create,/m,
  )
  const queues = await client.call({ path: '/debug/api_priority_and_fairness/dump_queues' })
  assert.match(queues.text, new RegExp(`^queuing, +0, +2, +${seats}, +${seats}, `, 'm'))
  const levels = await client.call({
    path: '/debug/api_priority_and_fairness/dump_priority_levels',
  })
  assert.match(levels.text, new RegExp(`^queuing, +1, +false, +false, +2, +${seats}, `, 'm'))

  const [first] = releases
  await first?.()
  assert.deepEqual(await Promise.all(waiting.map(async (one) => (await one).status)), [201, 201])
  for (const release of releases.slice(1)) await release()
})

test('when a client disconnects, its waiting request leaves the queue', async () => {
  await using _ = await level('leaving', {
    nominalConcurrencyShares: 1,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 5 } },
  })
  const labels = 'flow_schema="leaving",priority_level="leaving"'
  const seats = (await metric('nominal_limit_seats', 'priority_level="leaving"')) ?? 0
  {
    using raw = await RawHttp2.open(Number(new URL(server.url).port))
    for (let at = 0; at < seats; at++) await hold(raw, 1 + 2 * at)
    await until(
      async () => (await metric('current_executing_seats', labels)) === seats,
      'all seats are taken',
    )
    {
      using gone = await RawHttp2.open(Number(new URL(server.url).port))
      await hold(gone, 1)
      await until(
        async () => (await metric('current_inqueue_requests', labels)) === 1,
        'the request waits',
      )
    }
    await until(
      async () => (await metric('current_inqueue_requests', labels)) === 0,
      'the request has left',
    )
  }
  await until(async () => (await ask()).status === 201, 'the seats are free again')
})

test('a watch releases its seat when it has started, and increases the estimated number of seats of a write', async () => {
  const labels = 'flow_schema="global-default",priority_level="global-default"'
  const counted = (await metric('request_execution_seconds_count', `${labels},type="watch"`)) ?? 0
  const granted = { method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings' }
  await client.call({
    ...granted,
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'bob' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'cluster-admin',
      },
      subjects: [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }],
    },
  })
  const maps = '/api/v1/namespaces/default/configmaps'
  const streaming =
    '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const watches = Array.from({ length: 20 }, (_, at) =>
    client.lines({ path: `${maps}?watch=1${at % 2 === 0 ? '' : streaming}`, token: bob }),
  )
  const started = watches.map((watch) => watch.next())
  await until(
    async () =>
      ((await metric('request_execution_seconds_count', `${labels},type="watch"`)) ?? 0) >=
      counted + 20,
    'all watches have started',
  )
  await until(
    async () => (await metric('current_executing_seats', labels)) === 0,
    'no seat is taken',
  )
  const made = await client.call({
    method: 'POST',
    path: maps,
    token: bob,
    body: { metadata: { name: 'wide' } },
  })
  assert.equal(made.status, 201, made.text)
  assert.equal(await metric('watch_count_samples_sum', labels), 20)
  await Promise.all(started)
  await Promise.all(watches.map((watch) => watch.return()))
})

/**
 * Handles the requests that the server sends to itself. Sends them over HTTPS, like an ordinary
 * client.
 */
const handle: Handler = async ({ method, path, query, body, headers }) => {
  const bytes = await body()
  const { status, text } = await client.call({
    method,
    path: `${path}?${query.toString()}`,
    headers: { 'content-type': headers['content-type'] ?? '' },
    ...(bytes.length > 0 ? { body: JSON.parse(bytes.toString()) } : {}),
  })
  return { status, headers: {}, body: Buffer.from(text) }
}

const keep = (): Promise<void> =>
  keepFlowControl(handle, flowControlObjects(33), new AbortController().signal)

async function read(path: string): Promise<KubeObject> {
  const { text } = await client.call({ path: `${flow}/${path}` })
  return JSON.parse(text)
}

const precedence = async (path: string): Promise<unknown> =>
  fieldsOf((await read(path)).spec)['matchingPrecedence']

async function change(path: string, patch: Fields): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const { status, text } = await client.call({
    method: 'PATCH',
    path: `${flow}/${path}`,
    body: patch,
    headers,
  })
  assert.equal(status, 200, text)
}

test('built-in flow schemas and priority levels are maintained as in kube-apiserver', async () => {
  const all = async (): Promise<string[]> => {
    const { text } = await client.call({ path: `${flow}/flowschemas` })
    const levels = await client.call({ path: `${flow}/prioritylevelconfigurations` })
    const items: KubeObject[] = [...JSON.parse(text).items, ...JSON.parse(levels.text).items]
    return items.map(
      ({ metadata }) =>
        `${metadata.name} ${metadata.generation} ${metadata.annotations?.[autoUpdate]}`,
    )
  }
  const autoUpdate = 'apf.kubernetes.io/autoupdate-spec'
  const first = await all()
  await keep()
  assert.deepEqual(await all(), first, 'correct objects are not written')

  await client.call({ method: 'DELETE', path: `${flow}/flowschemas/catch-all` })
  await client.call({ method: 'DELETE', path: `${flow}/prioritylevelconfigurations/workload-low` })
  await change('flowschemas/probes', { spec: { matchingPrecedence: 3 } })
  await change('flowschemas/system-nodes', {
    spec: { matchingPrecedence: 499 },
    metadata: { annotations: { [autoUpdate]: 'false' } },
  })
  await change('prioritylevelconfigurations/exempt', {
    spec: { exempt: { nominalConcurrencyShares: 7 } },
  })
  await change('flowschemas/exempt', { metadata: { annotations: { [autoUpdate]: 'false' } } })
  const old = {
    ...(await read('flowschemas/probes')),
    metadata: { name: 'old', annotations: { [autoUpdate]: 'true' } },
  }
  await make(`${flow}/flowschemas`, old)
  await keep()
  assert.equal(await precedence('flowschemas/catch-all'), 10_000)
  assert.equal(
    (await read('prioritylevelconfigurations/workload-low')).kind,
    'PriorityLevelConfiguration',
  )
  assert.equal(await precedence('flowschemas/probes'), 2)
  assert.equal(await precedence('flowschemas/system-nodes'), 499, 'an operator maintains it')
  const spec = fieldsOf((await read('prioritylevelconfigurations/exempt')).spec)
  assert.deepEqual(
    spec['exempt'],
    { nominalConcurrencyShares: 7, lendablePercent: 0 },
    'operators may choose this field',
  )
  assert.equal((await read('flowschemas/exempt')).metadata.annotations?.[autoUpdate], 'true')
  assert.equal(
    (await read('flowschemas/old')).kind,
    'Status',
    'an object of another release is deleted',
  )
})
