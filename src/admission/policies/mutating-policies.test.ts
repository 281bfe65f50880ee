import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
  pod,
} from '../../../test/support/harness/admission.ts'
import { turnsDuring } from '../../../test/support/harness/turns.ts'
import { type Fields, fieldsOf, itemsOf } from '../../api/object.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import { Admission, type Attributes, type Plugin } from '../admission.ts'
import { type CompiledMutations, compileMutations } from './compile-mutations.ts'
import { createMutatingPolicies } from './mutating-policies.ts'
import { Policy, readBinding } from './policy.ts'
import { PolicyIndex } from './policy-index.ts'

const registry = new Registry(
  builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
)

const rule = (resources: readonly string[]) => ({
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources,
  operations: ['*'],
  scope: '*',
})

const apply = (expression: string) => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

/** Returns a plugin with the policies `p0`, `p1` and so on, each with one binding. */
function pluginWith(
  specs: readonly Fields[],
  binding: Fields = {},
): Plugin & {
  readonly objects: MemoryObjects
  readonly counted: unknown[]
  readonly index: PolicyIndex<CompiledMutations>
} {
  const index = new PolicyIndex<CompiledMutations>('mutating', registry)
  const objects = new MemoryObjects()
  const counted: unknown[] = []
  objects.put('namespaces', '', anObject('Namespace', 'n'))
  for (const [at, spec] of specs.entries()) {
    const matchConstraints = {
      resourceRules: [rule(['configmaps', 'pods', 'pods/exec', 'deployments/scale'])],
    }
    const policy = { failurePolicy: 'Fail', reinvocationPolicy: 'Never', matchConstraints, ...spec }
    const name = `p${at}`
    index.setPolicy(
      name,
      new Policy(anObject('MutatingAdmissionPolicy', name, { spec: policy }), (given, slice) =>
        compileMutations(given, 33, slice),
      ),
    )
    const bound = { policyName: name, ...binding }
    index.setBinding(
      name,
      readBinding(anObject('MutatingAdmissionPolicyBinding', name, { spec: bound })),
    )
  }
  const plugin = createMutatingPolicies({
    index,
    objects: { get: (id, place) => objects.getNow(id, place), select: objects.select },
    registry,
    resourcesOf: (_, kind) =>
      registry.all().filter((resource) => resource.version === 'v1' && resource.kind === kind),
    convertByWebhook: async (object) => object,
    authorizerOf: () => ({}),
    answerPattern: async (question) => question.answer(),
    clock: { monotonicMs: () => 0 },
    conditionMetrics: { observePolicy: (one) => void counted.push(one) },
  })
  return { ...plugin, objects, counted, index }
}

const configMap = (data: Fields = { a: '1' }): Attributes =>
  attributes({ plural: 'configmaps', object: anObject('ConfigMap', 'c', { data }) })

/** Admits a ConfigMap and returns its data after the mutations, or the error. */
async function dataAfter(plugin: Plugin, write = configMap()): Promise<Fields | string> {
  const object = await admit(plugin, write)
  return typeof object === 'string' ? object : { ...fieldsOf(object?.['data']) }
}

const one = (mutation: Fields, more: Fields = {}): Plugin =>
  pluginWith([{ mutations: [mutation], ...more }])

test('apply configurations and JSON patches are applied in the order of the mutations', async () => {
  const mutations = [
    apply('Object{data: {"b": string(object.data.a) + "b"}}'),
    patch('[JSONPatch{op: "add", path: "/data/c", value: object.data.b + "c"}]'),
    apply('Object{data: {"d": string(object.data.c) + "d"}}'),
  ]
  const plugin = pluginWith([{ mutations }])
  assert.deepEqual(await dataAfter(plugin), { a: '1', b: '1b', c: '1bc', d: '1bcd' })
})

test('an apply configuration keeps the existing items of a list with keys, and new items get default values', async () => {
  const plugin = one(
    apply(
      'Object{spec: Object.spec{containers: [Object.spec.containers{name: "s", image: "x:1"}]}}',
    ),
  )
  const object = await admit(plugin, attributes({ plural: 'pods', object: pod() }))
  assert.ok(typeof object === 'object')
  const containers = itemsOf(fieldsOf(object['spec'])['containers'])
  assert.deepEqual(
    containers.map(({ name, imagePullPolicy }) => [name, imagePullPolicy]),
    [
      ['c', 'Always'],
      ['s', 'IfNotPresent'],
    ],
  )
})

const refusals = [
  [
    apply('Object{nothing: 1}'),
    'error applying patch: failed to convert patch object to typed object: .nothing: field not declared in schema',
  ],
  [
    apply('Object{metadata: Object.meta{}}'),
    'type mismatch: unexpected type name "Object.meta", expected "Object.metadata", which matches field name path from root Object type',
  ],
  [
    apply('Object{metadata: Object.metadata{managedFields: []}}'),
    'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .metadata.managedFields',
  ],
  [
    apply('Object{data: null}'),
    'error applying patch: failed to convert patch object to typed object: .data: expected map, got &{NULL_VALUE}',
  ],
  [
    apply('Object{data: {"a": 5u}}'),
    'error applying patch: failed to convert patch object to typed object: .data.a: expected string, got &value.valueUnstructured{Value:0x5}',
  ],
  [apply('Object{data: {1: "a"}}'), 'invalid return type: *dynamic.ObjectVal'],
  [
    apply('Object{data: {"a": string(object.nope)}}'),
    `expression 'Object{data: {"a": string(object.nope)}}' resulted in error: no such key: nope`,
  ],
  [
    patch('[JSONPatch{op: "remove", path: "/nope"}]'),
    "JSON Patch: error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing value",
  ],
  [
    patch('[JSONPatch{op: "add", path: "/data/t", value: type(1)}]'),
    "JSONPath valueExpression evaluated to a type that could not marshal to JSON: type conversion not supported for 'type'",
  ],
] as const

for (const [mutation, why] of refusals) {
  test(`a mutation is rejected with the error: ${why}`, async () => {
    assert.equal(
      await dataAfter(one(mutation)),
      `403 policy 'p0' with binding 'p0' denied request: ${why}`,
    )
    const ignoring = one(mutation, { failurePolicy: 'Ignore' })
    assert.deepEqual(await dataAfter(ignoring), { a: '1' })
  })
}

test('a patched object that cannot be decoded causes an internal error, whatever the failurePolicy', async () => {
  const mutation = patch('[JSONPatch{op: "add", path: "/nothing", value: 1}]')
  const plugin = one(mutation, { failurePolicy: 'Ignore' })
  assert.equal(
    await dataAfter(plugin),
    '500 Internal error occurred: strict decoding error: unknown field "nothing"',
  )
})

test('a JSON patch whose test operation fails does not change the object', async () => {
  const text =
    '[JSONPatch{op: "remove", path: "/data/a"}, JSONPatch{op: "test", path: "/metadata/name", value: "d"}]'
  assert.deepEqual(await dataAfter(one(patch(text))), { a: '1' })
})

test('a kind that no OpenAPI document of its version describes can be mutated only by JSON patches', async () => {
  const mutation = apply('Object{spec: Object.spec{replicas: 3}}')
  const object = anObject('Scale', 'd', { apiVersion: 'autoscaling/v1', spec: { replicas: 9 } })
  const write = attributes({
    plural: 'deployments',
    group: 'apps',
    subresource: 'scale',
    operation: 'UPDATE',
    object,
  })
  assert.match(
    JSON.stringify(await dataAfter(one(mutation), write)),
    /no corresponding type for autoscaling\/v1, Kind=Scale"$/,
  )
})

/** Returns a mutation that adds a character to the object each time it runs. */
const counts = (key: string): Fields =>
  apply(`Object{data: {"${key}": (has(object.data.${key}) ? object.data.${key} : "") + "x"}}`)

test('policies with reinvocationPolicy IfNeeded run a second time', async () => {
  const plugin = pluginWith([
    { mutations: [counts('n')] },
    { mutations: [counts('i')], reinvocationPolicy: 'IfNeeded' },
    { mutations: [counts('j')], reinvocationPolicy: 'IfNeeded' },
  ])
  assert.deepEqual(await dataAfter(plugin), { a: '1', n: 'x', i: 'xx', j: 'xx' })
})

test('policies run again if another plugin changed the object, and a change by a policy causes other plugins to run again', async () => {
  const policies = pluginWith([{ mutations: [counts('p')], reinvocationPolicy: 'IfNeeded' }])
  const seen: unknown[] = []
  const after: Plugin = {
    name: 'after',
    mutate: ({ object }) => {
      seen.push({ ...fieldsOf(object?.['data']) })
      return object && { ...object, data: { ...fieldsOf(object['data']), after: 'y' } }
    },
  }
  await new Admission([policies, after]).mutate(configMap())
  assert.deepEqual(seen, [
    { a: '1', p: 'x' },
    { a: '1', p: 'xx', after: 'y' },
  ])
})

test('a policy whose match condition is false in the first round does not run in the second round', async () => {
  const matchConditions = [{ name: 'c', expression: 'has(object.data.n)' }]
  const plugin = pluginWith([
    { mutations: [counts('i')], reinvocationPolicy: 'IfNeeded', matchConditions },
    { mutations: [counts('n')] },
  ])
  assert.deepEqual(await dataAfter(plugin), { a: '1', n: 'x' })
})

/** Runs a policy with these match conditions, and returns what it has recorded in the metrics. */
async function unmatched(...texts: readonly string[]): Promise<unknown[]> {
  const matchConditions = texts.map((expression, at) => ({ name: `c${at}`, expression }))
  const plugin = pluginWith([{ mutations: [counts('n')], matchConditions }])
  await dataAfter(plugin)
  return plugin.counted
}

test('match conditions of a policy that are false or fail are recorded in the metrics', async () => {
  const seen = { policy: 'p0', operation: 'CREATE', seconds: 0 }
  assert.deepEqual(await unmatched('true', 'object.data.a == "1"'), [])
  assert.deepEqual(await unmatched('true', 'false'), [{ ...seen, errors: 0 }])
  assert.deepEqual(await unmatched('object.nope', 'false', 'object.nope'), [{ ...seen, errors: 1 }])
  assert.deepEqual(await unmatched('object.nope', 'object.none'), [{ ...seen, errors: 2 }])
})

test('a request is denied if parameters are missing and the binding requires them', async () => {
  const paramKind = { apiVersion: 'v1', kind: 'ServiceAccount' }
  const mutations = [apply('Object{data: {params.metadata.name: string(params.metadata.uid)}}')]
  const paramRef = { selector: {}, parameterNotFoundAction: 'Deny' }
  const plugin = pluginWith([{ paramKind, mutations }], { paramRef })
  const none = 'no params found for policy binding with `Deny` parameterNotFoundAction'
  const why = `403 policy 'p0' with binding 'p0' denied request: failed to configure binding: ${none}`
  assert.equal(await dataAfter(plugin), why)
  for (const uid of ['q', 'r']) {
    plugin.objects.put(
      'serviceaccounts',
      'n',
      anObject('ServiceAccount', uid, { metadata: { uid } }),
    )
  }
  assert.deepEqual(await dataAfter(plugin), { a: '1', q: 'q', r: 'r' })
})

test('a mutation with a very large result is rejected, and long mutations do not block the event loop', async () => {
  const long = Array.from({ length: 40 }, () => 'object.data.a').join(' + ')
  const huge = one(patch(`[JSONPatch{op: "add", path: "/data/b", value: ${long}}]`))
  const write = configMap({ a: 'x'.repeat(100_000) })
  assert.match(
    JSON.stringify(await dataAfter(huge, write)),
    /a mutation may produce at most 3145728 characters of JSON/,
  )
  const many = pluginWith([{ mutations: Array.from({ length: 200 }, () => counts('n')) }])
  const data = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`k${at}`, 'v']))
  const turns = await turnsDuring(async () => void (await dataAfter(many, configMap(data))))
  assert.ok(turns > 10, `${turns} turns`)
})

test('mutating policies do not run for a delete', async () => {
  const plugin = pluginWith([
    { mutations: [counts('n')], matchConstraints: { resourceRules: [rule(['*'])] } },
  ])
  const gone = attributes({
    plural: 'configmaps',
    operation: 'DELETE',
    oldObject: anObject('ConfigMap', 'c'),
  })
  assert.equal(await admit(plugin, gone), undefined)
})

test('many bindings that do not match do not block the event loop', async () => {
  const plugin = pluginWith([{ mutations: [] }])
  for (let at = 0; at < 20_000; at++) {
    const matchResources = {
      resourceRules: [{ ...rule(['configmaps']), resourceNames: [`x${at}`] }],
    }
    const spec = { policyName: 'p0', matchResources }
    plugin.index.setBinding(
      `b${at}`,
      readBinding(anObject('MutatingAdmissionPolicyBinding', `b${at}`, { spec })),
    )
  }
  const turns = await turnsDuring(async () => {
    assert.equal(typeof (await admit(plugin, configMap())), 'object')
  })
  assert.ok(turns > 3, `${turns} turns`)
})
