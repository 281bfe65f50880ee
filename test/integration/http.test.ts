/** Tests a whole server over both versions of HTTP: objects, Status errors, lists and watches. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type Answer,
  type Call,
  type Client,
  clients,
  startTestServer,
  type TestServer,
} from './support.ts'

let server: TestServer

before(async () => {
  server = await startTestServer([
    '--strict-transport-security-directives=max-age=60,includeSubDomains',
  ])
})

after(async () => {
  const { complaints } = server
  await server[Symbol.asyncDispose]()
  assert.deepEqual(complaints, [])
})

const json = ({ text }: Answer) => JSON.parse(text)
/** Removes managed fields, because other tests cover them. */
const withoutOwners = (text: string): string => text.replace(/,"managedFields":\[.*?\}\}\]/, '')
const namesOf = (items: readonly { metadata: { name: string } }[]): string[] =>
  items.map(({ metadata }) => metadata.name)
const status = (message: string, reason: string, code: number, details?: object): string => {
  const head = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
  }
  return `${JSON.stringify({ ...head, ...(details === undefined ? {} : { details }), code })}\n`
}

for (const [version, connect] of Object.entries(clients)) {
  describe(version, () => {
    const space = version === 'HTTP/2' ? 'two' : 'one'
    const path = `/api/v1/namespaces/${space}/configmaps`
    let client: Client

    before(async () => {
      client = connect(server.url)
      await client.call({
        method: 'POST',
        path: '/api/v1/namespaces',
        body: { metadata: { name: space } },
      })
    })
    after(() => client[Symbol.asyncDispose]())

    const create = (name: string, more: object = {}): Promise<Answer> =>
      client.call({ method: 'POST', path, body: { metadata: { name }, ...more } })

    test('all kinds of responses have the Strict-Transport-Security header', async () => {
      for (const asked of [
        '/',
        '/healthz',
        '/apis',
        '/openapi/v2',
        '/api/v1/namespaces',
        '/nope',
        '/api/v1/nope',
      ]) {
        const { headers } = await client.call({ path: asked })
        assert.equal(headers['strict-transport-security'], 'max-age=60; includeSubDomains', asked)
      }
    })

    test('a ConfigMap can be created, read, replaced and deleted', async () => {
      const made = await create('life', { data: { b: '<&>\u2028', a: '1', '10': 'x' } })
      assert.equal(made.status, 201)
      assert.equal(made.headers['content-type'], 'application/json')
      assert.equal(made.headers['cache-control'], 'no-cache, private')
      assert.match(String(made.headers['audit-id']), /^[0-9a-f-]{36}$/)
      const { metadata } = json(made)
      const shown = (resourceVersion: string, data: string): string =>
        `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"life","namespace":"${space}","uid":"${metadata.uid}",` +
        `"resourceVersion":"${resourceVersion}","creationTimestamp":"${metadata.creationTimestamp}"},"data":${data}}\n`
      assert.equal(
        withoutOwners(made.text),
        shown(metadata.resourceVersion, '{"10":"x","a":"1","b":"\\u003c\\u0026\\u003e\\u2028"}'),
      )
      const read = await client.call({ path: `${path}/life` })
      assert.equal(read.text, made.text)

      const put = (body: object): Promise<Answer> =>
        client.call({ method: 'PUT', path: `${path}/life`, body })
      const replaced = await put({
        metadata: { name: 'life', resourceVersion: metadata.resourceVersion },
        data: { a: '2' },
      })
      assert.equal(replaced.status, 200)
      const newer = json(replaced).metadata.resourceVersion
      assert.ok(Number(newer) > Number(metadata.resourceVersion))
      assert.equal(withoutOwners(replaced.text), shown(newer, '{"a":"2"}'))

      const again = await put({ metadata: { name: 'life' }, data: { a: '2' } })
      assert.equal(again.text, replaced.text, 'an update that changes nothing writes nothing')

      const late = await put({
        metadata: { name: 'life', resourceVersion: metadata.resourceVersion },
      })
      assert.equal(late.status, 409)
      assert.match(
        json(late).message,
        /^Operation cannot be fulfilled on configmaps "life": the object has been modified/,
      )

      const removed = await client.call({ method: 'DELETE', path: `${path}/life` })
      assert.equal(removed.status, 200)
      const details = { name: 'life', kind: 'configmaps', uid: metadata.uid }
      assert.deepEqual(json(removed), {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details,
      })
      const gone = await client.call({ path: `${path}/life` })
      assert.equal(
        gone.text,
        status('configmaps "life" not found', 'NotFound', 404, {
          name: 'life',
          kind: 'configmaps',
        }),
      )
    })

    test('a namespace is created with a finalizer and stays Terminating when it is deleted', async () => {
      const name = `${space}-going`
      const made = json(
        await client.call({
          method: 'POST',
          path: '/api/v1/namespaces',
          body: { metadata: { name } },
        }),
      )
      assert.deepEqual(made.metadata.labels, { 'kubernetes.io/metadata.name': name })
      assert.deepEqual(
        [made.spec, made.status],
        [{ finalizers: ['kubernetes'] }, { phase: 'Active' }],
      )
      const marked = await client.call({ method: 'DELETE', path: `/api/v1/namespaces/${name}` })
      assert.equal(marked.status, 200)
      assert.equal(json(marked).status.phase, 'Terminating')
      assert.match(json(marked).metadata.deletionTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      const again = await client.call({ method: 'DELETE', path: `/api/v1/namespaces/${name}` })
      assert.equal(again.text, marked.text)
    })

    const refusals: readonly [string, Call, number, string | RegExp][] = [
      [
        'no token',
        { path, token: null },
        403,
        /User \\"system:anonymous\\" cannot list resource \\"configmaps\\"/,
      ],
      ['a wrong token', { path, token: 'wrong' }, 401, status('Unauthorized', 'Unauthorized', 401)],
      [
        'no permissions',
        { path, token: 'bob-token' },
        403,
        status(
          `configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "${space}"`,
          'Forbidden',
          403,
          { kind: 'configmaps' },
        ),
      ],
      [
        'no permission for a path',
        { path: '/nope', token: 'bob-token' },
        403,
        /forbidden: User \\"bob\\" cannot get path/,
      ],
      ['an unknown path', { path: '/nope' }, 404, '404 page not found\n'],
      [
        'an unknown group',
        { path: '/apis/nope.example.com/v1/things' },
        404,
        '404 page not found\n',
      ],
      [
        'an unknown resource',
        { path: '/api/v1/nopes' },
        404,
        status('the server could not find the requested resource', 'NotFound', 404, {}),
      ],
      [
        'a method without a route',
        { path, method: 'PUT', body: {} },
        405,
        status(
          'the server does not allow this method on the requested resource',
          'MethodNotAllowed',
          405,
          {},
        ),
      ],
      ['a path that cannot be decoded', { path: `${path}/%zz` }, 400, '400 Bad Request'],
      [
        'a name that leaves its folder',
        { path: `${path}/..` },
        400,
        /Name parameter invalid: \\"..\\": may not be '..'/,
      ],
      [
        'an invalid number',
        { path: `${path}?limit=x` },
        400,
        /strconv.ParseInt: parsing \\"x\\": invalid syntax/,
      ],
      [
        'an unknown field selector',
        { path: `${path}?fieldSelector=a%3Db` },
        400,
        /is not a known field selector: only/,
      ],
      [
        'a media type that is not offered',
        { path, headers: { accept: 'text/html' } },
        406,
        /NotAcceptable/,
      ],
      [
        'a body that is not JSON',
        { path, method: 'POST', body: Buffer.from('{"a') },
        400,
        /unrecognized .* json parse error/,
      ],
      [
        'a body with an unsupported media type',
        { path, method: 'POST', body: {}, headers: { 'content-type': 'text/csv' } },
        415,
        /UnsupportedMediaType/,
      ],
      [
        'a value of a wrong type',
        { path, method: 'POST', body: { metadata: { name: 'x' }, data: { a: 5 } } },
        400,
        /cannot unmarshal number into Go struct field ConfigMap.data of type string/,
      ],
      [
        'an invalid name',
        { path, method: 'POST', body: { metadata: { name: 'UP' } } },
        422,
        /ConfigMap \\"UP\\" is invalid: metadata.name: Invalid value: \\"UP\\": a lowercase RFC 1123 subdomain must consist/,
      ],
      [
        'no name',
        { path, method: 'POST', body: {} },
        422,
        /metadata.name: Required value: name or generateName is required/,
      ],
      [
        'another namespace',
        { path, method: 'POST', body: { metadata: { name: 'x', namespace: 'other' } } },
        400,
        /the namespace of the provided object does not match the namespace sent on the request/,
      ],
      [
        'an exact resourceVersion of the future',
        { path: `${path}?resourceVersion=999999999&resourceVersionMatch=Exact` },
        500,
        /required revision is a future revision/,
      ],
      [
        'a broken continue token',
        { path: `${path}?continue=x` },
        400,
        /invalid continue token: continue key is not valid/,
      ],
    ]
    for (const [what, call, code, text] of refusals) {
      test(`a request with ${what} is rejected with ${code}`, async () => {
        const answer = await client.call(call)
        assert.equal(answer.status, code, answer.text)
        if (typeof text === 'string') assert.equal(answer.text, text)
        else assert.match(answer.text, text)
      })
    }

    test('a body that exceeds the limit is rejected, with or without a content-length', async () => {
      const body = Buffer.alloc(3 * 1024 * 1024 + 1, 0x20)
      const reported = status(
        'Request entity too large: limit is 3145728',
        'RequestEntityTooLarge',
        413,
      )
      assert.equal((await client.call({ path, method: 'POST', body })).text, reported)
      assert.equal(
        (await client.call({ path, method: 'POST', body, hidesLength: true })).text,
        reported,
      )
      assert.equal((await client.call({ path })).status, 200, 'the server continues')
    })

    test("headers can be far longer than Node's default limit", async () => {
      const answer = await client.call({
        path: '/version',
        headers: { 'x-long': 'x'.repeat(60_000) },
      })
      assert.equal(answer.status, 200)
    })

    test('a list has a content-length and contains every object once, and its pages contain the same objects', async () => {
      const names = Array.from({ length: 120 }, (_, at) => `list-${String(at).padStart(3, '0')}`)
      const data = { text: 'x'.repeat(8_000) }
      await Promise.all(
        names.map((name) => create(name, { metadata: { name, labels: { list: 'yes' } }, data })),
      )
      const query = '?labelSelector=list%3Dyes'
      const whole = await client.call({ path: path + query })
      assert.equal(Number(whole.headers['content-length']), Buffer.byteLength(whole.text))
      const { items, kind, metadata } = json(whole)
      assert.equal(kind, 'ConfigMapList')
      assert.deepEqual(
        Object.keys(items[0]),
        ['metadata', 'data'],
        'items leave out kind and apiVersion',
      )
      assert.deepEqual(namesOf(items), names)

      const paged: string[] = []
      let next = ''
      do {
        const page = json(await client.call({ path: `${path}${query}&limit=50&continue=${next}` }))
        paged.push(...namesOf(page.items))
        assert.ok(Number(page.metadata.resourceVersion) >= Number(metadata.resourceVersion))
        next = page.metadata.continue ?? ''
      } while (next !== '')
      assert.deepEqual(paged, names)
    })

    test('a watch reports existing objects, changes and deletions', async () => {
      await create('seen')
      const events = client.lines({ path: `${path}?watch=1&fieldSelector=metadata.name%3Dseen` })
      const next = async () => JSON.parse((await events.next()).value ?? 'null')
      const initial = await next()
      assert.deepEqual([initial.type, initial.object.metadata.name], ['ADDED', 'seen'])
      await create('unseen')
      const body = { metadata: { name: 'seen' }, data: { a: '1' } }
      const changed = json(await client.call({ method: 'PUT', path: `${path}/seen`, body }))
      assert.deepEqual(await next(), { type: 'MODIFIED', object: changed })
      await client.call({ method: 'DELETE', path: `${path}/seen` })
      const gone = await next()
      assert.equal(gone.type, 'DELETED')
      assert.ok(
        Number(gone.object.metadata.resourceVersion) > Number(changed.metadata.resourceVersion),
      )
      assert.deepEqual({ ...gone.object, metadata: changed.metadata }, changed)
      await events.return()

      const { resourceVersion } = initial.object.metadata
      const replay: string[] = []
      const resumed = `${path}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}`
      for await (const line of client.lines({ path: resumed })) {
        const { type, object } = JSON.parse(line)
        replay.push(`${type} ${object.metadata.name}`)
      }
      assert.deepEqual(
        replay,
        ['ADDED unseen', 'MODIFIED seen', 'DELETED seen'],
        'the watch ends after its timeout',
      )
    })

    const race = (metadata: object, value: number): Promise<Answer> =>
      client.call({
        method: 'PUT',
        path: `${path}/race`,
        body: { metadata, data: { value: `${value}` } },
      })

    test('of several concurrent writes with the same precondition, exactly one succeeds; without a precondition, all succeed', async () => {
      const { resourceVersion } = json(await create('race')).metadata
      const writers = Array.from({ length: 20 }, (_, at) =>
        race({ name: 'race', resourceVersion }, at),
      )
      const codes = (await Promise.all(writers)).map((answer) => answer.status)
      assert.deepEqual(
        [codes.filter((code) => code === 200).length, codes.filter((code) => code === 409).length],
        [1, 19],
      )
      const anyway = await Promise.all(
        Array.from({ length: 20 }, (_, at) => race({ name: 'race' }, at)),
      )
      assert.ok(anyway.every((answer) => answer.status === 200))
    })

    test('generated names are unique', async () => {
      const call = { method: 'POST', path, body: { metadata: { generateName: 'gen-' } } }
      const answers = await Promise.all(Array.from({ length: 5 }, () => client.call(call)))
      const names = answers.map((answer) => json(answer).metadata.name)
      assert.equal(new Set(names).size, 5)
      for (const name of names) assert.match(name, /^gen-[b-z2-9]{5}$/)
    })

    test('a finalizer keeps a deleted object until it is removed', async () => {
      await create('held', { metadata: { name: 'held', finalizers: ['example.com/hold'] } })
      const marked = json(await client.call({ method: 'DELETE', path: `${path}/held` }))
      assert.equal(marked.metadata.deletionGracePeriodSeconds, 0)
      const again = await create('held')
      assert.equal(json(again).message, 'object is being deleted: configmaps "held" already exists')
      const freed = await client.call({
        method: 'PUT',
        path: `${path}/held`,
        body: { metadata: { name: 'held' } },
      })
      assert.equal(freed.status, 200)
      assert.equal((await client.call({ path: `${path}/held` })).status, 404)
    })

    test('documents that describe the API are served', async () => {
      assert.deepEqual(json(await client.call({ path: '/api' })).versions, ['v1'])
      const { groups } = json(await client.call({ path: '/apis' }))
      assert.deepEqual([groups[0].name, groups[1].name], ['apiregistration.k8s.io', 'apps'])
      const { resources } = json(await client.call({ path: '/api/v1', token: 'bob-token' }))
      const names = resources.map(({ name }: { name: string }) => name)
      assert.ok(
        ['configmaps', 'namespaces', 'namespaces/finalize', 'pods/log'].every((name) =>
          names.includes(name),
        ),
      )
      assert.equal(json(await client.call({ path: '/version', token: null })).minor, '33')
      for (const probe of ['/healthz', '/livez', '/readyz']) {
        assert.equal((await client.call({ path: probe, token: null })).text, 'ok')
      }
      const verbose = await client.call({ path: '/readyz?verbose', token: null })
      assert.match(
        verbose.text,
        /^\[\+\]ping ok\n\[\+\]log ok\n\[\+\]etcd ok\n[\s\S]*\[\+\]shutdown ok\nreadyz check passed\n$/,
      )
      assert.equal((await client.call({ path: '/readyz/etcd' })).text, 'ok')
    })

    test('metrics require permission, and have the same names as in kube-apiserver', async () => {
      assert.equal((await client.call({ path: '/metrics', token: 'bob-token' })).status, 403)
      const { text } = await client.call({ path: '/metrics' })
      const post =
        'code="201",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource"'
      assert.ok(
        text.includes(`apiserver_request_total{${post},subresource="",verb="POST",version="v1"}`),
        text,
      )
      assert.match(
        text,
        /^etcd_request_duration_seconds_bucket\{operation="create",type="configmaps",le="0.005"\} \d/m,
      )
      assert.match(text, /^apiserver_storage_objects\{resource="configmaps"\} \d/m)
      assert.match(text, /^process_resident_memory_bytes \d/m)
      // Both gates are on in kube-apiserver. The second one is off here, because Keelson does not
      // have its feature.
      assert.match(
        text,
        /^kubernetes_feature_enabled\{name="CustomResourceFieldSelectors",stage=""\} 1$/m,
      )
      assert.match(text, /^kubernetes_feature_enabled\{name="ContextualLogging",stage="BETA"\} 0$/m)
    })
  })
}

test('a server that stops ends its watches without errors', async () => {
  const other = await startTestServer()
  const client = clients['HTTP/2']?.(other.url)
  assert.ok(client !== undefined)
  const lines = client.lines({ path: '/api/v1/namespaces/default/configmaps?watch=1' })
  const ended = lines.next()
  // The response to a later request shows that the watch has been opened.
  await client.call({ path: '/version' })
  await other[Symbol.asyncDispose]()
  assert.equal((await ended).done, true)
  await client[Symbol.asyncDispose]()
})
