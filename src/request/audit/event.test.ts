import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ApiRequest } from '../../api/request.ts'
import { ByteText } from '../../lib/bytes/byte-text.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { MicroClock } from './micro-clock.ts'
import { EventPrinter, EventPrinterContext, type StageFacts } from './event.ts'
import { sourceIps } from './source-ips.ts'

const info = {
  kind: 'resource',
  verb: 'create',
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  subresource: 'scale',
  namespace: '',
  name: '',
  segments: [],
  isWatchPath: false,
} as const

const parts = new EventPrinterContext(new MicroClock(systemTime))
const { texts } = parts
const noon = Date.parse('2026-01-31T12:00:00.000Z')

const requestFrom = (remoteAddress: string, headers: ApiRequest['headers']): ApiRequest => ({
  method: 'GET',
  path: '/',
  query: new URLSearchParams(),
  headers,
  body: () => Promise.resolve(Buffer.alloc(0)),
  hasBody: false,
  pipeBody: () => Promise.resolve(),
  signal: AbortSignal.abort(),
  remoteAddress,
  peerCertificate: () => undefined,
})

const printer = new EventPrinter(
  {
    level: 'Request',
    auditId: 'id "1"',
    uri: '/x?a=<b>',
    user: { name: 'al\u00e9', uid: 'u', groups: ['g', 'h'], extra: { z: ['1'], a: ['2', '3'] } },
    source: texts.source(requestFrom('::1', { 'user-agent': 'me', 'x-forwarded-for': '1.2.3.4' })),
    info,
    receivedMs: noon + 120,
  },
  parts,
)

const stage: StageFacts = {
  stage: 'ResponseComplete',
  impersonated: { name: 'bob', uid: '', groups: ['dev'] },
  named: { namespace: 'ns', name: 'n', uid: 'uid', resourceVersion: '7' },
  response: {
    code: 404,
    status: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'no',
      reason: 'NotFound',
      details: { name: 'n' },
    },
  },
  requestObject: Buffer.from('{"a":1}'),
  responseObject: undefined,
  isTruncated: false,
  stageMs: noon + 1000.0015,
  annotations: { b: '1', a: '2' },
}

const plainStage: StageFacts = {
  stage: 'RequestReceived',
  impersonated: undefined,
  named: undefined,
  response: undefined,
  requestObject: undefined,
  responseObject: undefined,
  isTruncated: false,
  stageMs: noon,
  annotations: undefined,
}

test('the fields of an audit event are in the order of the API', () => {
  const event = printer.print(stage)
  const upToObjects =
    '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"id \\"1\\"","stage":"ResponseComplete",' +
    '"requestURI":"/x?a=\\u003cb\\u003e","verb":"create",' +
    '"user":{"username":"al\u00e9","uid":"u","groups":["g","h"],"extra":{"a":["2","3"],"z":["1"]}},' +
    '"impersonatedUser":{"username":"bob","groups":["dev"]},"sourceIPs":["1.2.3.4","::1"],"userAgent":"me",' +
    '"objectRef":{"resource":"deployments","namespace":"ns","name":"n","uid":"uid","apiGroup":"apps","apiVersion":"v1","resourceVersion":"7","subresource":"scale"},' +
    '"responseStatus":{"metadata":{},"status":"Failure","message":"no","reason":"NotFound","details":{"name":"n"},"code":404},'
  const times =
    '"requestReceivedTimestamp":"2026-01-31T12:00:00.120000Z","stageTimestamp":"2026-01-31T12:00:01.000001Z",'
  assert.equal(
    event.json,
    `${upToObjects}"requestObject":{"a":1},${times}"annotations":{"a":"2","b":"1"}}`,
  )
  assert.equal(
    event.truncated(),
    `${upToObjects}${times}"annotations":{"a":"2","audit.k8s.io/truncated":"true","b":"1"}}`,
  )
})

test('an audit event in the legacy format is one line of text', () => {
  assert.equal(
    printer.print(stage).line(),
    '2026-01-31T12:00:00.12Z AUDIT: id="id \\"1\\"" stage="ResponseComplete" ip="1.2.3.4" method="create" user="al\u00e9" groups="\\"g\\",\\"h\\"" as="bob" asgroups="\\"dev\\"" user-agent="me" namespace="ns" uri="/x?a=<b>" response="404"',
  )
  const nobody = new EventPrinter(
    {
      level: 'Metadata',
      auditId: 'i',
      uri: '/',
      user: undefined,
      source: texts.source(requestFrom('', {})),
      info: { kind: 'path', verb: 'get', path: '/' },
      receivedMs: noon + 120,
    },
    parts,
  )
  const first = {
    ...stage,
    stage: 'RequestReceived',
    impersonated: undefined,
    response: undefined,
  } as const
  assert.equal(
    nobody.print(first).line(),
    '2026-01-31T12:00:00.12Z AUDIT: id="i" stage="RequestReceived" ip="<unknown>" method="get" user="<none>" groups="<none>" as="<self>" asgroups="<lookup>" user-agent="" namespace="<none>" uri="/" response="<deferred>"',
  )
})

test('the source IPs of an audit event are the addresses in proxy headers, followed by the address of the connection', () => {
  const cases: readonly (readonly [
    forwarded: string | undefined,
    real: string | undefined,
    expected: readonly string[],
  ])[] = [
    [undefined, undefined, ['9.9.9.9']],
    [
      '1.2.3.4, ::ffff:5.6.7.8 ,x,2001:DB8::0:1',
      undefined,
      ['1.2.3.4', '5.6.7.8', '2001:db8::1', '9.9.9.9'],
    ],
    ['1.2.3.4', '5.6.7.8', ['1.2.3.4', '5.6.7.8', '9.9.9.9']],
    ['1.2.3.4', '1.2.3.4', ['1.2.3.4', '9.9.9.9']],
    ['1.2.3.4,9.9.9.9', undefined, ['1.2.3.4', '9.9.9.9']],
    [undefined, '1.2.3', ['9.9.9.9']],
  ]
  for (const [forwarded, real, expected] of cases) {
    const headers = {
      ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
      ...(real === undefined ? {} : { 'x-real-ip': real }),
    }
    assert.deepEqual(sourceIps(headers, '9.9.9.9'), expected)
  }
  assert.deepEqual(sourceIps({}, ''), [])
})

test('timestamps of audit events have microseconds, and follow changes of the wall clock', () => {
  let wallMs = Date.parse('2026-01-31T12:00:00.000Z')
  let nowMs = 5
  const clock = new MicroClock({ wallMs: () => wallMs, monotonicMs: () => nowMs })
  const timeAt = (monotonicMs: number): string => {
    nowMs = monotonicMs
    return clock.print(clock.now(monotonicMs))
  }
  assert.equal(timeAt(5), '2026-01-31T12:00:00.000000Z')
  assert.equal(timeAt(5.25), '2026-01-31T12:00:00.000250Z')
  wallMs += 1000
  assert.equal(timeAt(14), '2026-01-31T12:00:00.009000Z', 'the clocks are not compared each time')
  assert.equal(timeAt(15), '2026-01-31T12:00:01.000000Z')
  wallMs -= 60_000
  assert.equal(timeAt(25.5), '2026-01-31T11:59:01.000000Z')
  assert.equal(timeAt(26), '2026-01-31T11:59:01.000500Z')
})

test('timestamps of audit events are correct even if the process pauses after reading the clock', () => {
  const startMs = Date.parse('2026-01-31T12:00:00.000Z')
  let nowMs = 0
  const clock = new MicroClock({ wallMs: () => startMs + nowMs, monotonicMs: () => nowMs })
  nowMs = 120
  assert.equal(clock.now(20), startMs + 20)
  assert.equal(clock.now(nowMs), startMs + 120)
})

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.stringMatching(/^[a-z/.-]{1,80}$/),
)

test('an audit event that reuses parts of an earlier event equals an event that is serialized separately', () => {
  const someFacts = fc.record({
    level: fc.constantFrom('Metadata', 'RequestResponse'),
    auditId: text,
    uri: text,
    user: fc.option(fc.record({ name: text, uid: text, groups: fc.array(text) }), {
      nil: undefined,
    }),
    source: fc.constantFrom(
      texts.source(requestFrom('::1', {})),
      texts.source(requestFrom('', { 'user-agent': 'ä' })),
    ),
    info: fc.oneof(
      fc.constant({ kind: 'path', verb: 'get', path: '/' } as const),
      fc
        .record({
          plural: text,
          group: text,
          version: text,
          subresource: text,
          namespace: text,
          name: text,
        })
        .map((named) => ({ ...info, ...named })),
    ),
    receivedMs: fc.integer({ min: 0, max: 4e12 }),
  })
  const named = fc.option(fc.record({ name: text, uid: text }), { nil: undefined })
  const stages = fc.tuple(named, named, fc.boolean(), fc.boolean())
  const into = [new ByteText(1), new ByteText(1 << 16)] as const
  fc.assert(
    fc.property(someFacts, stages, (fact, [one, other, isImpersonated, isCleared]) => {
      const own = new EventPrinter(fact, parts)
      const impersonated = isImpersonated ? { name: 'i', uid: '', groups: [] } : undefined
      const events: readonly StageFacts[] = [
        {
          ...stage,
          stage: 'RequestReceived',
          named: undefined,
          impersonated: undefined,
          response: undefined,
        },
        { ...stage, stage: 'ResponseStarted', named: one, impersonated },
        {
          ...stage,
          stage: 'ResponseComplete',
          named: one,
          response: { code: 200 },
          annotations: undefined,
        },
        { ...stage, stage: 'Panic', named: other },
      ]
      for (const [at, facts] of events.entries()) {
        const target = into[at % 2] ?? assert.fail()
        if (isCleared) target.clear()
        const start = target.length
        own.print(facts).print(target)
        const printed = target.bytes.toString('utf8', start)
        assert.equal(printed, new EventPrinter(fact, parts).print(facts).json)
        assert.equal(printed, Buffer.concat(own.print(facts).pieces()).toString())
        JSON.parse(printed)
      }
    }),
  )
})

test('audit events of repeated requests are the same with and without a cache', () => {
  const headers = Object.freeze({ 'user-agent': 'me' })
  const users = ['ann', 'bob'].map((name) => ({ name, uid: '', groups: [] }))
  const named = { ...info, subresource: '', namespace: 'ns', name: 'a<b' }
  const kinds = ['get', 'update'].flatMap((verb) =>
    ['/x', '/y?a=<b>', `/${'z'.repeat(300)}`].flatMap((uri) =>
      users.flatMap((user) => ['::1', '::2'].map((address) => ({ verb, uri, user, address }))),
    ),
  )
  const print = (
    known: EventPrinterContext,
    { verb, uri, user, address }: (typeof kinds)[number],
    auditId: string,
  ): string => {
    const source = known.texts.source(requestFrom(address, headers))
    const facts = {
      level: 'Metadata',
      auditId,
      uri,
      user,
      source,
      info: { ...named, verb },
      receivedMs: noon,
    } as const
    return new EventPrinter(facts, known).print(plainStage).json
  }
  for (let round = 0; round < 4; round++) {
    for (const kind of kinds) {
      const anew = new EventPrinterContext(new MicroClock(systemTime))
      assert.equal(print(parts, kind, `id-${round}`), print(anew, kind, `id-${round}`))
    }
  }
})

test('the total size of the request URIs in the cache of event fields is limited', () => {
  const user = { name: 'ann', uid: '', groups: [] }
  const source = texts.source(requestFrom('::1', {}))
  const many = Array.from({ length: 20 }, (_, at) =>
    texts.asking('get', { ...user, name: `user-${at}` }, source),
  )
  let printed = 0
  const keep = (asking: (typeof many)[number], uri: string): void =>
    texts.keepTarget(asking, uri, () => {
      printed++
      return Buffer.from(uri)
    })
  for (let uri = 0; uri < 1000; uri++) for (const asking of many) keep(asking, `/${uri}`)
  assert.equal(printed, 0)
  // All users share one limit, so cached targets of users with idle connections do not accumulate.
  const kept = many.reduce((sum, { targets }) => sum + targets.size, 0)
  assert.ok(kept <= 4096, String(kept))
  const [first = assert.fail()] = many
  for (let twice = 0; twice < 2; twice++) keep(first, '/again')
  assert.equal(texts.target(first, '/again')?.toString(), '/again')
  assert.equal(printed, 1)
  const groups = Array.from({ length: 1000 }, (_, at) => `group-${at}`)
  const large = texts.asking('get', { ...user, groups }, source)
  for (let twice = 0; twice < 2; twice++) keep(large, '/again')
  assert.equal(large.targets.size, 0)
})
