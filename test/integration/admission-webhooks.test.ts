/**
 * Tests admission webhooks on a whole server, including webhooks that fail. An object is stored
 * only if all webhooks allow it, and no request waits longer than its timeout.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import { until } from '../support/harness/until.ts'
import { adminToken, type Client, clients, startTestServer, type TestServer } from './support.ts'

const { certificatePem: cert, keyPem: key } = createSelfSigned('hook', ['127.0.0.1'], Date.now())
const caBundle = Buffer.from(cert).toString('base64')
const configurations = '/apis/admissionregistration.k8s.io/v1'
const configMaps = '/api/v1/namespaces/default/configmaps'

/**
 * Maximum delay of a request by a webhook with a timeout of one second. It allows for a busy
 * machine, and is shorter than the default timeout of 10 s.
 */
const HELD_MS_MAX = 9_000
/** Maximum number of concurrent calls to one webhook. */
const CALLS_MAX = 256

type LabelledObject = { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }
type Review = {
  readonly apiVersion: string
  readonly request: {
    readonly uid: string
    readonly name: string
    readonly object?: LabelledObject
    readonly oldObject?: LabelledObject
  }
}
type Answer = (review: Review, response: ServerResponse) => void

const respond =
  (fields: object): Answer =>
  ({ apiVersion, request: { uid } }, response) => {
    const answered = {
      apiVersion,
      kind: 'AdmissionReview',
      response: { uid, allowed: true, ...fields },
    }
    response.end(JSON.stringify(answered))
  }

const patched = (path: string, value: unknown): Answer => {
  const patch = Buffer.from(JSON.stringify([{ op: 'add', path, value }])).toString('base64')
  return respond({ patchType: 'JSONPatch', patch })
}

/** Responses of the webhook server, by path. */
const answers = new Map<string, Answer>()
const asked: string[] = []

const hook: Server = createServer({ cert, key }, (request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => void pieces.push(piece))
  request.on('end', () => {
    const path = new URL(request.url ?? '/', 'https://hook').pathname
    const review: Review = JSON.parse(Buffer.concat(pieces).toString())
    asked.push(`${path} ${review.request.name}`)
    answers.get(path)?.(review, response)
  })
})

const parts = new AsyncDisposableStack()
let server: TestServer
let client: Client
let port = 0

before(async () => {
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  const address = hook.address()
  assert.ok(typeof address === 'object' && address !== null)
  port = address.port
  server = parts.use(await startTestServer(['--max-mutating-requests-inflight=1000']))
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = parts.use(made)
})

after(async () => {
  await parts.disposeAsync()
  hook.closeAllConnections()
  hook.close()
})

type HttpResult = { readonly status: number; readonly text: string }

const send = async (method: string, path: string, body?: object): Promise<HttpResult> =>
  client.call({ method, path, token: adminToken, ...(body === undefined ? {} : { body }) })

const rules = [
  { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
]

type WebhookCase = {
  readonly answer: Answer
  readonly type?: 'validating' | 'mutating'
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly timeoutSeconds?: number
  readonly rules?: readonly object[]
}

/**
 * Registers a webhook while `act` runs. The webhook matches objects that have its name as a label.
 */
async function hooked(
  name: string,
  { answer, type = 'validating', ...more }: WebhookCase,
  act: (create: () => Promise<HttpResult>) => Promise<void>,
): Promise<void> {
  answers.set(`/${name}`, answer)
  const webhook = {
    name: `${name}.example.com`,
    clientConfig: { url: `https://127.0.0.1:${port}/${name}`, caBundle },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    objectSelector: { matchLabels: { hook: name } },
    timeoutSeconds: 30,
    rules,
    ...more,
  }
  const path = `${configurations}/${type}webhookconfigurations`
  const made = await send('POST', path, { metadata: { name }, webhooks: [webhook] })
  assert.equal(made.status, 201, made.text)
  await act(() => send('POST', configMaps, { metadata: { name, labels: { hook: name } } }))
  await send('DELETE', `${path}/${name}`)
  await send('DELETE', `${configMaps}/${name}`)
}

test('the client receives the denial of a webhook, and nothing is stored', () =>
  hooked(
    'denies',
    { answer: respond({ allowed: false, status: { code: 403, message: 'no' } }) },
    async (create) => {
      const { status, text } = await create()
      assert.equal(status, 403)
      assert.match(text, /admission webhook \\"denies.example.com\\" denied the request: no/)
      assert.equal((await send('GET', `${configMaps}/denies`)).status, 404)
    },
  ))

test('the patch of a webhook is applied to the stored object', () => {
  const answer = patched('/data', { a: 'b' })
  return hooked('patches', { answer, type: 'mutating' }, async (create) => {
    assert.equal((await create()).status, 201)
    assert.match((await send('GET', `${configMaps}/patches`)).text, /"data":{"a":"b"}/)
  })
})

test('CVE-2021-25735: the old object of a node update is the stored one, regardless of the request body', () => {
  const seen: unknown[] = []
  const answer: Answer = (review, response) => {
    const { object, oldObject } = review.request
    seen.push([oldObject?.metadata.labels?.['zone'], object?.metadata.labels?.['zone']])
    respond({})(review, response)
  }
  const updates = [{ ...rules[0], operations: ['UPDATE'], resources: ['nodes', 'nodes/status'] }]
  return hooked('nodes', { answer, rules: updates }, async () => {
    const labels = { hook: 'nodes', zone: 'a' }
    await send('POST', '/api/v1/nodes', { metadata: { name: 'n', labels } })
    const node = JSON.parse((await send('GET', '/api/v1/nodes/n')).text)
    const changed = { ...node, metadata: { ...node.metadata, labels: { ...labels, zone: 'b' } } }
    assert.equal((await send('PUT', '/api/v1/nodes/n', changed)).status, 200)
    const stored = JSON.parse((await send('GET', '/api/v1/nodes/n')).text)
    const bold = { ...stored, metadata: { ...stored.metadata, labels: { ...labels, zone: 'c' } } }
    assert.equal((await send('PUT', '/api/v1/nodes/n/status', bold)).status, 200)
    await send('DELETE', '/api/v1/nodes/n')
    assert.deepEqual(seen, [
      ['a', 'b'],
      ['b', 'c'],
    ])
  })
})

test('the patch of a webhook is applied to an eviction', () => {
  const pods = '/api/v1/namespaces/default/pods'
  const evictions = [{ ...rules[0], resources: ['configmaps', 'pods/eviction'] }]
  const answer = patched('/deleteOptions', { dryRun: ['All'] })
  return hooked('evicts', { answer, type: 'mutating', rules: evictions }, async () => {
    await send('POST', '/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name: 'default' },
    })
    const made = await send('POST', pods, {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
    assert.equal(made.status, 201, made.text)
    const evict = (): Promise<HttpResult> =>
      send('POST', `${pods}/p/eviction`, { metadata: { name: 'p', labels: { hook: 'evicts' } } })
    const evicted = await evict()
    assert.equal(evicted.status, 201, evicted.text)
    assert.equal((await send('GET', `${pods}/p`)).status, 200, 'the eviction was a dry run')
    answers.set('/evicts', patched('/metadata/name', 'other'))
    const { status, text } = await evict()
    assert.equal(status, 400)
    assert.match(text, /name in URL does not match name in Eviction object/)
    answers.set('/evicts', patched('/deleteOptions', { preconditions: { uid: 'other' } }))
    assert.equal((await evict()).status, 409)
    answers.set('/evicts', respond({}))
    assert.equal((await evict()).status, 201)
    assert.equal((await send('GET', `${pods}/p`)).status, 404)
  })
})

test('a webhook cannot change the name of a Pod binding', () => {
  const pods = '/api/v1/namespaces/default/pods'
  const bindings = [{ ...rules[0], resources: ['configmaps', 'pods/binding'] }]
  return hooked(
    'binds',
    { answer: patched('/metadata/name', 'other'), type: 'mutating', rules: bindings },
    async () => {
      await send('POST', '/api/v1/namespaces/default/serviceaccounts', {
        metadata: { name: 'default' },
      })
      const spec = { containers: [{ name: 'c', image: 'i' }] }
      assert.equal((await send('POST', pods, { metadata: { name: 'bound' }, spec })).status, 201)
      const metadata = { name: 'bound', labels: { hook: 'binds' } }
      const { status, text } = await send('POST', `${pods}/bound/binding`, {
        metadata,
        target: { name: 'n' },
      })
      assert.equal(status, 400)
      assert.match(text, /name in URL does not match name in Binding object/)
    },
  )
})

test('a deletecollection keeps an object that is created again after the collection was listed', async () => {
  // When the first object is deleted, its webhook deletes the second object and creates it again.
  const again = { metadata: { name: 'recreated-b' } }
  const recreate = async (): Promise<void> => {
    await send('DELETE', `${configMaps}/recreated-b`)
    await send('POST', configMaps, again)
  }
  const answer: Answer = (review, response) =>
    void recreate().then(() => respond({})(review, response))
  const deletes = [{ ...rules[0], operations: ['DELETE'] }]
  await hooked('recreates', { answer, rules: deletes }, async () => {
    const kept = { metadata: { ...again.metadata, labels: { group: 'recreated' } } }
    const labels = { group: 'recreated', hook: 'recreates' }
    await send('POST', configMaps, { metadata: { name: 'recreated-a', labels } })
    await send('POST', configMaps, kept)
    const { status, text } = await send('DELETE', `${configMaps}?labelSelector=group%3Drecreated`)
    assert.equal(status, 200)
    assert.match(text, /recreated-a.*recreated-b/)
    assert.equal((await send('GET', `${configMaps}/recreated-a`)).status, 404)
    assert.equal((await send('GET', `${configMaps}/recreated-b`)).status, 200)
    await send('DELETE', `${configMaps}/recreated-b`)
  })
})

const withBytes = (bytes: number): Answer => respond({ auditAnnotations: { a: 'x'.repeat(bytes) } })

test('a webhook response of 3 MB is accepted, and one of more than 4 MB is rejected', () => {
  return hooked('talks', { answer: withBytes(3 << 20) }, async (create) => {
    assert.equal((await create()).status, 201)
    await send('DELETE', `${configMaps}/talks`)
    answers.set('/talks', withBytes(4 << 20))
    const { status, text } = await create()
    assert.equal(status, 500)
    assert.match(text, /the response is too large/)
  })
})

const faults: Readonly<Record<string, Answer>> = {
  hangs: () => undefined,
  dribbles: (_, response) => {
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  },
  floods: (_, response) => void response.end(Buffer.alloc(64 << 20, ' ')),
  babbles: (_, response) => void response.end('{"kind":'),
  mistakes: respond({ uid: 'other' }),
  redirects: (_, response) =>
    void response.writeHead(302, { location: `https://127.0.0.1:${port}/allows` }).end(),
  resets: (_, response) => void response.destroy(),
}

for (const [name, answer] of Object.entries(faults)) {
  test(`a webhook that ${name} does not delay matching requests beyond its timeout`, async () => {
    await hooked(name, { answer, failurePolicy: 'Fail', timeoutSeconds: 1 }, async (create) => {
      const startMs = Date.now()
      const { status, text } = await create()
      assert.equal(status, 500, text)
      assert.ok(text.includes(`failed calling webhook \\"${name}.example.com`), text)
      assert.ok(Date.now() - startMs < HELD_MS_MAX, `${Date.now() - startMs} ms`)
      assert.equal((await send('GET', `${configMaps}/${name}`)).status, 404)
    })
    // If an oversized response arrives in time, the request fails even with `Ignore`, because the
    // response may contain a denial.
    const timeoutSeconds = name === 'floods' ? 20 : 1
    await hooked(
      `${name}-open`,
      { answer, failurePolicy: 'Ignore', timeoutSeconds },
      async (create) => {
        assert.equal((await create()).status, name === 'floods' ? 500 : 201)
      },
    )
  })
}

test('calls that exceed the concurrency limit of a webhook wait until other calls have ended', async () => {
  const held: (() => void)[] = []
  let isHeld = true
  const deny = respond({ allowed: false, status: { code: 403, message: 'no' } })
  const answer: Answer = (review, response) => {
    if (isHeld) held.push(() => deny(review, response))
    else deny(review, response)
  }
  await hooked(
    'crowded',
    { answer: respond({}), failurePolicy: 'Ignore', timeoutSeconds: 30 },
    async () => {
      answers.set('/crowded', answer)
      // Use two connections, because a single connection does not allow enough concurrent requests.
      await using other = (clients['HTTP/2'] ?? assert.fail())(server.url)
      const denied = Promise.all(
        Array.from({ length: CALLS_MAX + 20 }, (_, at) => {
          const body = { metadata: { name: `crowded-${at}`, labels: { hook: 'crowded' } } }
          return (at % 2 === 0 ? client : other).call({
            method: 'POST',
            path: configMaps,
            token: adminToken,
            body,
          })
        }),
      )
      while (held.length < CALLS_MAX) await sleep(20)
      await sleep(100)
      assert.equal(held.length, CALLS_MAX, 'the others wait')
      isHeld = false
      for (const go of held) go()
      assert.deepEqual([...new Set((await denied).map(({ status }) => status))], [403])
    },
  )
})

test('a webhook that does not respond does not delay writes that it does not match', async () => {
  const unanswered: ServerResponse[] = []
  const answer: Answer = (_, response) => void unanswered.push(response)
  await hooked('dead', { answer, timeoutSeconds: 30 }, async (create) => {
    let isAnswered = false
    const held = create().finally(() => (isAnswered = true))
    for (let at = 0; at < 5; at++) {
      assert.equal(
        (await send('POST', configMaps, { metadata: { name: `free-${at}` } })).status,
        201,
      )
    }
    assert.ok(!isAnswered, 'the webhook call is still pending')
    await until(() => unanswered.length > 0, 'the webhook is called')
    for (const response of unanswered) response.destroy()
    assert.equal((await held).status, 500)
  })
})

const readMetrics = async (): Promise<string> => (await send('GET', '/metrics')).text

test('webhook calls are counted in metrics as long as the webhook exists', async () => {
  await hooked(
    'refuses',
    { answer: respond({ allowed: false, status: { code: 403 } }) },
    async (create) => {
      await create()
      assert.match(
        await readMetrics(),
        /apiserver_admission_webhook_rejection_count{error_type="no_error",name="refuses.example.com",operation="CREATE",rejection_code="403",type="validating"} 1\n/,
      )
    },
  )
  await hooked(
    'opens',
    { answer: (_review, response) => void response.socket?.destroy(), failurePolicy: 'Ignore' },
    async (create) => {
      await create()
      assert.match(
        await readMetrics(),
        /apiserver_admission_webhook_fail_open_count{name="opens.example.com",type="validating"} 1\n/,
      )
    },
  )
  assert.doesNotMatch(await readMetrics(), /(refuses|opens)\.example\.com/)
})
