import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceInfo } from '../../api/context.ts'
import { type FaultMatch, isMatch, nameInBody } from './fault-match.ts'

const info = (given: Partial<ResourceInfo>): ResourceInfo => ({
  kind: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  plural: 'pods',
  subresource: '',
  namespace: 'default',
  name: 'a',
  segments: [],
  isWatchPath: false,
  ...given,
})

const cases: readonly (readonly [FaultMatch, Partial<ResourceInfo>, boolean])[] = [
  [{}, {}, true],
  [{ verb: 'get' }, {}, true],
  [{ verb: 'list' }, {}, false],
  [{ verb: ['list', 'get'] }, {}, true],
  [{ resource: 'pods' }, {}, true],
  [{ resource: 'pods' }, { subresource: 'status' }, false],
  [{ resource: 'pods/status' }, { subresource: 'status' }, true],
  [{ resource: 'pods/status' }, {}, false],
  [{ resource: 'pods/*' }, { subresource: 'status' }, true],
  [{ resource: 'pods/*' }, {}, true],
  [{ resource: '*' }, {}, true],
  [{ resource: 'deployments' }, { plural: 'deployments', group: 'apps' }, true],
  [{ resource: 'deployments.apps' }, { plural: 'deployments', group: 'apps' }, true],
  [
    { resource: 'deployments.apps/scale' },
    { plural: 'deployments', group: 'apps', subresource: 'scale' },
    true,
  ],
  [{ resource: 'deployments.other' }, { plural: 'deployments', group: 'apps' }, false],
  [{ namespace: 'default' }, {}, true],
  [{ namespace: 'other' }, {}, false],
  [{ name: 'a' }, {}, true],
  [{ name: 'b' }, {}, false],
  [{ name: 'in-body' }, { verb: 'create', name: '' }, true],
  [{ name: 'other' }, { verb: 'create', name: '' }, false],
  [{ name: 'in-body' }, { verb: 'list', name: '' }, false],
]

for (const [match, given, expected] of cases) {
  test(`the match ${JSON.stringify(match)} ${expected ? 'selects' : 'does not select'} the request ${JSON.stringify(given)}`, async () => {
    assert.equal(await isMatch(match, info(given), async () => 'in-body'), expected)
  })
}

const readName = (): Promise<string> => Promise.reject(new Error('it was read'))

test('the body of a request is read only if the result of the match depends on it', async () => {
  assert.equal(
    await isMatch({ name: 'x', verb: 'get' }, info({ verb: 'create', name: '' }), readName),
    false,
  )
  assert.equal(
    await isMatch({ verb: 'create' }, info({ verb: 'create', name: '' }), readName),
    true,
  )
})

const bytes = (field: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([(field << 3) | 2, body.length]), body])
}

test('the name of an object is read from JSON and protobuf bodies, and is empty for other formats', () => {
  assert.equal(nameInBody(Buffer.from('{"metadata":{"name":"x"}}')), 'x')
  assert.equal(nameInBody(Buffer.from('{"metadata":{"generateName":"x-"}}')), '')
  for (const text of [
    '',
    '{',
    '[]',
    'null',
    '{"metadata":null}',
    '{"metadata":{"name":1}}',
    'apiVersion: v1',
  ]) {
    assert.equal(nameInBody(Buffer.from(text)), '', text)
  }
  const metadata = bytes(1, bytes(1, Buffer.from('x')))
  const envelope = [
    bytes(1, bytes(1, Buffer.from('v1')), bytes(2, Buffer.from('Pod'))),
    bytes(2, metadata),
  ]
  const whole = Buffer.concat([Buffer.from('k8s\0'), ...envelope])
  assert.equal(nameInBody(whole), 'x')
  for (let length = 0; length < whole.length; length++)
    assert.equal(nameInBody(whole.subarray(0, length)), '')
})
