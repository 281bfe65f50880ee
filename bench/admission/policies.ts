/** What policies cost a create: a thousand that do not match, and one that does. Usage: node bench/admission/policies.ts */
import { anObject, attributes, MemoryObjects } from '../../test/harness/admission.ts'
import type { Attributes } from '../../src/admission/admission.ts'
import { type CompiledPolicy, compilePolicy } from '../../src/admission/policies/compile-policy.ts'
import { Policy, readBinding } from '../../src/admission/policies/policy.ts'
import { PolicyIndex } from '../../src/admission/policies/policy-index.ts'
import { createValidatingPolicies } from '../../src/admission/policies/validating-policies.ts'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { builtInResources } from '../../src/registry/built-in.ts'
import { Registry } from '../../src/registry/registry.ts'

const registry = new Registry(builtInResources({ isServed: () => true, gates: { isOn: () => true } }))
const namespace = anObject('Namespace', 'n', { metadata: { labels: { team: 'a' } } })
const objects = {
  get: (): KubeObject => namespace,
  select: new MemoryObjects().select,
}

const rule = (resource: string): Fields => ({
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: [resource],
  operations: ['*'],
  scope: '*',
})

const expressions = [
  "object.spec.containers.all(c, !c.image.endsWith(':latest'))",
  "has(object.metadata.labels) && 'app' in object.metadata.labels",
  'object.spec.containers.all(c, has(c.resources) && has(c.resources.limits))',
  "!has(object.spec.hostNetwork) || !object.spec.hostNetwork || request.userInfo.username == 'admin'",
  "namespaceObject.metadata.labels['team'] == 'a' && variables.names.size() < 10",
]

function run(count: number, spec: (at: number) => Fields): (write: Attributes) => void | Promise<void> {
  const index = new PolicyIndex<CompiledPolicy>('validating', registry)
  for (let at = 0; at < count; at++) {
    const bound = { policyName: `p${at}`, validationActions: ['Deny'] }
    index.setPolicy(
      `p${at}`,
      new Policy(anObject('ValidatingAdmissionPolicy', `p${at}`, { spec: spec(at) }), compilePolicy),
    )
    index.setBinding(`p${at}`, readBinding(anObject('ValidatingAdmissionPolicyBinding', `p${at}`, { spec: bound })))
  }
  const plugin = createValidatingPolicies({
    index,
    objects,
    registry,
    resourcesOf: () => [],
    convertByWebhook: async (object) => object,
    authorizerOf: () => ({}),
    answerPattern: async (question) => question.answer(),
    metrics: { count: () => undefined },
    clock: { monotonicMs: () => performance.now() },
    conditionMetrics: { observePolicy: () => undefined },
  })
  return (write) => plugin.validate?.(write)
}

const pod = anObject('Pod', 'p', {
  metadata: { labels: { app: 'a' }, namespace: 'n' },
  spec: {
    containers: ['a', 'b'].map((name) => ({
      name,
      image: 'registry.example.com/a:1',
      resources: { limits: { cpu: '1', memory: '1Gi' } },
      env: Array.from({ length: 10 }, (_, at) => ({ name: `E${at}`, value: 'x' })),
    })),
  },
})

async function measure(what: string, validate: ReturnType<typeof run>): Promise<void> {
  const times = 20_000
  for (const isCounted of [false, true]) {
    const start = performance.now()
    for (let at = 0; at < times; at++) await validate(attributes({ plural: 'pods', object: pod }))
    const micros = ((performance.now() - start) / times) * 1_000
    if (isCounted) console.log(`${what}: ${micros.toFixed(2)} µs`)
  }
}

const matching = (resource: string): Fields => ({
  failurePolicy: 'Fail',
  matchConstraints: { resourceRules: [rule(resource)] },
  variables: [{ name: 'names', expression: 'object.spec.containers.map(c, c.name)' }],
  validations: expressions.map((expression) => ({ expression, messageExpression: "'no: ' + object.metadata.name" })),
})

await measure(
  'no policies',
  run(0, () => ({})),
)
await measure(
  '1000 policies of other resources',
  run(1_000, () => matching('secrets')),
)
const selector = { namespaceSelector: { matchLabels: { team: 'b' } } }
const elsewhere = (): Fields => ({
  ...matching('pods'),
  matchConstraints: { resourceRules: [rule('pods')], ...selector },
})
await measure('1000 policies of other namespaces', run(1_000, elsewhere))
const other = { objectSelector: { matchLabels: { team: 'b' } } }
const otherObjects = (): Fields => ({
  ...matching('pods'),
  matchConstraints: { resourceRules: [rule('pods')], ...other },
})
await measure('1000 policies of other objects', run(1_000, otherObjects))
const eachOther = (at: number): Fields => ({
  ...matching('pods'),
  matchConstraints: { resourceRules: [rule('pods')], objectSelector: { matchLabels: { app: `a${at}` } } },
})
await measure('1000 policies, each of other objects', run(1_000, eachOther))
await measure(
  'one policy of five validations that hold',
  run(1, () => matching('pods')),
)
