import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
} from '../../../test/support/harness/admission.ts'
import { turnsDuring } from '../../../test/support/harness/turns.ts'
import { RequestContext } from '../../api/context.ts'
import { internalError } from '../../api/errors.ts'
import type { Fields } from '../../api/object.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import type { Plugin } from '../admission.ts'
import type { ConvertByWebhook } from '../match/versions.ts'
import { type CompiledPolicy, compilePolicy } from './compile-policy.ts'
import { Policy, readBinding } from './policy.ts'
import { PolicyIndex } from './policy-index.ts'
import { createValidatingPolicies } from './validating-policies.ts'

const registry = new Registry(
  builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
)

const resourceRules = [
  {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    operations: ['*'],
    scope: '*',
  },
]

function pluginWith(
  spec: Fields,
  binding: Fields = {},
  convertByWebhook: ConvertByWebhook = async (object) => object,
): Plugin & {
  readonly objects: MemoryObjects
  readonly counted: unknown[]
  readonly index: PolicyIndex<CompiledPolicy>
} {
  const counted: unknown[] = []
  const index = new PolicyIndex<CompiledPolicy>('validating', registry)
  const objects = new MemoryObjects()
  objects.put('namespaces', '', anObject('Namespace', 'n'))
  const policy = { failurePolicy: 'Fail', matchConstraints: { resourceRules }, ...spec }
  const bound = { policyName: 'p', validationActions: ['Deny'], ...binding }
  index.setPolicy(
    'p',
    new Policy(anObject('ValidatingAdmissionPolicy', 'p', { spec: policy }), (given, slice) =>
      compilePolicy(given, 33, slice),
    ),
  )
  index.setBinding(
    'b',
    readBinding(anObject('ValidatingAdmissionPolicyBinding', 'b', { spec: bound })),
  )
  const plugin = createValidatingPolicies({
    index,
    objects: { get: (id, place) => objects.getNow(id, place), select: objects.select },
    registry,
    resourcesOf: (_, kind) =>
      registry.all().filter((resource) => resource.version === 'v1' && resource.kind === kind),
    convertByWebhook,
    authorizerOf: () => ({}),
    answerPattern: async (question) => question.answer(),
    metrics: { count: (action, check) => void counted.push([action, check]) },
    clock: { monotonicMs: () => 0 },
    conditionMetrics: { observePolicy: (unmatched) => void counted.push(unmatched) },
  })
  return { ...plugin, objects, counted, index }
}

const configMap = (data: Fields = { a: '1' }) =>
  attributes({ plural: 'configmaps', object: anObject('ConfigMap', 'c', { data }) })

const denied = (why: string): string =>
  `422 configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p'${why}`

test('the denial of a request has the reason that the validation specifies', async () => {
  const validations = [{ expression: "object.data.a == '2'", message: 'two', reason: 'Forbidden' }]
  const plugin = pluginWith({ validations })
  assert.equal(
    await admit(plugin, configMap()),
    `403 configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: two`,
  )
  assert.equal(typeof (await admit(plugin, configMap({ a: '2' }))), 'object')
  const secret = attributes({ plural: 'secrets', object: anObject('Secret', 's') })
  assert.equal(plugin.validate?.(secret), undefined)
})

test('a binding can cause warnings and audit annotations instead of a denial', async () => {
  const write = configMap()
  const plugin = pluginWith(
    {
      validations: [{ expression: 'true' }, { expression: 'false', message: '<no>' }],
      auditAnnotations: [{ key: 'k', valueExpression: 'object.data.a' }],
    },
    { validationActions: ['Warn', 'Audit'] },
  )
  assert.equal(typeof (await admit(plugin, write)), 'object')
  const { context } = write
  assert.deepEqual(context.warnings, [
    "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': <no>",
  ])
  assert.deepEqual(
    [...(context.ownAnnotations ?? [])],
    [
      [
        'validation.policy.admission.k8s.io/validation_failure',
        '[{"message":"\\u003cno\\u003e","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Warn","Audit"]}]',
      ],
      ['p/k', '1'],
    ],
  )
  const check = { policy: 'p', binding: 'b', error: 'invalid_error', seconds: 0 }
  assert.deepEqual(plugin.counted, [
    ['warn', check],
    ['audit', check],
  ])
})

test('a policy uses the current parameters, and denies requests if its parameters are missing', async () => {
  const paramKind = { apiVersion: 'v1', kind: 'ServiceAccount' }
  const paramRef = { name: 'q', parameterNotFoundAction: 'Deny' }
  const validations = [
    { expression: 'object.data.a == params.metadata.labels.want', message: 'unwanted' },
  ]
  const plugin = pluginWith({ paramKind, validations }, { paramRef })
  const none = 'no params found for policy binding with `Deny` parameterNotFoundAction'
  const refused = denied(` with binding 'b' denied request: failed to configure binding: ${none}`)
  assert.equal(await admit(plugin, configMap()), refused)
  const put = (want: string): void =>
    plugin.objects.put(
      'serviceaccounts',
      'n',
      anObject('ServiceAccount', 'q', { metadata: { labels: { want } } }),
    )
  put('1')
  assert.equal(typeof (await admit(plugin, configMap())), 'object')
  put('2')
  assert.equal(
    await admit(plugin, configMap()),
    denied(` with binding 'b' denied request: unwanted`),
  )
})

test('a configuration error denies the request, unless failurePolicy ignores errors', async () => {
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'Nothing' },
    validations: [{ expression: 'true' }],
  }
  const paramRef = { name: 'q', parameterNotFoundAction: 'Deny' }
  const fault = `failed to find resource referenced by paramKind: '/v1, Kind=Nothing'`
  assert.equal(
    await admit(pluginWith(spec, { paramRef }), configMap()),
    denied(` denied request: failed to configure policy: ${fault}`),
  )
  assert.equal(
    typeof (await admit(pluginWith({ ...spec, failurePolicy: 'Ignore' }), configMap())),
    'object',
  )
})

const fails: ConvertByWebhook = async () => {
  throw internalError('cannot')
}

test('a failed conversion of an object counts as a configuration error', async () => {
  const spec = {
    matchConstraints: { matchPolicy: 'Equivalent', resourceRules },
    validations: [{ expression: 'true' }],
  }
  const write = configMap()
  const other = {
    ...write,
    resource: { ...write.resource, version: 'v2', versions: { conversionWebhook: {} } },
  }
  const why = 'failed to convert object version: Internal error occurred: cannot'
  assert.equal(
    await admit(pluginWith(spec, {}, fails), other),
    denied(` with binding 'b' denied request: failed to configure binding: ${why}`),
  )
  assert.equal(
    typeof (await admit(pluginWith({ ...spec, failurePolicy: 'Ignore' }, {}, fails), other)),
    'object',
  )
})

test('a policy is evaluated only if its selectors match the current labels of the namespace and the object', async () => {
  const validations = [{ expression: 'false', message: 'no' }]
  const everything = [
    { apiGroups: [''], apiVersions: ['v1'], resources: ['*'], operations: ['*'], scope: '*' },
  ]
  const selector = { matchLabels: { team: 'a' } }
  const inSpace = pluginWith({
    matchConstraints: { resourceRules: everything, namespaceSelector: selector },
    validations,
  })
  const put = (team: string): void =>
    inSpace.objects.put(
      'namespaces',
      '',
      anObject('Namespace', 'n', { metadata: { labels: { team } } }),
    )
  const refused = denied(` with binding 'b' denied request: no`)
  for (const [team, expected] of [
    ['b', 'object'],
    ['a', refused],
    ['a', refused],
    ['b', 'object'],
  ] as const) {
    put(team)
    const admitted = await admit(inSpace, configMap())
    assert.equal(typeof admitted === 'object' ? 'object' : admitted, expected)
  }
  const ofObject = pluginWith({
    matchConstraints: { resourceRules: everything, objectSelector: selector },
    validations,
  })
  assert.equal(ofObject.validate?.(configMap()), undefined)
  const object = anObject('ConfigMap', 'c', { metadata: { labels: { team: 'a' } } })
  assert.equal(await admit(ofObject, attributes({ plural: 'configmaps', object })), refused)
})

test('thousands of parameters do not block the event loop, and the evaluation of a canceled request stops between two parameters', async () => {
  const paramKind = { apiVersion: 'v1', kind: 'ServiceAccount' }
  const paramRef = { selector: {}, parameterNotFoundAction: 'Deny' }
  const validations = [{ expression: "params.metadata.name.startsWith('q')" }]
  const plugin = pluginWith({ paramKind, validations }, { paramRef })
  for (let at = 0; at < 2_000; at++)
    plugin.objects.put('serviceaccounts', 'n', anObject('ServiceAccount', `q${at}`))
  const turns = await turnsDuring(async () => {
    assert.equal(typeof (await admit(plugin, configMap())), 'object')
  })
  assert.ok(turns > 5, `${turns} turns`)
  const client = new AbortController()
  const context = new RequestContext({
    auditId: '',
    info: { kind: 'path', verb: 'get', path: '/' },
    client,
    timeoutMs: Infinity,
    monotonicMs: () => 0,
  })
  context.identify({ name: 'u', uid: '', groups: [] })
  setImmediate(() => client.abort())
  assert.equal(await admit(plugin, { ...configMap(), context }), '503 the request was cancelled')
})

test('a stored policy that can no longer be decoded stays in force, and a new policy that cannot be decoded blocks writes', async () => {
  const plugin = pluginWith({ validations: [{ expression: 'false', message: 'no' }] })
  plugin.index.setUnreadable('policies', 'p')
  plugin.index.setUnreadable('bindings', 'b')
  assert.equal(await admit(plugin, configMap()), denied(` with binding 'b' denied request: no`))
  plugin.index.setUnreadable('policies', 'q')
  const why = 'the stored validating admission policy "q" cannot be decoded; repair or delete it'
  assert.equal(await admit(plugin, configMap()), `403 configmaps "c" is forbidden: ${why}`)
  const object = anObject('ValidatingAdmissionPolicy', 'q')
  const repair = attributes({
    group: 'admissionregistration.k8s.io',
    plural: 'validatingadmissionpolicies',
    object,
  })
  assert.equal(await admit(plugin, repair), object)
})

test('many bindings that do not match do not block the event loop', async () => {
  const plugin = pluginWith({ validations: [{ expression: 'true' }] })
  for (let at = 0; at < 20_000; at++) {
    const matchResources = { resourceRules: [{ ...resourceRules[0], resourceNames: [`x${at}`] }] }
    const spec = { policyName: 'p', validationActions: ['Deny'], matchResources }
    plugin.index.setBinding(
      `b${at}`,
      readBinding(anObject('ValidatingAdmissionPolicyBinding', `b${at}`, { spec })),
    )
  }
  const turns = await turnsDuring(async () => {
    assert.equal(typeof (await admit(plugin, configMap())), 'object')
  })
  assert.ok(turns > 3, `${turns} turns`)
})
