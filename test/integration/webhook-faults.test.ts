/**
 * Tests faulty webhooks of both types, over HTTP/1.1 and HTTP/2, with failurePolicy Fail and
 * Ignore. If failurePolicy Fail forbids an object, the object is not stored. No request waits
 * longer than the timeout. The server runs in a separate process. Its event loop must not be
 * blocked, and its memory use must stay limited.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiServerProcess } from '../support/harness/api-server.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import {
  badPatchNames,
  faultNames,
  HostileWebhook,
  type HostilePorts,
  oddityNames,
  pathOf,
} from '../chaos/hostile/hostile-webhook.ts'
import { type Inspector, inspect, residentBytes } from '../chaos/hostile/inspect.ts'
import { until } from '../support/harness/until.ts'
import { type Client, clients } from './support.ts'

/**
 * Timeouts in seconds: for webhooks that do not respond in time, and for those whose response is
 * expected.
 */
const SHORT_TIMEOUT = 1
const LONG_TIMEOUT = 10
/**
 * Additional time for a busy machine. The sum of this time and the short timeout is less than the
 * default timeout of 10 s.
 */
const MARGIN_MS = 8_000
/** Maximum CPU time of a tick of the server. A response of 4 MB is decoded in one tick. */
const TURN_MS_MAX = 600
/**
 * Maximum growth of the memory: twice the size of all responses that are being received, plus data
 * that has not been garbage-collected yet.
 */
const MEMORY_BYTES_MAX = 400 << 20

type Type = 'validating' | 'mutating'
const types: readonly Type[] = ['validating', 'mutating']
const policies = ['Fail', 'Ignore'] as const

const parts = new AsyncDisposableStack()
let server: ApiServerProcess
let client: Client
let inspector: Inspector
let memoryBytes = 0

type Way = {
  readonly fault: string
  readonly port: keyof HostilePorts
  readonly type: Type
  readonly policy: (typeof policies)[number]
}

/** Faults that do not depend on the path. Each of them has its own port. */
const ownPorts = ['silent', 'plain', 'window', 'streams'] as const

/**
 * Returns all combinations of port, webhook type and failurePolicy that are tested with a fault.
 */
function waysOf(fault: string): Way[] {
  const own = ownPorts.find((port) => port === fault)
  const ports: readonly (keyof HostilePorts)[] = own === undefined ? ['HTTP/1.1', 'HTTP/2'] : [own]
  return ports.flatMap((port) =>
    types.flatMap((type) => policies.map((policy) => ({ fault, port, type, policy }))),
  )
}

const nameOf = ({ fault, port, type, policy }: Way): string =>
  `${fault}-${port}-${type}-${policy}`.toLowerCase().replace(/[^a-z0-9]+/g, '-')

/**
 * Faults with which the webhook never sends a complete response. They are tested with the short
 * timeout.
 */
const endless: ReadonlySet<string> = new Set(['hangs', 'dribbles', 'silent', 'window', 'streams'])
const timeoutOf = ({ fault }: Way): number => (endless.has(fault) ? SHORT_TIMEOUT : LONG_TIMEOUT)

const rules = [
  { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
]

const webhookOf = (way: Way, { ports, caBundle }: HostileWebhook): object => ({
  name: `${nameOf(way)}.example.com`,
  clientConfig: { url: `https://127.0.0.1:${ports[way.port]}${pathOf(way.fault)}`, caBundle },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  objectSelector: { matchLabels: { hook: nameOf(way) } },
  timeoutSeconds: timeoutOf(way),
  failurePolicy: way.policy,
  rules,
})

const faults = [...faultNames, ...ownPorts]
const all = [...faults, ...oddityNames, ...badPatchNames]

before(async () => {
  const hostile = parts.use(await HostileWebhook.start())
  const etcd = parts.use(await startEtcd())
  const { NODE_OPTIONS } = process.env
  process.env['NODE_OPTIONS'] = '--inspect=127.0.0.1:0'
  server = parts.use(await startKeelson({ etcdUrl: etcd.clientUrl }))
  if (NODE_OPTIONS === undefined) delete process.env['NODE_OPTIONS']
  else process.env['NODE_OPTIONS'] = NODE_OPTIONS
  inspector = parts.use(await inspect(server.log))
  client = parts.use((clients['HTTP/2'] ?? assert.fail())(server.url))
  for (const type of types) {
    const ways = all.flatMap(waysOf).filter((way) => way.type === type)
    const webhooks = ways.map((way) => webhookOf(way, hostile))
    const path = `/apis/admissionregistration.k8s.io/v1/${type}webhookconfigurations`
    const made = await client.call({
      method: 'POST',
      path,
      body: { metadata: { name: 'hostile' }, webhooks },
    })
    assert.equal(made.status, 201, made.text)
  }
  const last = waysOf('plain').filter(({ policy }) => policy === 'Fail')
  for (const way of last) while ((await create(way)).status === 201) await sleep(50)
  memoryBytes = residentBytes(server.pid)
})

after(() => parts.disposeAsync())

let made = 0

type CreateOutcome = {
  readonly status: number
  readonly text: string
  readonly isStored: boolean
  readonly tookMs: number
}

async function create(way: Way): Promise<CreateOutcome> {
  const path = '/api/v1/namespaces/default/configmaps'
  const name = `${nameOf(way)}-${++made}`
  const startMs = performance.now()
  const { status, text } = await client.call({
    method: 'POST',
    path,
    body: { metadata: { name, labels: { hook: nameOf(way) } } },
  })
  const tookMs = performance.now() - startMs
  const { status: found } = await client.call({ path: `${path}/${name}` })
  return { status, text, isStored: found === 200, tookMs }
}

/**
 * Concurrently creates one object for each combination. Checks each result, and how much CPU time
 * and memory the server needed.
 */
async function createAll(
  ways: readonly Way[],
  check: (way: Way, created: CreateOutcome) => void,
): Promise<void> {
  await inspector.longestTurnMs()
  const created = await Promise.all(ways.map(create))
  const turnMs = await inspector.longestTurnMs()
  for (const [at, way] of ways.entries()) {
    const one = created[at] ?? assert.fail()
    check(way, one)
    assert.ok(one.tookMs < timeoutOf(way) * 1000 + MARGIN_MS, `the request took ${one.tookMs} ms`)
  }
  assert.ok(turnMs < TURN_MS_MAX, `a tick took ${turnMs} ms`)
  const grownBytes = residentBytes(server.pid) - memoryBytes
  assert.ok(grownBytes < MEMORY_BYTES_MAX, `the server holds ${grownBytes >> 20} MB more`)
}

for (const fault of faults) {
  test(
    `a webhook that ${fault} fails requests, or is ignored if its failurePolicy is Ignore`,
    { timeout: 120_000 },
    () =>
      createAll(waysOf(fault), (way, { status, text, isStored }) => {
        // If a response is oversized, the request fails even with `Ignore`, because the response
        // might contain a denial.
        const isIgnored = way.policy === 'Ignore' && fault !== 'floods'
        assert.equal(status, isIgnored ? 201 : 500, text)
        assert.equal(isStored, isIgnored)
        if (!isIgnored)
          assert.ok(text.includes(`failed calling webhook \\"${nameOf(way)}.example.com\\"`), text)
      }),
  )
}

for (const oddity of oddityNames) {
  test(`the response of a webhook that ${oddity} is accepted`, { timeout: 120_000 }, () =>
    createAll(waysOf(oddity), (_, { status, text, isStored }) => {
      assert.equal(status, 201, text)
      assert.ok(isStored)
    }),
  )
}

for (const fault of badPatchNames) {
  test(
    `a webhook that ${fault} fails requests even if its failurePolicy is Ignore`,
    { timeout: 120_000 },
    () =>
      createAll(
        waysOf(fault).filter(({ type }) => type === 'mutating'),
        (_, { status, text, isStored }) => {
          assert.equal(status, 500, text)
          assert.ok(!isStored)
        },
      ),
  )
}

/**
 * An expression with a nested loop over the data of a ConfigMap. Its cost grows quadratically with
 * the number of keys.
 */
const costly =
  'object.data.all(k, object.data.all(l, k != l || object.data[k] != object.data[l] || true))'

/**
 * Policies that exceed the cost budget: one with a single costly validation, and one with many
 * cheaper validations.
 */
const budgets = [
  { keys: 1_000, count: 1, message: 'operation cancelled: actual cost limit exceeded' },
  {
    keys: 240,
    count: 50,
    message:
      'validation failed due to running out of cost budget, no further validation rules will be run',
  },
]

for (const { keys, count, message } of budgets) {
  test(`a policy with ${count} validations that exceeds the cost budget is aborted`, {
    timeout: 120_000,
  }, async () => {
    const policyPath = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
    const bindingPath = `${policyPath.slice(0, -'ies'.length)}ybindings`
    for (const failurePolicy of policies) {
      const name = `costly-${keys}-${failurePolicy.toLowerCase()}`
      const matchConstraints = {
        resourceRules: rules,
        objectSelector: { matchLabels: { hook: name } },
      }
      const validations = Array.from({ length: count }, () => ({ expression: costly }))
      const spec = { failurePolicy, matchConstraints, validations }
      const binding = { policyName: name, validationActions: ['Deny'] }
      for (const [path, of] of [
        [policyPath, spec],
        [bindingPath, binding],
      ] as const) {
        const { status, text } = await client.call({
          method: 'POST',
          path,
          body: { metadata: { name }, spec: of },
        })
        assert.equal(status, 201, text)
      }
      const data = Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, 'v']))
      const post = (): Promise<{ readonly status: number; readonly text: string }> =>
        client.call({
          method: 'POST',
          path: '/api/v1/namespaces/default/configmaps',
          body: { metadata: { generateName: name, labels: { hook: name } }, data },
        })
      const isForbidding = async (): Promise<boolean> => (await post()).status !== 201
      if (failurePolicy === 'Fail') await until(isForbidding, 'the policy is in force')
      await inspector.longestTurnMs()
      const answers = await Promise.all(Array.from({ length: 4 }, post))
      const turnMs = await inspector.longestTurnMs()
      for (const { status, text } of answers) {
        assert.equal(status, failurePolicy === 'Fail' ? 422 : 201, text)
        if (failurePolicy === 'Fail') assert.ok(text.includes(message), text)
      }
      assert.ok(turnMs < TURN_MS_MAX, `a tick took ${turnMs} ms`)
    }
  })
}

test('the server logs no unexpected errors while the tests of this file run', () => {
  assert.doesNotMatch(server.log, /"level":(?:50|60)|unhandled/i)
})
