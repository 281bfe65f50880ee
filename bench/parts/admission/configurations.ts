/**
 * The configuration of a benchmark server. Many webhooks and policies do not match the creates of
 * the load, but one webhook and one policy match them. Several API groups have a kind of the same
 * name.
 */
import type { Fields } from '../../../src/api/object.ts'
import { createClient } from '../../../test/recorded/compat/client.ts'
import type { Target } from '../../server/targets.ts'
import { inLanes } from '../../server/lanes.ts'

const WEBHOOKS = 500
const WEBHOOKS_PER_CONFIGURATION = 5
const POLICIES = 1_000
const LANES = 8

const admission = '/apis/admissionregistration.k8s.io/v1'

/**
 * Labels that make an object match the webhook or the policy. Objects without them match neither.
 */
export const labelOf = (what: 'webhook' | 'policy'): Readonly<Record<string, string>> => ({
  bench: what,
})

/**
 * Number of API groups that each define an identical kind `Thing`. Rules for ConfigMaps also match
 * the `Thing` of the first group.
 */
export const twinGroups = ['named.example.com', 'other.example.com', 'again.example.com'] as const

const rule = (resource: string): Fields => ({
  apiGroups: resource === 'configmaps' ? ['', twinGroups[0]] : [''],
  apiVersions: ['v1'],
  operations: ['*'],
  resources: resource === 'configmaps' ? [resource, 'things'] : [resource],
})

const twinDefinition = (group: string): object => ({
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { data: { type: 'object', additionalProperties: { type: 'string' } } },
          },
        },
      },
    ],
  },
})

type Split = { readonly rule: Fields; readonly [selector: string]: Fields }

/**
 * Returns a rule that does not match the creates of the load. A rule differs from these creates
 * either in the resource, in the labels of the namespace, or in the labels of the object. The index
 * `at` selects one of these differences.
 */
function splitOf(at: number): Split {
  if (at % 3 === 0) return { rule: rule('secrets') }
  const selector = { matchLabels: { team: `t${at}` } }
  return {
    rule: rule('configmaps'),
    [at % 3 === 1 ? 'namespaceSelector' : 'objectSelector']: selector,
  }
}

export const matchingObjects = (what: 'webhook' | 'policy'): Split => ({
  rule: rule('configmaps'),
  objectSelector: { matchLabels: labelOf(what) },
})

const five = [
  "object.data.all(k, !k.startsWith('x'))",
  "has(object.metadata.labels) && 'bench' in object.metadata.labels",
  'object.data.size() < 10',
  "!has(object.immutable) || !object.immutable || request.userInfo.username == 'admin'",
  "object.metadata.labels['bench'] == 'policy' && variables.keys.size() < 10",
]

const webhookOf = (
  name: string,
  { rule: one, ...selectors }: Split,
  clientConfig: object,
): object => ({
  name: `${name}.example.com`,
  clientConfig,
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [one],
  ...selectors,
})

export const policySpec = ({ rule: one, ...selectors }: Split): Fields => ({
  matchConstraints: { resourceRules: [one], ...selectors },
  variables: [{ name: 'keys', expression: 'object.data.map(k, k)' }],
  validations: five.map((expression) => ({ expression })),
})

/** Stores all configuration. `clientConfig` is the client configuration of the webhooks. */
export async function configure(target: Target, clientConfig: object): Promise<void> {
  using client = createClient(target)
  const post = async (resource: string, body: object, group = admission): Promise<void> => {
    const { status, raw } = await client.request({
      method: 'POST',
      path: `${group}/${resource}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (status !== 201) throw new Error(`${resource}: ${status} ${raw.toString()}`)
  }
  const policy = async (name: string, split: Split): Promise<void> => {
    const metadata = { name }
    await post('validatingadmissionpolicies', { metadata, spec: policySpec(split) })
    const spec = { policyName: name, validationActions: ['Deny'] }
    await post('validatingadmissionpolicybindings', { metadata, spec })
  }
  for (const group of twinGroups) {
    await post('customresourcedefinitions', twinDefinition(group), '/apis/apiextensions.k8s.io/v1')
  }
  const kinds = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'] as const
  await inLanes({ count: WEBHOOKS / WEBHOOKS_PER_CONFIGURATION, lanes: LANES }, async (at) => {
    const webhooks = Array.from({ length: WEBHOOKS_PER_CONFIGURATION }, (_, own) =>
      webhookOf(`w${own}`, splitOf(at * WEBHOOKS_PER_CONFIGURATION + own), clientConfig),
    )
    await post(kinds[at % 2] ?? kinds[0], { metadata: { name: `c${at}` }, webhooks })
  })
  await inLanes({ count: POLICIES, lanes: LANES }, (at) => policy(`p${at}`, splitOf(at)))
  await policy('matching', matchingObjects('policy'))
  await post(kinds[1], {
    metadata: { name: 'matching' },
    webhooks: [webhookOf('own', matchingObjects('webhook'), clientConfig)],
  })
}
