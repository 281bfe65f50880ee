/**
 * `npm run bench -- --only chain`: measures the CPU time that the admission chain adds to a create
 * when no webhooks, policies or quotas are configured. The chain runs without a server, because
 * differences this small cannot be measured on a whole server.
 */
import { Admission, type Plugin } from '../../../src/admission/admission.ts'
import { createMutatingPolicies } from '../../../src/admission/policies/mutating-policies.ts'
import { PolicyIndex } from '../../../src/admission/policies/policy-index.ts'
import { createValidatingPolicies } from '../../../src/admission/policies/validating-policies.ts'
import { createResourceQuota } from '../../../src/admission/resource-quota/plugin.ts'
import { OpenCharges } from '../../../src/admission/resource-quota/open-charges.ts'
import { WebhookList } from '../../../src/admission/webhooks/webhook-list.ts'
import { WebhookMetrics } from '../../../src/admission/webhooks/metrics.ts'
import { createMutatingWebhooks } from '../../../src/admission/webhooks/mutating.ts'
import { createValidatingWebhooks } from '../../../src/admission/webhooks/validating.ts'
import { defaultGates } from '../../../src/api/gates.ts'
import { pluginsOnByDefault } from '../../../src/config/admission-plugins.ts'
import { systemClock } from '../../../src/lib/time/clock.ts'
import { Metrics } from '../../../src/lib/telemetry/metrics.ts'
import { builtInResources } from '../../../src/registry/built-in.ts'
import { Registry } from '../../../src/registry/registry.ts'
import { ReceivedAnswers } from '../../../src/net/outbound/received.ts'
import { anObject, attributes, MemoryObjects } from '../../../test/support/harness/admission.ts'
import type { Figure } from '../../report/figure.ts'
import { median, medianInterval } from '../../report/interval.ts'

/**
 * Maximum CPU time, in µs, that an admission feature without configuration objects may add to a
 * create.
 */
const MICROS_MAX = 2
const ROUNDS = 40
/**
 * Number of writes per round. They take a few milliseconds, so that a round is seldom interrupted.
 */
const WRITES = 20_000

const write = attributes({ plural: 'configmaps', object: anObject('ConfigMap', 'c') })

const passing: Plugin = { name: 'NamespaceLifecycle', mutate: ({ object }) => object }

export async function benchChain(): Promise<Figure[]> {
  const features = unconfigured()
  const chains = {
    none: [passing],
    ...Object.fromEntries(
      Object.entries(features).map(([name, plugins]) => [name, [passing, ...plugins]]),
    ),
    'all of them': [passing, ...Object.values(features).flat()],
  }
  const running = pluginsOnByDefault.split(', ')
  const lanes = Object.entries(chains).map(([name, plugins]) => ({
    name,
    admission: new Admission(plugins, { running }),
    costs: new Array<number>(),
  }))
  // The first half of the rounds is warm-up and is not counted.
  for (let round = -ROUNDS; round < ROUNDS; round++) {
    for (const { admission, costs } of lanes) {
      const micros = await microsOf(admission)
      if (round >= 0) costs.push(micros)
    }
  }
  const [none, ...others] = lanes
  const base = none?.costs ?? []
  return [
    { name: 'admission of a create, with one plugin that passes', value: median(base), unit: 'µs' },
    ...others.map(({ name, costs }): Figure => {
      const { value, low, high } = medianInterval(
        costs.map((one, round) => one - (base[round] ?? Number.NaN)),
      )
      return {
        name: `${name}, not configured: CPU added to a create`,
        value,
        unit: 'µs',
        target: { below: MICROS_MAX },
        note: `95 %: ${low.toFixed(2)} to ${high.toFixed(2)}`,
      }
    }),
  ]
}

async function microsOf(admission: Admission): Promise<number> {
  const began = process.threadCpuUsage()
  for (let at = 0; at < WRITES; at++) {
    const mutating = admission.mutate(write)
    const object = mutating instanceof Promise ? await mutating : mutating
    const validating = admission.validate(object === undefined ? write : { ...write, object })
    if (validating instanceof Promise) await validating
  }
  const { user, system } = process.threadCpuUsage(began)
  return (user + system) / WRITES
}

function unconfigured(): Readonly<Record<string, readonly Plugin[]>> {
  const registry = new Registry(
    builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } }),
  )
  const memory = new MemoryObjects()
  memory.put('namespaces', '', anObject('Namespace', 'n'))
  const objects = { get: memory.getNow, select: memory.select }
  const policyParts = {
    objects,
    registry,
    resourcesOf: () => [],
    convertByWebhook: async <T>(object: T): Promise<T> => object,
    authorizerOf: () => ({}),
    answerPattern: async <T>({ answer }: { readonly answer: () => T }): Promise<T> => answer(),
    metrics: { count: () => undefined },
    clock: systemClock,
    conditionMetrics: { observePolicy: () => undefined, observeWebhook: () => undefined },
  }
  const webhookOptions = {
    ...policyParts,
    newId: () => '',
    metrics: new WebhookMetrics(new Metrics()),
    convertYaml: async (json: Buffer) => ({ json }),
  }
  const createWebhooks = (): WebhookList =>
    new WebhookList(registry, { getService: () => undefined, received: new ReceivedAnswers() })
  return {
    webhooks: [
      createMutatingWebhooks(createWebhooks(), webhookOptions),
      createValidatingWebhooks(createWebhooks(), webhookOptions),
    ],
    policies: [
      createMutatingPolicies({ ...policyParts, index: new PolicyIndex('mutating', registry) }),
      createValidatingPolicies({ ...policyParts, index: new PolicyIndex('validating', registry) }),
    ],
    quotas: [
      createResourceQuota(memory, () => [], {
        gates: defaultGates,
        clock: systemClock,
        limitedResources: [],
        openCharges: new OpenCharges(),
      }),
    ],
  }
}
