/**
 * Measures what policies cost a create: a thousand that do not match, and one that does.
 *
 *   node bench/parts/admission/policies.ts [--cold]
 *
 * In a loop, everything that a create touches is in the CPU caches. With `--cold`, a large buffer
 * is read before each create and evicts this data, as the other work of a server would.
 */
import { anObject, attributes, MemoryObjects } from '../../../test/support/harness/admission.ts'
import type { Attributes } from '../../../src/admission/admission.ts'
import {
  type CompiledPolicy,
  compilePolicy,
} from '../../../src/admission/policies/compile-policy.ts'
import { Policy, readBinding } from '../../../src/admission/policies/policy.ts'
import { PolicyIndex } from '../../../src/admission/policies/policy-index.ts'
import { createValidatingPolicies } from '../../../src/admission/policies/validating-policies.ts'
import { labelOf, matchingObjects, policySpec } from './configurations.ts'
import type { Fields, KubeObject } from '../../../src/api/object.ts'
import { celAuthorizer } from '../../../src/access/authorization/cel-authorizer.ts'
import { builtInResources } from '../../../src/registry/built-in.ts'
import { Registry } from '../../../src/registry/registry.ts'

const registry = new Registry(
  builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
)
/**
 * Metadata of the same size as that of stored objects, because the cost of a request depends on the
 * size of the whole object.
 */
const stored = {
  uid: '0a5c7c5e-6f1c-4f2c-9a55-0c1f0f7f2a11',
  creationTimestamp: '2026-01-01T00:00:00Z',
}
const managed = (fieldsV1: string): Fields => ({
  ...stored,
  managedFields: [
    {
      manager: 'h2load',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1,
    },
  ],
})
const namespace = anObject('Namespace', 'n', {
  metadata: {
    ...managed(
      '{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{},"f:team":{}}}}',
    ),
    labels: { 'kubernetes.io/metadata.name': 'n', team: 'a' },
  },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
})
const user = { name: 'admin', uid: 'admin-uid', groups: ['system:masters', 'system:authenticated'] }
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

function run(
  count: number,
  spec: (at: number) => Fields,
): (write: Attributes) => void | Promise<void> {
  const index = new PolicyIndex<CompiledPolicy>('validating', registry)
  for (let at = 0; at < count; at++) {
    const bound = { policyName: `p${at}`, validationActions: ['Deny'] }
    index.setPolicy(
      `p${at}`,
      new Policy(
        anObject('ValidatingAdmissionPolicy', `p${at}`, { spec: spec(at) }),
        (own, slice) => compilePolicy(own, registry.release, slice),
      ),
    )
    index.setBinding(
      `p${at}`,
      readBinding(anObject('ValidatingAdmissionPolicyBinding', `p${at}`, { spec: bound })),
    )
  }
  const plugin = createValidatingPolicies({
    index,
    objects,
    registry,
    resourcesOf: () => [],
    convertByWebhook: async (object) => object,
    authorizerOf: (context, requestResource) =>
      celAuthorizer({
        authorize: () => ({ verdict: 'allow', reason: '' }),
        user: context.user,
        requestResource,
      }),
    answerPattern: async (question) => question.answer(),
    metrics: { count: () => undefined },
    clock: { monotonicMs: () => performance.now() },
    conditionMetrics: { observePolicy: () => undefined },
  })
  return (write) => plugin.validate?.(write)
}

const podOwners = `{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{${[
  'a',
  'b',
]
  .map(
    (name) =>
      `"k:{\\"name\\":\\"${name}\\"}":{".":{},"f:env":{".":{},"f:x":{}},"f:image":{},"f:name":{},"f:resources":{}}`,
  )
  .join()}},"f:restartPolicy":{},"f:terminationGracePeriodSeconds":{}}}`
const pod = anObject('Pod', 'p', {
  metadata: { labels: { app: 'a' }, namespace: 'n', ...managed(podOwners) },
  spec: {
    containers: ['a', 'b'].map((name) => ({
      name,
      image: 'registry.example.com/a:1',
      resources: { limits: { cpu: '1', memory: '1Gi' } },
      env: Array.from({ length: 10 }, (_, at) => ({ name: `E${at}`, value: 'x' })),
    })),
  },
})

const map = anObject('ConfigMap', 'b-x7k2p', {
  metadata: {
    generateName: 'b-',
    namespace: 'n',
    labels: labelOf('policy'),
    ...managed(
      '{"f:data":{".":{},"f:a":{},"f:b":{},"f:c":{}},"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:bench":{}}}}',
    ),
  },
  data: { a: '1', b: '2', c: '3' },
})

const ROUNDS = 11
const WRITES = 4_000

const isCold = process.argv.includes('--cold')
/** Size of a buffer that exceeds the second-level cache of a core. */
const elsewhereInMemory = new Float64Array((4 << 20) / 8)
const LINE_BYTES = 64

function emptyCaches(): number {
  let sum = 0
  for (let at = 0; at < elsewhereInMemory.length; at += LINE_BYTES / 8)
    sum += elsewhereInMemory[at] ?? 0
  return sum
}

/** Returns the median wall-clock time of a create. Work between two creates is not counted. */
async function measureCold(
  what: string,
  validate: ReturnType<typeof run>,
  write: () => Attributes,
): Promise<void> {
  const times: number[] = []
  for (let at = 0; at < COLD_WRITES * 2; at++) {
    const one = write()
    emptyCaches()
    const beganMs = performance.now()
    const validated = validate(one)
    if (validated instanceof Promise) await validated
    if (at >= COLD_WRITES) times.push((performance.now() - beganMs) * 1000)
  }
  times.sort((a, b) => a - b)
  const [half = 0, tenth = 0] = [times[COLD_WRITES >> 1], times[Math.floor(COLD_WRITES / 10)]]
  console.log(`${what}, cold: ${half.toFixed(1)} µs, fastest tenth below ${tenth.toFixed(1)}`)
}

const COLD_WRITES = 5_000

/**
 * Returns the CPU time of this thread and of the garbage collector's threads. On a busy machine,
 * wall-clock time would include other processes.
 */
async function measure(
  what: string,
  validate: ReturnType<typeof run>,
  object = pod,
): Promise<void> {
  const plural = object === pod ? 'pods' : 'configmaps'
  const costs: number[] = []
  const write = (): Attributes => attributes({ plural, object, user, options: () => createOptions })
  if (isCold) return await measureCold(what, validate, write)
  for (let round = 0; round < ROUNDS * 2; round++) {
    const writes = Array.from({ length: WRITES }, write)
    const begun = process.cpuUsage()
    for (const one of writes) {
      const validated = validate(one)
      if (validated instanceof Promise) await validated
    }
    const { user: own, system } = process.cpuUsage(begun)
    if (round >= ROUNDS) costs.push((own + system) / WRITES)
  }
  costs.sort((a, b) => a - b)
  console.log(
    `${what}: ${(costs[ROUNDS >> 1] ?? 0).toFixed(2)} µs of CPU, minimum ${(costs[0] ?? 0).toFixed(2)}`,
  )
}

const createOptions = {
  kind: 'CreateOptions',
  apiVersion: 'meta.k8s.io/v1',
  fieldValidation: 'Ignore',
}

const matching = (resource: string): Fields => ({
  failurePolicy: 'Fail',
  matchConstraints: { resourceRules: [rule(resource)] },
  variables: [{ name: 'names', expression: 'object.spec.containers.map(c, c.name)' }],
  validations: expressions.map((expression) => ({
    expression,
    messageExpression: "'no: ' + object.metadata.name",
  })),
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
  matchConstraints: {
    resourceRules: [rule('pods')],
    objectSelector: { matchLabels: { app: `a${at}` } },
  },
})
await measure('1000 policies, each of other objects', run(1_000, eachOther))
await measure(
  'one policy of five validations that hold',
  run(1, () => matching('pods')),
)
await measure(
  'the policy of creates.ts',
  run(1, () => policySpec(matchingObjects('policy'))),
  map,
)
