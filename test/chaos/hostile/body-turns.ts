/**
 * Measures how long requests with bodies of the maximum size block the event loop of a whole
 * server: `node test/chaos/hostile/body-turns.ts [NAME]`. Prints the CPU time of the longest tick
 * of each request, in descending order. Each value is the best of three attempts, because garbage
 * collection makes some attempts slower. The client runs in its own thread.
 */
import { once } from 'node:events'
import { request } from 'node:https'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { isFields, type Json } from '../../../src/api/object.ts'
import { ADMIN_TOKEN } from '../../support/harness/api-server.ts'
import { longestTurnMs } from '../../support/harness/turns.ts'
import { startTestServer } from '../../integration/support.ts'

const BODY_BYTES = 3 * 1024 * 1024 - 4096
const TRIES = 3

type SentBody = {
  readonly method: string
  readonly path: string
  readonly type: string
  readonly text: string
}
type Case = Omit<SentBody, 'type' | 'method'> & { readonly type?: string; readonly method?: string }

const seeds: { readonly [kind: string]: Json } = {
  ConfigMap: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } },
  Pod: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  },
}

const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const jsonPatch = 'application/json-patch+json'
const apply = 'application/apply-patch+yaml'
const maps = '/api/v1/namespaces/default/configmaps'
const pods = '/api/v1/namespaces/default/pods'

/**
 * Returns a string of the maximum size that consists of `before`, as many results of `item` as fit,
 * and `after`.
 */
function filled(before: string, item: (at: number) => string, after: string): string {
  const items: string[] = []
  let room = BODY_BYTES - before.length - after.length
  for (let at = 0; ; at++) {
    const text = item(at)
    room -= text.length + 1
    if (room < 0) return before + items.join(',') + after
    items.push(text)
  }
}

const head = (kind: string, name: string): string =>
  `"apiVersion":"v1","kind":"${kind}","metadata":{"name":"${name}"`
const owner = (at: number): string =>
  `{"apiVersion":"v1","kind":"Pod","name":"p${at}","uid":"u${at}"}`
const fieldsV1 = (at: number): string => `"f:k${at}":{}`
const lists: { readonly [name: string]: readonly [string, (at: number) => string, string] } = {
  finalizers: ['"finalizers":[', (at) => `"a/${at.toString(36)}"`, ']'],
  'wrong finalizers': ['"finalizers":[', () => '""', ']'],
  'the same finalizer': ['"finalizers":[', () => '"a/b"', ']'],
  owners: ['"ownerReferences":[', owner, ']'],
  'empty owners': ['"ownerReferences":[', () => '{}', ']'],
  'controlling owners': [
    '"ownerReferences":[',
    (at) => `{"apiVersion":"v1","kind":"P","name":"p","uid":"${at}","controller":true}`,
    ']',
  ],
  labels: ['"labels":{', (at) => `"a${at.toString(36)}":""`, '}'],
  annotations: ['"annotations":{', (at) => `"a${at.toString(36)}":""`, '}'],
  managedFields: ['"managedFields":[', () => '{}', ']'],
  'managers with names': [
    '"managedFields":[',
    (at) =>
      `{"manager":"m${at}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}`,
    ']',
  ],
  'owned fields': [
    '"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{',
    fieldsV1,
    '}}]',
  ],
  'unknown numbers': ['"unknown":[', () => '1', ']'],
  'unknown objects': ['"unknown":[', () => '{}', ']'],
  'unknown names': ['"unknown":{', (at) => `"a${at.toString(36)}":1`, '}'],
  'unknown texts': ['"unknown":[', () => '"\\n"', ']'],
}

const cases: { readonly [name: string]: Case } = {
  ...Object.fromEntries(
    Object.entries(lists).flatMap(([name, [before, item, after]]) => [
      [
        `create with ${name}`,
        { path: maps, text: filled(`{${head('ConfigMap', 'n')},${before}`, item, `${after}}}`) },
      ],
      [
        `merge ${name}`,
        {
          path: `${maps}/c`,
          type: merge,
          text: filled(`{"metadata":{${before}`, item, `${after}}}`),
        },
      ],
      [
        `strategic ${name}`,
        {
          path: `${maps}/c`,
          type: strategic,
          text: filled(`{"metadata":{${before}`, item, `${after}}}`),
        },
      ],
      [
        `apply ${name}`,
        {
          path: `${maps}/a?fieldManager=m`,
          type: apply,
          text: filled(`{${head('ConfigMap', 'a')},${before}`, item, `${after}}}`),
        },
      ],
    ]),
  ),
  'create with data': {
    path: maps,
    text: filled(`{${head('ConfigMap', 'd')}},"data":{`, (at) => `"k${at.toString(36)}":""`, '}}'),
  },
  'create with one text': {
    path: maps,
    text: `{${head('ConfigMap', 'e')}},"data":{"a":"${'x'.repeat(BODY_BYTES - 200)}"}}`,
  },
  'merge data': {
    path: `${maps}/c`,
    type: merge,
    text: filled('{"data":{', (at) => `"k${at.toString(36)}":""`, '}}'),
  },
  'merge nulls': {
    path: `${maps}/c`,
    type: merge,
    text: filled('{"data":{', (at) => `"k${at.toString(36)}":null`, '}}'),
  },
  'strategic data': {
    path: `${maps}/c`,
    type: strategic,
    text: filled('{"data":{', (at) => `"k${at.toString(36)}":""`, '}}'),
  },
  'strategic deletions': {
    path: `${maps}/c`,
    type: strategic,
    text: filled('{"metadata":{"$deleteFromPrimitiveList/finalizers":[', (at) => `"${at}"`, ']}}'),
  },
  'strategic containers': {
    path: `${pods}/p`,
    type: strategic,
    text: filled('{"spec":{"containers":[', (at) => `{"name":"c${at}"}`, ']}}'),
  },
  'create a pod with containers': {
    path: pods,
    text: filled(
      `{${head('Pod', 'q')}},"spec":{"containers":[`,
      (at) => `{"name":"c${at}"}`,
      ']}}',
    ),
  },
  'apply containers': {
    path: `${pods}/b?fieldManager=m`,
    type: apply,
    text: filled(
      `{${head('Pod', 'b')}},"spec":{"containers":[`,
      (at) => `{"name":"c${at}"}`,
      ']}}',
    ),
  },
  'operations that add': {
    path: `${maps}/c`,
    type: jsonPatch,
    text: filled('[', () => '{"op":"add","path":"/data/x","value":""}', ']'),
  },
  'an operation that adds a list': {
    path: `${maps}/c`,
    type: jsonPatch,
    text: filled(
      '[{"op":"add","path":"/metadata/finalizers","value":[',
      (at) => `"a/${at.toString(36)}"`,
      ']}]',
    ),
  },
  'an operation that adds a map': {
    path: `${maps}/c`,
    type: jsonPatch,
    text: filled('[{"op":"add","path":"/data","value":{', (at) => `"${at}":""`, '}}]'),
  },
  'an operation with an unknown list': {
    path: `${maps}/c`,
    type: jsonPatch,
    text: filled('[{"op":"add","path":"/data/a","value":"","unknown":[', () => '1', ']}]'),
  },
  'an operation that adds an unknown list': {
    path: `${maps}/c`,
    type: jsonPatch,
    text: filled('[{"op":"add","path":"/unknown","value":[', () => '1', ']}]'),
  },
  'no operations': { path: `${maps}/c`, type: jsonPatch, text: filled('[', () => '1', ']') },
  'a review with groups': {
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    text: filled(
      '{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"},"groups":[',
      (at) => `"g${at.toString(36)}"`,
      ']}}',
    ),
  },
  'a review with extra': {
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    text: filled(
      '{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"},"extra":{',
      (at) => `"${at.toString(36)}":["a"]`,
      '}}}',
    ),
  },
  'a review with requirements': {
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    text: filled(
      '{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods","labelSelector":{"requirements":[',
      () => '{"key":"a","operator":"In","values":["a"]}',
      ']}}}}',
    ),
  },
  'a token review with audiences': {
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    text: filled('{"spec":{"token":"t","audiences":[', (at) => `"g${at.toString(36)}"`, ']}}'),
  },
  'options of a deletion': {
    method: 'DELETE',
    path: `${maps}/none`,
    text: filled('{"dryRun":[', () => '"All"', ']}'),
  },
  'options of a deletion with an unknown list': {
    method: 'DELETE',
    path: `${maps}/none`,
    text: filled('{"unknown":[', () => '1', ']}'),
  },
}

function serveCalls(port: NonNullable<typeof parentPort>): void {
  port.on('message', ({ url, method, path, type, text }: SentBody & { readonly url: string }) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': type }
    const call = request(
      `${url}${path}`,
      { method, headers, rejectUnauthorized: false },
      (answer) => {
        let start = ''
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          if (start.length < 300) start += chunk
        })
        answer.on('end', () =>
          port.postMessage(`${answer.statusCode} ${/"message":"(.{0,60})/.exec(start)?.[1] ?? ''}`),
        )
      },
    )
    call.on('error', (error) => port.postMessage(String(error)))
    call.end(text)
  })
}

async function measure(wanted: string): Promise<void> {
  await using server = await startTestServer()
  const worker = new Worker(new URL(import.meta.url))
  const send = async (sent: SentBody): Promise<string> => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage({ ...sent, url: server.url })
    const [answer]: unknown[] = await once(worker, 'message')
    return String(answer)
  }
  const type = 'application/json'
  for (const [kind, seed] of Object.entries(seeds)) {
    if (!isFields(seed)) continue
    console.error(
      await send({
        method: 'POST',
        path: kind === 'Pod' ? pods : maps,
        type,
        text: JSON.stringify(seed),
      }),
    )
  }
  const reported: { readonly ms: number; readonly text: string }[] = []
  for (const [name, { method, type: given, ...rest }] of Object.entries(cases)) {
    if (!name.includes(wanted)) continue
    let ms = Infinity
    let answer = ''
    const sent = {
      method: method ?? (given === undefined ? 'POST' : 'PATCH'),
      type: given ?? type,
      ...rest,
    }
    for (let tries = 0; tries < TRIES; tries++) {
      const took = await longestTurnMs(async () => {
        answer = await send(sent)
      })
      ms = Math.min(ms, took)
    }
    reported.push({ ms, text: `${ms.toFixed(0).padStart(6)} ms ${name} (${answer})` })
  }
  for (const { text } of reported.toSorted((one, other) => other.ms - one.ms)) console.log(text)
  await worker.terminate()
}

if (isMainThread) await measure(process.argv[2] ?? '')
else if (parentPort !== null) serveCalls(parentPort)
