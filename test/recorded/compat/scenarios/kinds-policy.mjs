// policy/v1 PodDisruptionBudget and Eviction; scheduling.k8s.io/v1 PriorityClass; node.k8s.io/v1 RuntimeClass.
import { scenario, GET, POST, PATCH } from '../steps.ts';
import { kind } from './kit/kinds-groups.mjs';

const budget = kind({ apiVersion: 'policy/v1', resource: 'poddisruptionbudgets', kind: 'PodDisruptionBudget', label: 'pdb' });
const priority = kind({ apiVersion: 'scheduling.k8s.io/v1', resource: 'priorityclasses', kind: 'PriorityClass', cluster: true, base: { value: 10 } });
const runtime = kind({ apiVersion: 'node.k8s.io/v1', resource: 'runtimeclasses', kind: 'RuntimeClass', cluster: true, base: { handler: 'h' } });

const intOrPercent = (path) => [-1, '-1%', '10', 'ten%', '101%', ''].map((v) => ({ [path]: v }));
const condition = { type: 'DisruptionAllowed', status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2020-01-01T00:00:00Z', observedGeneration: 1 };
const scheduling = (s) => ({ scheduling: s });
const toleration = (...t) => scheduling({ tolerations: t });

const pods = '/api/v1/namespaces/$ns/pods';
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
const evict = (o) => POST(`${pods}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, ...o });
/** A running pod under a budget whose status says how many may go. */
const guarded = (status, spec) => [
  POST(pods, pod, { compare: 'status' }), PATCH(`${pods}/p/status`, 'merge', running, { compare: 'status' }),
  POST(budget.list, budget.object({ spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } }, ...spec } }), { compare: 'status' }),
  PATCH(`${budget.item}/status`, 'merge', { status: { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, ...status } }, { compare: 'status' }),
];

export default [
  // PodDisruptionBudget
  ...budget.creates({
    minimal: {},
    maximal: { spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] }, unhealthyPodEvictionPolicy: 'AlwaysAllow' } },
    'empty-selector': { spec: { maxUnavailable: 0, selector: {} } },
    zero: { spec: { minAvailable: 0 } },
  }),
  ...budget.accepts({ name: [{ 'metadata.name': 'a.b' }, { 'metadata.name': 'Not_a.DNS name' }], percent: [{ 'spec.maxUnavailable': '100%' }, { 'spec.maxUnavailable': '0%' }], 'eviction-policy': { 'spec.unhealthyPodEvictionPolicy': 'IfHealthyBudget' } }),
  ...budget.refuses({
    'both-limits': { spec: { minAvailable: 1, maxUnavailable: 1 } },
    'min-available': intOrPercent('spec.minAvailable'),
    'max-unavailable': intOrPercent('spec.maxUnavailable'),
    selector: { 'spec.selector': { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    'eviction-policy': [{ 'spec.unhealthyPodEvictionPolicy': 'Never' }, { 'spec.unhealthyPodEvictionPolicy': '' }],
    name: [{ 'metadata.name': 'a/b' }, { 'metadata.name': '..' }, { 'metadata.name': 'a%b' }],
  }),
  ...budget.updates({ any: [{ spec: { minAvailable: 2, selector: { matchLabels: { a: 'c' } } } }, { spec: { minAvailable: null, maxUnavailable: 1 } }, { spec: { maxUnavailable: 1 } }, { spec: null }] }, { from: { spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } } }),
  ...budget.statuses({
    any: [
      { observedGeneration: 1, disruptedPods: { p: '2020-01-01T00:00:00Z' }, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, conditions: [condition] },
      { disruptionsAllowed: -1, currentHealthy: -1, desiredHealthy: -1, expectedPods: -1, observedGeneration: -1 },
    ],
    conditions: [{}, { type: 'A/b/c' }, { status: 'Maybe' }, { reason: '' }, { reason: 'bad reason' }, { lastTransitionTime: null }, { observedGeneration: -1 }, { message: 'm'.repeat(32769) }, { reason: 'r'.repeat(1025) }].map((o) => ({ conditions: [{ ...condition, ...o }] })).concat([{ conditions: [condition, { ...condition, status: 'False' }] }]),
  }),
  ...budget.strategy({ status: { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1 }, spec: { spec: { minAvailable: 2 } } }),
  ...budget.puts(),

  // Eviction
  scenario('eviction-without-budget', { section: '4.2', about: 'Eviction of a pod that no budget guards' }, [POST(pods, pod, { compare: 'status' }), evict(), GET(`${pods}/p`)]),
  scenario('eviction-dry-run', { section: '4.8', about: 'Eviction: dry run in the options deletes nothing' }, [POST(pods, pod, { compare: 'status' }), evict({ deleteOptions: { dryRun: ['All'] } }), GET(`${pods}/p`, { compare: 'status' })]),
  scenario('eviction-refused-by-budget', { section: '4.2', about: 'Eviction: a budget with no disruption left answers 429' }, [...guarded({}), evict(), GET(budget.item)]),
  scenario('eviction-allowed-by-budget', { section: '4.2', about: 'Eviction: an allowed disruption is counted down in the budget' }, [...guarded({ disruptionsAllowed: 1, currentHealthy: 2 }), evict(), GET(budget.item, { pick: (b) => ({ ...b.status, disruptedPods: Object.keys(b.status.disruptedPods ?? {}) }) })]),
  scenario('eviction-budget-not-observed', { section: '4.2', about: 'Eviction: a budget whose status is behind its spec answers 429' }, [...guarded({ observedGeneration: 0, disruptionsAllowed: 1 }), evict()]),
  scenario('eviction-unhealthy-pod', { section: '4.2', about: 'Eviction: a pod that is not ready goes when the policy says so' }, [...guarded({ disruptionsAllowed: 0, currentHealthy: 0 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }), PATCH(`${pods}/p/status`, 'merge', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, { compare: 'status' }), evict()]),
  scenario('eviction-two-budgets', { section: '4.2', about: 'Eviction: two budgets on one pod are an error' }, [...guarded({}), POST(budget.list, budget.object({ 'metadata.name': 'y', spec: { minAvailable: 1, selector: {} } }), { compare: 'status' }), evict()]),
  scenario('eviction-errors', { section: '7', about: 'Eviction: names that differ, an absent pod, wrong preconditions' }, [
    POST(pods, pod, { compare: 'status' }),
    evict({ metadata: { name: 'q' } }), evict({ metadata: { name: 'p', namespace: 'other' } }), POST(`${pods}/q/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'q' } }),
    evict({ deleteOptions: { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } } }), evict({ metadata: {} }), evict({ apiVersion: 'policy/v1beta1', deleteOptions: { dryRun: ['All'] } }), evict({ apiVersion: 'policy/v2' }), evict({ deleteOptions: { gracePeriodSeconds: -1 } }),
  ]),

  // PriorityClass
  ...priority.creates({ minimal: { value: undefined }, maximal: { value: -2147483648, description: 'd', preemptionPolicy: 'Never', globalDefault: false }, highest: { value: 1000000000 } }),
  ...priority.accepts({ 'global-default': { globalDefault: true } }),
  ...priority.refuses({
    name: [{ 'metadata.name': 'A' }],
    'system-name': [{ 'metadata.name': 'system-x' }, { 'metadata.name': 'system-node-critical', value: 5 }, { 'metadata.name': 'system-cluster-critical', value: 2000000000, globalDefault: true }],
    value: [{ value: 1000000001 }],
    'preemption-policy': [{ preemptionPolicy: 'Sometimes' }, { preemptionPolicy: '' }],
  }),
  ...priority.updates({ any: [{ value: 11 }, { value: null }, { preemptionPolicy: 'Never' }, { preemptionPolicy: null }, { description: 'new' }] }),
  ...priority.strategy({ spec: { description: 'd' } }),
  ...priority.puts(),
  scenario('priorityclass-system-delete', { section: '4.2', about: 'PriorityClass: the two of the system cannot be deleted', namespace: false }, [
    { kind: 'request', method: 'DELETE', path: `${priority.list}/system-node-critical`, query: { dryRun: 'All' } },
  ]),

  // RuntimeClass
  ...runtime.creates({
    minimal: {},
    maximal: { overhead: { podFixed: { cpu: '250m', memory: '0.5Gi' } }, scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 5 }, { operator: 'Exists' }] } },
    'empty-parts': { overhead: {}, scheduling: {} },
  }),
  ...runtime.refuses({
    name: { 'metadata.name': 'A' },
    handler: [{ handler: undefined }, { handler: '' }, { handler: 'A' }, { handler: 'a.b' }, { handler: 'a'.repeat(64) }],
    overhead: [{ overhead: { podFixed: { cpu: '-1' } } }, { overhead: { podFixed: { bad: '1' } } }, { overhead: { podFixed: { 'hugepages-2Mi': '1Mi' } } }],
    'node-selector': [scheduling({ nodeSelector: { 'bad key': 'v' } }), scheduling({ nodeSelector: { k: 'bad value' } })],
    tolerations: [toleration({ key: '', operator: 'Equal' }), toleration({ key: 'k', operator: 'Exists', value: 'v' }), toleration({ key: 'k', operator: 'Like' }), toleration({ key: 'k', effect: 'Never' }), toleration({ key: 'k', effect: 'NoSchedule', tolerationSeconds: 1 }), toleration({ key: 'bad key', operator: 'Exists' }), toleration({ key: 'k' }, { key: 'k' })],
  }),
  ...runtime.updates({ any: [{ handler: 'other' }, { overhead: { podFixed: { cpu: '1' } } }, { scheduling: { nodeSelector: { a: 'b' } } }, { overhead: { podFixed: { cpu: '-1' } } }] }),
  ...runtime.strategy({ spec: { scheduling: { nodeSelector: { a: 'b' } } } }),
  ...runtime.puts(),
];
