import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestInfo } from '../../api/context.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import { Classifier } from './classifier.ts'
import { type FlowSchema, readSchema } from './flow-schema.ts'

const user = (name: string, ...groups: readonly string[]): User => ({ name, uid: '', groups })
const person = (name: string) => ({ kind: 'User', user: { name } })
const group = (name: string) => ({ kind: 'Group', group: { name } })
const account = (namespace: string, name: string) => ({
  kind: 'ServiceAccount',
  serviceAccount: { namespace, name },
})
const onPods = {
  verbs: ['get', 'list'],
  apiGroups: [''],
  resources: ['pods', 'pods/log'],
  namespaces: ['a', 'b'],
}
const onAll = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  namespaces: ['*'],
  clusterScope: true,
}
const onPaths = (...nonResourceURLs: readonly string[]) => ({ verbs: ['get'], nonResourceURLs })

type Rules = {
  readonly subjects: readonly Fields[]
  readonly resources?: Fields[]
  readonly paths?: Fields[]
}

const schema = (
  name: string,
  precedence: number,
  { subjects, resources = [], paths = [] }: Rules,
): KubeObject => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name, uid: `uid-${name}` },
  spec: {
    matchingPrecedence: precedence,
    priorityLevelConfiguration: { name: 'level' },
    rules: [{ subjects, resourceRules: resources, nonResourceRules: paths }],
  },
})

const classifierOf = (...schemas: readonly KubeObject[]): Classifier<FlowSchema> =>
  new Classifier(schemas.map(readSchema), (one) => one)

/** Parses `list pods/log in a` or `get /path`. */
function infoOf(text: string): RequestInfo {
  const [verb = '', what = '', , namespace = ''] = text.split(' ')
  if (what.startsWith('/')) return { kind: 'path', verb, path: what }
  const [plural = '', subresource = ''] = what.split('/')
  const place = {
    group: '',
    version: 'v1',
    plural,
    subresource,
    namespace,
    name: '',
    segments: [],
    isWatchPath: false,
  }
  return { kind: 'resource', verb, ...place }
}

const takes = (rules: Rules, who: User, request: string): boolean =>
  classifierOf(schema('one', 1, rules)).classify(who, infoOf(request)) !== undefined

const bob = user('bob', 'devs')
const subjects = [person('bob')]

const cases: readonly (readonly [
  what: string,
  rules: Rules,
  who: User,
  request: string,
  isTaken: boolean,
])[] = [
  ['the named user', { subjects, resources: [onAll] }, bob, 'get pods in a', true],
  ['another user', { subjects, resources: [onAll] }, user('alice'), 'get pods in a', false],
  [
    'a member of the named group',
    { subjects: [group('devs')], resources: [onAll] },
    bob,
    'get pods in a',
    true,
  ],
  [
    'a user with the name of the group',
    { subjects: [group('bob')], resources: [onAll] },
    bob,
    'get pods',
    false,
  ],
  [
    'any user, with a rule for all users',
    { subjects: [person('*')], resources: [onAll] },
    user(''),
    'get pods in a',
    true,
  ],
  [
    'a user without groups, with a rule for all groups',
    { subjects: [group('*')], resources: [onAll] },
    user('x'),
    'get pods',
    true,
  ],
  [
    'the named account',
    { subjects: [account('a', 'x')], resources: [onAll] },
    user('system:serviceaccount:a:x'),
    'get pods',
    true,
  ],
  [
    'another account',
    { subjects: [account('a', 'x')], resources: [onAll] },
    user('system:serviceaccount:a:xx'),
    'get pods',
    false,
  ],
  [
    'any account of the namespace',
    { subjects: [account('a', '*')], resources: [onAll] },
    user('system:serviceaccount:a:y'),
    'get pods',
    true,
  ],
  [
    'an account of another namespace',
    { subjects: [account('a', '*')], resources: [onAll] },
    user('system:serviceaccount:aa:y'),
    'get pods',
    false,
  ],
  [
    'a rule without a valid subject',
    { subjects: [{ kind: 'User' }, { kind: 'Robot' }], resources: [onAll] },
    user(''),
    'get pods',
    false,
  ],
  ['a verb', { subjects, resources: [onPods] }, bob, 'list pods in a', true],
  ['another verb', { subjects, resources: [onPods] }, bob, 'watch pods in a', false],
  ['a subresource', { subjects, resources: [onPods] }, bob, 'get pods/log in a', true],
  ['another subresource', { subjects, resources: [onPods] }, bob, 'get pods/status in a', false],
  ['another namespace', { subjects, resources: [onPods] }, bob, 'get pods in c', false],
  ['no namespace', { subjects, resources: [onPods] }, bob, 'list pods', false],
  [
    'no namespace, with a rule for the cluster',
    { subjects, resources: [{ ...onPods, clusterScope: true }] },
    bob,
    'list pods',
    true,
  ],
  [
    'a namespace, with a rule for the cluster alone',
    { subjects, resources: [{ ...onPods, namespaces: [], clusterScope: true }] },
    bob,
    'get pods in a',
    false,
  ],
  [
    'a resource, with a rule for paths',
    { subjects, paths: [onPaths('*')] },
    bob,
    'get pods in a',
    false,
  ],
  ['a path, with a rule for resources', { subjects, resources: [onAll] }, bob, 'get /x', false],
  ['a path', { subjects, paths: [onPaths('/x')] }, bob, 'get /x', true],
  ['a path below that of the rule', { subjects, paths: [onPaths('/x')] }, bob, 'get /x/y', true],
  ['a path with the same beginning', { subjects, paths: [onPaths('/x')] }, bob, 'get /xy', false],
  [
    'a path below a path with a star',
    { subjects, paths: [onPaths('/x/*')] },
    bob,
    'get /x/y',
    true,
  ],
  ['any path', { subjects, paths: [onPaths('*')] }, bob, 'get /y', true],
  ['a path with another verb', { subjects, paths: [onPaths('*')] }, bob, 'head /y', false],
]
for (const [what, rules, who, request, isTaken] of cases) {
  test(`for ${what}, the request "${request}" is ${isTaken ? '' : 'not '}matched`, () => {
    assert.equal(takes(rules, who, request), isTaken)
  })
}

const found = (...schemas: readonly KubeObject[]): string | undefined =>
  classifierOf(...schemas).classify(bob, infoOf('get pods in a'))?.name

test('the flow schema with the lowest precedence number is used, and if several have this number, the first one by name', () => {
  const all = { subjects, resources: [onAll] }
  assert.equal(
    found(schema('c', 2, all), schema('b', 1, all), schema('a', 1, all), schema('d', 1, all)),
    'a',
  )
  assert.equal(found(schema('c', 0, all), schema('b', 1, all), schema('d', 1, all)), 'c')
})

test('a flow schema whose priority level does not exist is ignored', () => {
  const schemas = [schema('a', 1, { subjects, resources: [onAll] })].map(readSchema)
  assert.equal(
    new Classifier(schemas, () => undefined).classify(bob, infoOf('get pods in a')),
    undefined,
  )
})

test('a request that no rule matches belongs to the catch-all flow schema', () => {
  const classifier = classifierOf(
    schema('catch-all', 10_000, { subjects: [group('system:authenticated')] }),
  )
  assert.equal(classifier.classify(bob, infoOf('get pods in a'))?.name, 'catch-all')
})

test('a cached user is classified in the same way as a user that is not cached', () => {
  const classifier = classifierOf(
    schema('named', 1, { subjects: [person('user-1')], resources: [onAll] }),
    schema('all', 2, { subjects: [person('*')], resources: [onAll] }),
  )
  const users = Array.from({ length: 20 }, (_, at) => ({
    name: `user-${at % 3}`,
    uid: '',
    groups: bob.groups,
  }))
  for (let round = 0; round < 4; round++) {
    // In even rounds, the users alternate. In odd rounds, each user occurs three times in a row.
    for (const who of round % 2 === 0 ? users : users.flatMap((one) => [one, one, one])) {
      const expected = who.name === 'user-1' ? 'named' : 'all'
      assert.equal(classifier.classify(who, infoOf('get pods in a'))?.name, expected)
      assert.equal(classifier.classify({ ...who }, infoOf('get pods in a'))?.name, expected)
    }
  }
})
