/**
 * The objects of API Priority and Fairness that kube-apiserver creates. The objects named `exempt`
 * and `catch-all` are mandatory. The other objects are suggested, and users can change them.
 */
import type { Fields } from '../api/object.ts'
import type { RequiredObject } from './wanted.ts'

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1'
const metadata = (name: string): Fields => ({
  name,
  annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' },
})
const manager = 'api-priority-and-fairness-config-producer-v1'

function level(name: string, spec: Fields): RequiredObject {
  const object = { apiVersion, kind: 'PriorityLevelConfiguration', metadata: metadata(name), spec }
  return { collection: `/apis/${apiVersion}/prioritylevelconfigurations`, object, manager }
}

type Limits = {
  readonly shares: number
  readonly lendable: number
  readonly queues: number
  readonly hand: number
}

function limited(name: string, { shares, lendable, queues, hand }: Limits): RequiredObject {
  const queuing = { queues, handSize: hand, queueLengthLimit: 50 }
  const limitResponse = { type: 'Queue', queuing }
  const spec = { nominalConcurrencyShares: shares, lendablePercent: lendable, limitResponse }
  return level(name, { type: 'Limited', limited: spec })
}

const levels: readonly RequiredObject[] = [
  level('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  level('catch-all', {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
  }),
  limited('system', { shares: 30, lendable: 33, queues: 64, hand: 6 }),
  limited('node-high', { shares: 40, lendable: 25, queues: 64, hand: 6 }),
  limited('leader-election', { shares: 10, lendable: 0, queues: 16, hand: 4 }),
  limited('workload-high', { shares: 40, lendable: 50, queues: 128, hand: 6 }),
  limited('workload-low', { shares: 100, lendable: 90, queues: 128, hand: 6 }),
  limited('global-default', { shares: 20, lendable: 50, queues: 128, hand: 6 }),
]

const user = (name: string): Fields => ({ kind: 'User', user: { name } })
const group = (name: string): Fields => ({ kind: 'Group', group: { name } })
const account = (name: string): Fields => ({
  kind: 'ServiceAccount',
  serviceAccount: { name, namespace: 'kube-system' },
})

const controllerManager = user('system:kube-controller-manager')
const everyone = [group('system:unauthenticated'), group('system:authenticated')]
const everything: Fields = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

const someResources = (
  verbs: readonly string[],
  ...rules: readonly (readonly [string, readonly string[]])[]
): Fields => ({
  resourceRules: rules.map(([apiGroup, resources]) => ({
    verbs,
    apiGroups: [apiGroup],
    resources,
    namespaces: ['*'],
  })),
})
const election = ['get', 'create', 'update']

type Row = {
  readonly name: string
  readonly precedence: number
  /** The last release that has the FlowSchema. Undefined if the latest release still has it. */
  readonly last?: number
  readonly level: string
  readonly by?: 'ByUser' | 'ByNamespace'
  readonly rules: readonly Fields[]
}

function schema({ name, precedence, level: levelName, by, rules }: Row): RequiredObject {
  const spec = {
    priorityLevelConfiguration: { name: levelName },
    matchingPrecedence: precedence,
    ...(by === undefined ? {} : { distinguisherMethod: { type: by } }),
    rules,
  }
  const object = { apiVersion, kind: 'FlowSchema', metadata: metadata(name), spec }
  return { collection: `/apis/${apiVersion}/flowschemas`, object, manager }
}

const rows: readonly Row[] = [
  {
    name: 'exempt',
    precedence: 1,
    level: 'exempt',
    rules: [{ subjects: [group('system:masters')], ...everything }],
  },
  {
    name: 'probes',
    precedence: 2,
    level: 'exempt',
    rules: [
      {
        subjects: everyone,
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
      },
    ],
  },
  {
    name: 'system-leader-election',
    precedence: 100,
    level: 'leader-election',
    by: 'ByUser',
    rules: [
      {
        subjects: [controllerManager, user('system:kube-scheduler'), account('*')],
        ...someResources(election, ['coordination.k8s.io', ['leases']]),
      },
    ],
  },
  {
    name: 'endpoint-controller',
    precedence: 150,
    last: 33,
    level: 'workload-high',
    by: 'ByUser',
    rules: [
      {
        subjects: [
          controllerManager,
          account('endpoint-controller'),
          account('endpointslicemirroring-controller'),
        ],
        ...someResources(election, ['', ['endpoints']]),
      },
    ],
  },
  {
    name: 'workload-leader-election',
    precedence: 200,
    last: 33,
    level: 'leader-election',
    by: 'ByUser',
    rules: [
      {
        subjects: [account('*')],
        ...someResources(
          election,
          ['', ['endpoints', 'configmaps']],
          ['coordination.k8s.io', ['leases']],
        ),
      },
    ],
  },
  {
    name: 'system-node-high',
    precedence: 400,
    level: 'node-high',
    by: 'ByUser',
    rules: [
      {
        subjects: [group('system:nodes')],
        resourceRules: [
          {
            verbs: ['*'],
            apiGroups: [''],
            resources: ['nodes', 'nodes/status'],
            clusterScope: true,
            namespaces: ['*'],
          },
          {
            verbs: ['*'],
            apiGroups: ['coordination.k8s.io'],
            resources: ['leases'],
            namespaces: ['*'],
          },
        ],
      },
    ],
  },
  {
    name: 'system-nodes',
    precedence: 500,
    level: 'system',
    by: 'ByUser',
    rules: [{ subjects: [group('system:nodes')], ...everything }],
  },
  {
    name: 'kube-controller-manager',
    precedence: 800,
    level: 'workload-high',
    by: 'ByNamespace',
    rules: [{ subjects: [controllerManager], ...everything }],
  },
  {
    name: 'kube-scheduler',
    precedence: 800,
    level: 'workload-high',
    by: 'ByNamespace',
    rules: [{ subjects: [user('system:kube-scheduler')], ...everything }],
  },
  {
    name: 'kube-system-service-accounts',
    precedence: 900,
    level: 'workload-high',
    by: 'ByNamespace',
    rules: [{ subjects: [account('*')], ...everything }],
  },
  {
    name: 'service-accounts',
    precedence: 9000,
    level: 'workload-low',
    by: 'ByUser',
    rules: [{ subjects: [group('system:serviceaccounts')], ...everything }],
  },
  {
    name: 'global-default',
    precedence: 9900,
    level: 'global-default',
    by: 'ByUser',
    rules: [{ subjects: everyone, ...everything }],
  },
  {
    name: 'catch-all',
    precedence: 10_000,
    level: 'catch-all',
    by: 'ByUser',
    rules: [{ subjects: everyone, ...everything }],
  },
]

/** Returns the objects that a server of a release creates. */
export const flowControlObjects = (release: number): readonly RequiredObject[] => [
  ...levels,
  ...rows.filter(({ last = release }) => release <= last).map(schema),
]
