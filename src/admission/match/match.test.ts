import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anObject, attributes, MemoryObjects } from '../../../test/support/harness/admission.ts'
import { bestLongestTurnMs } from '../../../test/support/harness/turns.ts'
import type { Fields } from '../../api/object.ts'
import { inParts } from '../../lib/scheduling/parts.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import type { Attributes } from '../admission.ts'
import { matchesObjectSelector, readPolicyCriteria, readWebhookCriteria } from './criteria.ts'
import { MatchIndex } from './match-index.ts'
import { matchesNamespaceSelector } from './namespaces.ts'
import { convertTo } from './versions.ts'

const registry = new Registry(
  builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
)

const rule = (resource: string, more: Fields = {}): Fields => ({
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: [resource],
  scope: '*',
  ...more,
})

const write = (plural: string, subresource = '', more: Partial<Attributes> = {}): Attributes =>
  attributes({ plural, subresource, ...more })

function matched(config: Fields, request: Attributes): string | undefined {
  const index = new MatchIndex<{ readonly criteria: ReturnType<typeof readPolicyCriteria> }>(
    registry,
  )
  index.entries = [{ criteria: readPolicyCriteria(config) }]
  const [found] = index.candidates(request)
  // Match the request again. The result now comes from the cache, and must be the same.
  assert.deepEqual(index.candidates(request)[0], found)
  return found && `${found.resource.group}/${found.resource.version}`
}

test('the rules of webhooks match resources and subresources', () => {
  const cases = [
    ['pods', 'pods', '', true],
    ['pods', 'pods', 'status', false],
    ['pods/status', 'pods', 'status', true],
    ['pods/status', 'pods', '', false],
    ['pods/*', 'pods', '', true],
    ['pods/*', 'pods', 'exec', true],
    ['pods/*', 'secrets', '', false],
    ['*', 'secrets', '', true],
    ['*', 'pods', 'status', false],
    ['*/*', 'pods', 'status', true],
    ['*/*', 'pods', '', true],
    ['*/status', 'pods', 'status', true],
    ['*/status', 'pods', '', false],
  ] as const
  for (const [resource, plural, subresource, expected] of cases) {
    const found = matched({ resourceRules: [rule(resource)] }, write(plural, subresource))
    assert.equal(found !== undefined, expected, `${resource} of ${plural}/${subresource}`)
  }
})

test('the rules of webhooks and policies match operations, groups, versions, scopes and names', () => {
  const of = (more: Fields): Fields => ({ resourceRules: [rule('*', more)] })
  const pods = write('pods', '', { name: 'p' })
  assert.equal(matched(of({ operations: ['UPDATE'] }), pods), undefined)
  assert.equal(matched(of({ operations: ['UPDATE', 'CREATE'] }), pods), '/v1')
  assert.equal(matched(of({ apiGroups: ['apps'] }), pods), undefined)
  assert.equal(matched(of({ apiVersions: ['v2'] }), pods), undefined)
  assert.equal(matched(of({ scope: 'Cluster' }), pods), undefined)
  assert.equal(matched(of({ scope: 'Namespaced' }), pods), '/v1')
  assert.equal(matched(of({ scope: 'Cluster' }), write('namespaces')), '/v1')
  assert.equal(matched(of({ scope: 'Namespaced' }), write('namespaces')), undefined)
  assert.equal(matched(of({ resourceNames: ['p'] }), pods), '/v1')
  assert.equal(matched(of({ resourceNames: ['q'] }), pods), undefined)
  assert.equal(matched({}, pods), '/v1')
  assert.equal(matched({ excludeResourceRules: [rule('pods')] }, pods), undefined)
  assert.equal(
    matched({ excludeResourceRules: [rule('pods', { resourceNames: ['p'] })] }, pods),
    undefined,
  )
  assert.equal(
    matched({ excludeResourceRules: [rule('pods', { resourceNames: ['q'] })] }, pods),
    '/v1',
  )
})

test('a webhook without rules matches no request', () => {
  const index = new MatchIndex<{ readonly criteria: ReturnType<typeof readWebhookCriteria> }>(
    registry,
  )
  index.entries = [{ criteria: readWebhookCriteria({}) }]
  assert.deepEqual(index.candidates(write('pods')), [])
})

test('a rule with matchPolicy Equivalent also matches other versions, and a rule for the exact version takes precedence', () => {
  const resource = registry.find({
    group: 'autoscaling',
    version: 'v2',
    plural: 'horizontalpodautoscalers',
  })
  assert.ok(resource)
  const scaler = { ...write('pods'), resource }
  const v1 = rule('horizontalpodautoscalers', { apiGroups: ['autoscaling'], apiVersions: ['v1'] })
  const both = [v1, rule('horizontalpodautoscalers', { apiVersions: ['v2'] })]
  assert.equal(matched({ resourceRules: [v1], matchPolicy: 'Exact' }, scaler), undefined)
  assert.equal(
    matched({ resourceRules: [v1], matchPolicy: 'Equivalent' }, scaler),
    'autoscaling/v1',
  )
  assert.equal(
    matched({ resourceRules: both, matchPolicy: 'Equivalent' }, scaler),
    'autoscaling/v2',
  )
  const events = rule('events', { apiGroups: ['events.k8s.io'] })
  assert.equal(
    matched({ resourceRules: [events], matchPolicy: 'Equivalent' }, write('events')),
    'events.k8s.io/v1',
  )
})

const never = (): never => assert.fail('built-in kinds need no webhook')

test('an object is converted to the version that the matching rule names', () => {
  const [v1, v2] = ['v1', 'v2'].map((version) =>
    registry.find({ group: 'autoscaling', version, plural: 'horizontalpodautoscalers' }),
  )
  assert.ok(v1 && v2)
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 2 }
  const object = {
    ...anObject('HorizontalPodAutoscaler', 'h', { spec }),
    apiVersion: 'autoscaling/v2',
  }
  const converted = convertTo(object, { from: v2, to: v1, subresource: '' }, never)
  assert.ok(!(converted instanceof Promise))
  assert.equal(converted.apiVersion, 'autoscaling/v1')
})

test('object selectors match the object or the old object', () => {
  const criteria = readWebhookCriteria({ objectSelector: { matchLabels: { a: 'b' } } })
  const labelled = anObject('Pod', 'p', { metadata: { labels: { a: 'b' } } })
  const plain = anObject('Pod', 'p')
  const matches = (
    object: typeof plain | undefined,
    oldObject: typeof plain | undefined,
  ): boolean => matchesObjectSelector(criteria, write('pods', '', { object, oldObject }))
  assert.deepEqual(
    [
      matches(labelled, undefined),
      matches(plain, labelled),
      matches(undefined, labelled),
      matches(plain, undefined),
    ],
    [true, true, true, false],
  )
  assert.equal(
    matchesObjectSelector(criteria, write('pods', '', { operation: 'CONNECT', object: labelled })),
    false,
  )
})

test("a namespace selector matches the labels of an object's namespace, or of the object itself if it is a Namespace", async () => {
  const objects = new MemoryObjects()
  objects.put('namespaces', '', anObject('Namespace', 'n', { metadata: { labels: { a: 'b' } } }))
  objects.put('namespaces', '', anObject('Namespace', 'other'))
  const criteria = readWebhookCriteria({
    namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
  })
  const matches = async (request: Attributes): Promise<boolean> =>
    matchesNamespaceSelector(criteria, request, objects)
  assert.equal(await matches(write('pods')), true)
  assert.equal(await matches(write('pods', '', { namespace: 'other' })), false)
  assert.equal(await matches(write('nodes')), true)
  await assert.rejects(
    matches(write('pods', '', { namespace: 'gone' })),
    /namespaces "gone" not found/,
  )
  const namespace = anObject('Namespace', 'other', { metadata: { labels: { a: 'b' } } })
  assert.equal(await matches(write('namespaces', '', { object: namespace })), true)
  const [operation, name] = ['DELETE', 'other'] as const
  assert.equal(
    await matches(write('namespaces', '', { operation, name, oldObject: namespace })),
    false,
  )
})

test('a rule with very many resourceNames is read without blocking the event loop', async () => {
  const resourceNames = Array.from({ length: 200_000 }, (_, at) => `name-${at}`)
  const match = {
    resourceRules: [
      { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], resourceNames },
    ],
  }
  const ms = await bestLongestTurnMs(async () => {
    const slices = new Slices(systemTime, { isExpensive: true })
    const { rules } = await inParts(() => readPolicyCriteria(match), slices)
    assert.equal(rules?.[0]?.names?.size, 200_000)
  })
  assert.ok(ms < 50, `${ms} ms`)
})
