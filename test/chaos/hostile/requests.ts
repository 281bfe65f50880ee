/**
 * Generates requests that no well-behaved client sends. Each request is valid enough to reach the
 * server's own code, but otherwise invalid.
 */
import type { Random } from '../simulation/random.ts'

export type HostileRequest = {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: Buffer
}

/**
 * Namespace of the writes. The writes use only a few object names, so that objects that are
 * accepted by chance do not accumulate.
 */
export const NAMESPACE = 'hostile'

export function hostileRequest(random: Random): HostileRequest {
  const method = random.chance(0.5) ? 'GET' : random.pick(methods)
  const hasBody = method !== 'GET' && method !== 'HEAD' && random.chance(0.9)
  const { type, body } = hasBody ? hostileBody(random) : { type: undefined, body: undefined }
  return {
    method,
    path: hostilePath(random, method) + hostileQuery(random),
    headers: { ...hostileHeaders(random), ...(type === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body }),
  }
}

const methods = [
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'BREW',
  'GET',
] as const

const goodPaths = [
  `/api/v1/namespaces/${NAMESPACE}/configmaps`,
  `/api/v1/namespaces/${NAMESPACE}/configmaps/c1`,
  `/api/v1/namespaces/${NAMESPACE}/secrets/c1`,
  `/api/v1/namespaces/${NAMESPACE}`,
  '/api/v1/configmaps',
  `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/c1/status`,
  '/apis/coordination.k8s.io/v1/leases',
  '/api/v1',
  '/apis',
  '/version',
  '/healthz',
  '/openapi/v2',
] as const

const segments = [
  ...[
    '',
    '.',
    '..',
    '...',
    '%2e%2e',
    '%2f',
    '%00',
    '%ff',
    '%zz',
    '%',
    '//',
    '\\',
    '*',
    '~',
    '$(id)',
    "'",
    ';',
    ':',
  ],
  ...[
    'api',
    'apis',
    'v1',
    'v0',
    'namespaces',
    'configmaps',
    'status',
    'finalize',
    'watch',
    'proxy',
    'default',
  ],
  ...[
    'x'.repeat(300),
    'x'.repeat(5000),
    'ü',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
  ],
] as const

function hostilePath(random: Random, method: string): string {
  const base: string = random.pick(goodPaths)
  // Do not delete whole collections, because the server would correctly delete all objects.
  if (method === 'DELETE' && !/c1/.test(base)) return `${base}/${random.pick(segments)}/x`
  const kind = random.between(0, method === 'DELETE' ? 2 : 5)
  if (kind <= 1) return `/${many(random, 0, 9, () => random.pick(segments)).join('/')}`
  if (kind === 2) return `${base}/${random.pick(segments)}`
  if (kind === 3)
    return insert(random, base.slice(0, random.between(1, base.length)), random.pick(segments))
  return base
}

const parameters = [
  ...[
    'Watch',
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'labelSelector',
    'fieldSelector',
  ],
  ...[
    'timeoutSeconds',
    'timeout',
    'pretty',
    'dryRun',
    'fieldManager',
    'fieldValidation',
    'propagationPolicy',
  ],
  ...[
    'gracePeriodSeconds',
    'sendInitialEvents',
    'allowWatchBookmarks',
    'export',
    'force',
    '__proto__',
    'x',
  ],
] as const

const values = [
  ...[
    '',
    '0',
    '-1',
    '1',
    '500',
    '9223372036854775807',
    '9223372036854775808',
    '1e9',
    '0x10',
    'NaN',
    'true',
    'TRUE',
  ],
  ...[
    'null',
    '[]',
    '{}',
    'a=b',
    'a+in+(b',
    'a,b,!c',
    'a!=b',
    'a>1',
    '!',
    ',',
    '((((',
    'metadata.name=x',
    'spec.x=y',
  ],
  ...[
    'All',
    'Strict',
    'Warn',
    'Ignore',
    'Exact',
    'NotOlderThan',
    'Background',
    'Orphan',
    '1s',
    '-5m',
    '%00',
    '%ff',
    '%zz',
  ],
  ...[
    'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0',
    'e30',
    '../../x',
    'x'.repeat(2000),
    'ü',
    ';',
    'a%3Db%2C'.repeat(200),
  ],
] as const

function hostileQuery(random: Random): string {
  if (random.chance(0.4)) return ''
  // Limit the duration of watches, because an endless watch would block the test.
  if (random.chance(0.01))
    return `?watch=${random.pick(['1', 'true'])}&timeoutSeconds=1&resourceVersion=${random.pick(values)}`
  const pairs = many(random, 1, 5, () => {
    const name = random.pick(parameters)
    return random.chance(0.1) ? name : `${name}=${random.pick(values)}`
  })
  return `?${pairs.join(random.chance(0.95) ? '&' : ';')}`
}

const oddHeaders: readonly [string, readonly string[]][] = [
  [
    'accept',
    [
      '*/*',
      '',
      'text/html',
      'application/json;q=',
      ',,,',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
    ],
  ],
  [
    'accept',
    [
      'application/vnd.kubernetes.protobuf',
      'application/yaml',
      'a/b/c',
      'application/json;'.repeat(500),
    ],
  ],
  ['accept-encoding', ['gzip', 'gzip;q=0', 'GZIP', '*', ',']],
  [
    'authorization',
    [
      'Bearer',
      'Bearer  ',
      'Bearer wrong',
      'Basic eDp5',
      'bearer admin-token x',
      'Bearer ü',
      'x'.repeat(9000),
    ],
  ],
  ['impersonate-user', ['', 'ü', 'system:masters', 'x'.repeat(3000)]],
  ['impersonate-group', ['system:masters', '']],
  ['user-agent', ['', 'ü', 'curl/8', 'x'.repeat(5000), '%00']],
  ['content-encoding', ['gzip', 'br', 'x']],
  ['audit-id', ['', 'x'.repeat(500), '../../etc']],
  ['x-forwarded-for', ['1.2.3.4', 'x'.repeat(2000)]],
  ['range', ['bytes=0-0', 'x']],
  ['expect', ['100-continue', 'x']],
  ['upgrade-insecure-requests', ['1']],
  ['traceparent', ['00-x-y-01', 'x']],
]

function hostileHeaders(random: Random): { [name: string]: string } {
  const headers: { [name: string]: string } = { authorization: 'Bearer admin-token' }
  for (let left = random.between(0, 3); left > 0; left--) {
    const [name, choices] = random.pick(oddHeaders)
    headers[name] = Buffer.from(random.pick(choices)).toString('latin1')
  }
  return headers
}

const types = [
  ...[
    'application/json',
    'application/json',
    'application/json',
    'application/yaml',
    'application/yaml',
  ],
  ...[
    'application/vnd.kubernetes.protobuf',
    'application/merge-patch+json',
    'application/json-patch+json',
  ],
  ...[
    'application/apply-patch+yaml',
    'application/strategic-merge-patch+json',
    'text/plain',
    '',
    'application/json; charset',
  ],
] as const

function hostileBody(random: Random): { type: string; body: Buffer } {
  const type = random.pick(types)
  const make = random.pick(/yaml/.test(type) ? yamlBodies : jsonBodies)
  const text = make(random)
  const body = typeof text === 'string' ? Buffer.from(text) : text
  return { type, body: random.chance(0.15) ? damaged(random, body) : body }
}

type MakeBody = (random: Random) => string | Buffer

const leaves = [
  'null',
  'true',
  '0',
  '-0',
  '1e400',
  '-1.5',
  '12345678901234567890',
  '"x"',
  '""',
  '[]',
  '{}',
  '"\\ud800"',
] as const
const fields = [
  'metadata',
  'name',
  'namespace',
  'labels',
  'data',
  'spec',
  'kind',
  'apiVersion',
  'status',
  '__proto__',
] as const

function nested(random: Random, depth: number): string {
  if (depth === 0 || random.chance(0.3)) return random.pick(leaves)
  if (random.chance(0.3)) return `[${many(random, 0, 3, () => nested(random, depth - 1)).join()}]`
  return `{${many(random, 0, 5, () => `"${random.pick(fields)}":${nested(random, depth - 1)}`).join()}}`
}

const object = (random: Random, data: string): string =>
  `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c${random.between(0, 20)}"},"data":${data}}`

const jsonBodies: readonly MakeBody[] = [
  (random) => nested(random, 6),
  (random) => object(random, nested(random, 3)),
  (random) => object(random, `{"a":"1","a":"2","${random.pick(fields)}":"3"}`),
  (random) => '['.repeat(random.pick([10, 1000, 20_000])),
  (random) => `${'{"a":'.repeat(random.pick([10, 1000, 12_000]))}1`,
  (random) => object(random, `"${'x'.repeat(random.pick([10, 10_000]))}"`),
  (random) =>
    `{"metadata":{"name":"${random.pick(segments)}","resourceVersion":"${random.pick(values)}"}}`,
  (random) =>
    `{"metadata":{"name":"c1","labels":{"${random.pick(segments)}":"${random.pick(segments)}"}}}`,
  (random) =>
    `{"metadata":{"name":"c1","managedFields":${nested(random, 4)},"ownerReferences":${nested(random, 4)}}}`,
  (random) =>
    `[{"op":"${random.pick(['copy', 'move', 'test', 'x'])}","from":"/metadata","path":"/data/x"}]`,
  (random) => `${nested(random, 3)}${nested(random, 2)}`,
  () => '',
  (random) => noise(random, random.between(0, 300)),
  (random) => Buffer.concat([Buffer.from('k8s\0'), noise(random, random.between(0, 100))]),
  (random) => `"${'\\u0000'.repeat(random.between(1, 2000))}"`,
  (random) => `1${'0'.repeat(random.pick([10, 1000, 50_000]))}`,
]

const yamlBodies: readonly MakeBody[] = [
  (random) => nested(random, 5),
  () => `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'.split('').map(laughs).join('\n')}\n`,
  () => `a: &a {k: ${'x'.repeat(2000)}}\nb: [${Array(1500).fill('{<<: *a}').join()}]`,
  (random) => `${'- '.repeat(random.pick([10, 500, 5000]))}x`,
  (random) => '{'.repeat(random.pick([10, 500, 20_000])),
  (random) =>
    many(random, 1, 30, () => ' '.repeat(random.between(0, 8)) + random.pick(yamlLines)).join('\n'),
  (random) =>
    `metadata:\n  name: ${random.pick(yamlScalars)}\ndata:\n  ${random.pick(yamlScalars)}: ${random.pick(yamlScalars)}\n`,
  (random) => `---\n%YAML ${random.pick(['1.1', '9.9', 'x'])}\n---\n- *x\n`,
  (random) => `? ${nested(random, 2)}\n: ${nested(random, 2)}\n`,
  (random) => noise(random, random.between(0, 300)),
  () => `a: !!binary ${'A'.repeat(2001)}`,
  () => '&a [*a, *a]',
]

const laughs = (letter: string, at: number): string =>
  `${letter}: &${letter} [${Array(9).fill(`*${'abcdefgh'[at]}`).join()}]`

const yamlLines = [
  'a: b',
  '- x',
  'a: |',
  'a: >-',
  '? k',
  ': v',
  '"x',
  "'",
  '&x',
  '*x',
  '!!int x',
  '<<: *x',
  '#',
  '---',
  '...',
  '\t',
  'k: {',
  '}',
  '%',
] as const
const yamlScalars = [
  'yes',
  '~',
  '0777',
  '1e400',
  '.inf',
  '.nan',
  '2001-01-01',
  '!!str 1',
  '!x y',
  '"\\x00"',
  "'",
  '@',
  '`',
  '|',
  '*x',
  '<<',
] as const

function damaged(random: Random, body: Buffer): Buffer {
  const copy = Buffer.from(body)
  for (let left = random.between(1, 4); left > 0 && copy.length > 0; left--)
    copy[random.between(0, copy.length - 1)] = random.between(0, 255)
  return random.chance(0.3) ? copy.subarray(0, random.between(0, copy.length)) : copy
}

export function noise(random: Random, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at++) bytes[at] = random.between(0, 255)
  return bytes
}

export function many<T>(random: Random, low: number, high: number, make: () => T): T[] {
  return Array.from({ length: random.between(low, high) }, make)
}

function insert(random: Random, into: string, what: string): string {
  const at = random.between(1, into.length)
  return into.slice(0, at) + what + into.slice(at)
}
