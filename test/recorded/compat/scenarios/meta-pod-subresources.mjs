// Subresources of pods: binding, eviction, ephemeralcontainers, resize, log, exec, attach, portforward, proxy (§4.2).
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';
import { at, on, only, firstLine, pod, pdb, node } from './kit/meta.mjs';

const s = (id, about, steps, o = {}) => scenario(`meta-pod-${id}`, { section: '4.2', about, ...o }, steps);
const pods = at('pods'), p = at('pods', 'p'), of = (sub) => at('pods', 'p', sub);
const past = '2001-02-03T04:05:06Z', uid = '11111111-2222-3333-4444-555555555555';
const made = (metadata = {}, spec = {}) => POST(pods, pod('p', metadata, spec), { id: 'o', compare: 'status' });

const binding = (metadata = {}, target = { apiVersion: 'v1', kind: 'Node', name: 'n' }, rest = {}) => ({ apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p', ...metadata }, target, ...rest });
const placed = GET(p, { pick: (b) => ({ nodeName: b.spec.nodeName ?? null, generation: b.metadata.generation, annotations: b.metadata.annotations ?? null, labels: b.metadata.labels ?? null, conditions: b.status.conditions ?? null }) });
const bindings = [
  s('binding', 'a binding sets the node and the PodScheduled condition', [made(), POST(of('binding'), binding()), placed]),
  s('binding-twice', 'a second binding is a conflict, also to the same node', [made(), POST(of('binding'), binding(), { compare: 'status' }), POST(of('binding'), binding()), POST(of('binding'), binding({}, { kind: 'Node', name: 'm' }))]),
  s('binding-born-bound', 'a pod created with a node cannot be bound', [made({}, { nodeName: 'n' }), POST(of('binding'), binding())]),
  s('binding-annotations', 'annotations of the binding go to the pod, labels not', [made({ annotations: { a: '1', b: '2' } }), POST(of('binding'), binding({ annotations: { b: '3', c: '4' }, labels: { l: 'm' } }), { compare: 'status' }), placed]),
  s('binding-topology-labels', 'a node with topology labels', [POST(on('nodes'), node('$ns-n', { labels: { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', other: 'o' } }), { compare: 'status' }), made(), POST(of('binding'), binding({}, { kind: 'Node', name: '$ns-n' }), { compare: 'status' }), placed], { cleanup: [on('nodes', '$ns-n')] }),
  s('binding-missing', 'a binding of a missing pod', [POST(of('binding'), binding())]),
  ...[['no-target-name', {}, { kind: 'Node' }], ['target-kind-pod', {}, { kind: 'Pod', name: 'n' }], ['target-no-kind', {}, { name: 'n' }], ['target-minion', {}, { kind: 'Minion', name: 'n' }], ['target-namespace', {}, { kind: 'Node', name: 'n', namespace: 'x' }], ['bad-node-name', {}, { kind: 'Node', name: 'Bad_Name' }]].map(([id, m, t]) => s(`binding-${id}`, `a binding with the target ${JSON.stringify(t)}`, [made(), POST(of('binding'), binding(m, t)), placed])),
  s('binding-no-target', 'a binding without a target', [made(), POST(of('binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' } })]),
  s('binding-other-name', 'another name, or none, in the binding', [made(), POST(of('binding'), binding({ name: 'q' })), POST(of('binding'), binding({ name: '' }))]),
  s('binding-uid', 'a uid in the binding is a precondition', [made(), POST(of('binding'), binding({ uid })), POST(of('binding'), binding({ uid: '${o.metadata.uid}' }))]),
  s('binding-rv', 'a resourceVersion in the binding is a precondition', [made(), POST(of('binding'), binding({ resourceVersion: '1' })), POST(of('binding'), binding({ resourceVersion: '${o.metadata.resourceVersion}' }))]),
  s('binding-dry-run', 'a dry run of a binding', [made(), POST(of('binding'), binding(), { query: { dryRun: 'All' } }), placed]),
  s('binding-gated', 'a pod with scheduling gates cannot be bound', [made({}, { schedulingGates: [{ name: 'example.com/g' }] }), POST(of('binding'), binding()), PATCH(p, 'merge', { spec: { schedulingGates: null } }, only('spec.schedulingGates')), POST(of('binding'), binding())]),
  s('binding-collection', 'the older form: a POST to bindings', [made(), POST(at('bindings'), binding()), placed]),
  s('binding-collection-other', 'the older form for a missing pod, and without a name', [POST(at('bindings'), binding({ name: 'none' })), POST(at('bindings'), { apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: 'n' } })]),
  s('binding-methods', 'methods and kinds that binding does not have', [made(), GET(of('binding')), PUT(of('binding'), binding()), DELETE(of('binding')), POST(of('binding'), pod()), GET(at('bindings'))]),
];

const eviction = (metadata = {}, deleteOptions) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p', ...metadata }, ...(deleteOptions ? { deleteOptions } : {}) });
const labelled = { labels: { app: 'a' } };
const budget = (allowed, spec = {}, status = {}) => [POST(at('policy/v1/poddisruptionbudgets'), pdb('b', {}, spec), { compare: 'status' }), PATCH(at('policy/v1/poddisruptionbudgets', 'b', 'status'), 'merge', { status: { observedGeneration: 1, disruptionsAllowed: allowed, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, ...status } }, { compare: 'status' })];
const phase = (ph, ready) => PATCH(of('status'), 'merge', { status: { phase: ph, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] } }, { compare: 'status' });
const gone = GET(p, { pick: (b) => (b.kind === 'Status' ? b.message : { deleted: !!b.metadata.deletionTimestamp, grace: b.metadata.deletionGracePeriodSeconds ?? null, conditions: b.status.conditions ?? null }) });
const spent = GET(at('policy/v1/poddisruptionbudgets', 'b'), { pick: (b) => ({ disruptionsAllowed: b.status.disruptionsAllowed, disrupted: Object.keys(b.status.disruptedPods ?? {}) }) });
const running = [made(labelled, { nodeName: 'n' }), phase('Running', true)];
const evict = (o) => POST(of('eviction'), eviction(), { compareHeaders: ['retry-after'], ...o });
const evictions = [
  s('eviction', 'without a budget an eviction is a delete', [made(), POST(of('eviction'), eviction()), gone]),
  s('eviction-graceful', 'a bound pod lives on for its grace', [made({}, { nodeName: 'n' }), POST(of('eviction'), eviction()), gone]),
  s('eviction-grace', 'options of the delete inside the eviction', [made({}, { nodeName: 'n' }), POST(of('eviction'), eviction({}, { gracePeriodSeconds: 5 })), gone]),
  s('eviction-blocked', 'no disruptions allowed: 429 with the cause', [...running, ...budget(0), evict(), gone, spent]),
  s('eviction-allowed', 'one disruption allowed: taken, and recorded in the budget', [...running, ...budget(1), evict(), gone, spent, evict()]),
  s('eviction-unobserved', 'a budget whose status lags behind', [...running, ...budget(1), PATCH(at('policy/v1/poddisruptionbudgets', 'b'), 'merge', { spec: { minAvailable: 2 } }, { compare: 'status' }), evict()]),
  s('eviction-no-status', 'a budget without a status', [...running, POST(at('policy/v1/poddisruptionbudgets'), pdb('b'), { compare: 'status' }), evict()]),
  s('eviction-two-budgets', 'a pod in two budgets', [...running, ...budget(1), POST(at('policy/v1/poddisruptionbudgets'), pdb('second'), { compare: 'status' }), evict({ pick: (b) => ({ ...b, message: b.message?.replace(/budgets.*/, 'budgets …') }) })]),
  s('eviction-other-budget', 'a budget that selects other pods', [...running, ...budget(0, { selector: { matchLabels: { app: 'other' } } }), evict(), gone]),
  s('eviction-empty-selector', 'a budget with an empty selector selects all', [...running, ...budget(0, { selector: {} }), evict()]),
  s('eviction-null-selector', 'a budget without a selector selects none', [...running, ...budget(0, { selector: null }), evict()]),
  ...['Pending', 'Succeeded', 'Failed'].map((ph) => s(`eviction-phase-${ph.toLowerCase()}`, `a budget does not protect a pod in phase ${ph}`, [made(labelled, { nodeName: 'n' }), phase(ph, false), ...budget(0), evict(), gone, spent])),
  s('eviction-terminating', 'a budget does not protect a terminating pod', [...running, ...budget(0), DELETE(p, { gracePeriodSeconds: 60 }, { compare: 'status' }), evict(), spent]),
  s('eviction-unready-default', 'an unready pod, default policy: needs a healthy budget', [made(labelled, { nodeName: 'n' }), phase('Running', false), ...budget(0, {}, { currentHealthy: 1, desiredHealthy: 1 }), evict(), gone]),
  s('eviction-unready-default-unhealthy', 'an unready pod, default policy, budget not healthy', [made(labelled, { nodeName: 'n' }), phase('Running', false), ...budget(0, {}, { currentHealthy: 0, desiredHealthy: 1 }), evict()]),
  s('eviction-unready-if-healthy', 'an unready pod with IfHealthyBudget', [made(labelled, { nodeName: 'n' }), phase('Running', false), ...budget(0, { unhealthyPodEvictionPolicy: 'IfHealthyBudget' }, { currentHealthy: 0, desiredHealthy: 1 }), evict()]),
  s('eviction-unready-always', 'an unready pod with AlwaysAllow', [made(labelled, { nodeName: 'n' }), phase('Running', false), ...budget(0, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, { currentHealthy: 0, desiredHealthy: 1 }), evict(), gone]),
  s('eviction-uid', 'preconditions of the eviction', [made(), POST(of('eviction'), eviction({}, { preconditions: { uid } })), POST(of('eviction'), eviction({}, { preconditions: { resourceVersion: '1' } })), POST(of('eviction'), eviction({}, { preconditions: { uid: '${o.metadata.uid}' } }))]),
  s('eviction-dry-run', 'a dry run by query, and by options', [...running, ...budget(1), evict({ query: { dryRun: 'All' } }), POST(of('eviction'), eviction({}, { dryRun: ['All'] })), gone, spent]),
  s('eviction-dry-run-blocked', 'a dry run with no disruptions allowed', [...running, ...budget(0), evict({ query: { dryRun: 'All' } })]),
  s('eviction-dry-run-values', 'a dry run with another value', [made(), POST(of('eviction'), eviction({}, { dryRun: ['Some'] })), POST(of('eviction'), eviction(), { query: { dryRun: 'Some' } })]),
  s('eviction-names', 'another name, namespace, or none, in the eviction', [made(), POST(of('eviction'), eviction({ name: 'q' })), POST(of('eviction'), eviction({ namespace: 'other' })), POST(of('eviction'), eviction({ name: '' }))]),
  s('eviction-missing', 'an eviction of a missing pod', [POST(of('eviction'), eviction())]),
  s('eviction-bodies', 'bodies that are no eviction', [made(), POST(of('eviction'), {}), POST(of('eviction'), pod()), POST(of('eviction'), { ...eviction(), apiVersion: 'policy/v2' }), POST(of('eviction'), { kind: 'Eviction', metadata: { name: 'p' } })]),
  s('eviction-v1beta1', 'the older version of Eviction still works', [made(), POST(of('eviction'), { ...eviction(), apiVersion: 'policy/v1beta1' }), gone]),
  s('eviction-methods', 'methods that eviction does not have', [made(), GET(of('eviction')), DELETE(of('eviction')), PUT(of('eviction'), eviction())]),
  s('eviction-finalizer', 'an evicted pod with a finalizer stays', [made({ finalizers: ['example.com/a'] }), POST(of('eviction'), eviction()), gone]),
  s('eviction-policy', 'a propagation policy inside the eviction', [made(), POST(of('eviction'), eviction({}, { propagationPolicy: 'Orphan' })), GET(p, only('metadata.finalizers')), POST(of('eviction'), eviction({}, { propagationPolicy: 'Nope' }))]),
];

const ephemeral = (o = {}) => ({ name: 'debug', image: 'tools', ...o });
const list = { pick: (b) => (b.kind === 'Status' ? b : { generation: b.metadata.generation, ephemeralContainers: b.spec.ephemeralContainers ?? null }) };
const addDebug = (...c) => PATCH(of('ephemeralcontainers'), 'strategic', { spec: { ephemeralContainers: c } }, list);
const ephemerals = [
  s('ephemeral-add', 'an ephemeral container is added by a patch, with its defaults', [made(), addDebug(ephemeral()), addDebug(ephemeral({ name: 'second', targetContainerName: 'c' }))]),
  s('ephemeral-create', 'a pod created with ephemeral containers', [POST(pods, pod('p', {}, { ephemeralContainers: [ephemeral()] }))]),
  s('ephemeral-main', 'the main endpoint does not add one', [made(), PATCH(p, 'strategic', { spec: { ephemeralContainers: [ephemeral()] } }, { pick: (b) => (b.kind === 'Status' ? { reason: b.reason, fields: b.details.causes.map((c) => c.field) } : b.spec) })]),
  s('ephemeral-change', 'an ephemeral container cannot be changed or removed', [made(), addDebug(ephemeral()), { ...addDebug(ephemeral({ image: 'other' })), ...firstLine }, PATCH(of('ephemeralcontainers'), 'merge', { spec: { ephemeralContainers: [] } }), PATCH(of('ephemeralcontainers'), 'merge', { spec: { ephemeralContainers: null } })]),
  ...[['ports', { ports: [{ containerPort: 80 }] }], ['probe', { livenessProbe: { tcpSocket: { port: 80 } } }], ['resources', { resources: { limits: { cpu: '1' } } }], ['lifecycle', { lifecycle: { preStop: { sleep: { seconds: 1 } } } }], ['target', { targetContainerName: 'none' }], ['name', { name: 'c' }], ['no-name', { name: '' }], ['no-image', { image: '' }], ['subpath', { volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 's' }] }]].map(([id, o]) => s(`ephemeral-invalid-${id}`, `an ephemeral container with ${id}`, [made(), PATCH(of('ephemeralcontainers'), 'merge', { spec: { ephemeralContainers: [ephemeral(o)] } }, list)])),
  s('ephemeral-other-changes', 'other changes of the pod through the endpoint', [made(), PATCH(of('ephemeralcontainers'), 'strategic', { metadata: { labels: { a: 'b' } }, spec: { nodeName: 'x', ephemeralContainers: [ephemeral()] } }, { pick: (b) => (b.kind === 'Status' ? b : { labels: b.metadata.labels ?? null, nodeName: b.spec.nodeName ?? null, ephemeral: b.spec.ephemeralContainers?.length }) })]),
  s('ephemeral-put', 'a PUT of the whole pod', [made(), GET(of('ephemeralcontainers'), list), PUT(of('ephemeralcontainers'), pod('p', {}, { ephemeralContainers: [ephemeral()] }), list)]),
  s('ephemeral-missing', 'a missing pod, and methods it does not have', [PATCH(of('ephemeralcontainers'), 'merge', {}), made(), POST(of('ephemeralcontainers'), pod()), DELETE(of('ephemeralcontainers'))]),
  s('ephemeral-managed', 'managedFields of the endpoint', [made(), PATCH(of('ephemeralcontainers'), 'strategic', { spec: { ephemeralContainers: [ephemeral()] } }, { pick: (b) => b.metadata.managedFields.filter((m) => m.subresource) })]),
];

const sized = { containers: [{ name: 'c', image: 'img', resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '128Mi' } }, resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }, { resourceName: 'memory', restartPolicy: 'RestartContainer' }] }] };
const sizes = { pick: (b) => (b.kind === 'Status' ? b : { generation: b.metadata.generation, qosClass: b.status.qosClass, containers: b.spec.containers.map((c) => [c.name, c.image, c.resources, c.resizePolicy]), labels: b.metadata.labels ?? null }) };
const resize = (resources, extra = {}) => PATCH(of('resize'), 'strategic', { spec: { containers: [{ name: 'c', resources, ...extra }] } }, sizes);
const resizes = [
  s('resize', 'requests and limits of a container change through resize', [made({}, sized), resize({ requests: { cpu: '150m' }, limits: { cpu: '300m' } }), resize({ limits: { memory: '256Mi' } })]),
  s('resize-main', 'the main endpoint does not change them', [made({}, sized), PATCH(p, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '150m' } } }] } }, { pick: (b) => ({ reason: b.reason, fields: b.details?.causes.map((c) => c.field) }) })]),
  s('resize-memory-down', 'lowering the memory limit', [made({}, sized), resize({ limits: { memory: '100Mi' } })]),
  s('resize-qos', 'a change of the QoS class is refused', [made({}, sized), resize({ requests: { cpu: '200m', memory: '128Mi' } })]),
  s('resize-best-effort', 'a pod without resources', [made(), resize({ requests: { cpu: '1' } })]),
  s('resize-other-resource', 'resources that cannot be resized', [made({}, sized), resize({ requests: { 'ephemeral-storage': '1Gi' } })]),
  s('resize-remove', 'removing requests or limits', [made({}, sized), PATCH(of('resize'), 'json-patch', [{ op: 'remove', path: '/spec/containers/0/resources/limits/cpu' }], sizes), PATCH(of('resize'), 'json-patch', [{ op: 'remove', path: '/spec/containers/0/resources' }], sizes)]),
  s('resize-other-field', 'other fields through resize', [made({}, sized), resize({ requests: { cpu: '150m' } }, { image: 'other' }), PATCH(of('resize'), 'merge', { metadata: { labels: { a: 'b' } }, spec: { activeDeadlineSeconds: 5 } }, sizes)]),
  s('resize-policy', 'the resizePolicy is fixed', [made({}, sized), PATCH(of('resize'), 'json-patch', [{ op: 'replace', path: '/spec/containers/0/resizePolicy/0/restartPolicy', value: 'RestartContainer' }], sizes)]),
  s('resize-limit-below-request', 'a limit below the request', [made({}, sized), resize({ limits: { cpu: '50m' } })]),
  s('resize-put', 'GET and PUT', [made({}, sized), GET(of('resize'), sizes), PUT(of('resize'), pod('p', {}, { containers: [{ ...sized.containers[0], resources: { requests: { cpu: '110m', memory: '64Mi' }, limits: { cpu: '200m', memory: '128Mi' } } }] }), sizes)]),
  s('resize-static', 'a static pod', [made({ annotations: { 'kubernetes.io/config.mirror': 'x' } }, { ...sized, nodeName: 'n' }), resize({ requests: { cpu: '150m' } })]),
  s('resize-missing', 'a missing pod', [resize({ requests: { cpu: '150m' } })]),
  s('resize-windows', 'a pod for windows', [made({}, { ...sized, os: { name: 'windows' } }), resize({ requests: { cpu: '150m' } })]),
  s('resize-unsupported-terminal', 'a pod that has finished', [made({}, sized), PATCH(of('status'), 'merge', { status: { phase: 'Succeeded' } }, { compare: 'status' }), resize({ requests: { cpu: '150m' } })]),
];

const streams = [
  s('log-missing', 'the log of a missing pod', [GET(of('log'))]),
  s('log-unbound', 'the log of a pod without a node', [made(), GET(of('log'))]),
  s('log-container', 'the log of a container that does not exist', [made({}, { containers: [{ name: 'a', image: 'i' }, { name: 'b', image: 'i' }], initContainers: [{ name: 'i', image: 'i' }] }), GET(of('log'), { query: { container: 'none' } }), GET(of('log'))]),
  s('log-options', 'options of a log that are invalid', [made(), ...[{ tailLines: '-1' }, { tailLines: 'x' }, { sinceSeconds: '0' }, { sinceSeconds: '1', sinceTime: past }, { sinceTime: 'yesterday' }, { limitBytes: '0' }, { stream: 'Nope' }, { stream: 'Stdout', tailLines: '1' }, { follow: 'maybe' }].map((query) => GET(of('log'), { query }))]),
  s('log-node-missing', 'the log of a pod on a node that does not exist', [made({}, { nodeName: '$ns-none' }), GET(of('log'))]),
  ...['exec', 'attach', 'portforward'].map((sub) => s(`${sub}-errors`, `${sub} of a missing pod, of one without a node, and without an upgrade`, [POST(at('pods', 'none', sub), undefined, { query: { command: 'ls', stdout: 'true' } }), made(), GET(of(sub), { query: { command: 'ls', stdout: 'true' } }), POST(of(sub), undefined, { query: { command: 'ls', stdout: 'true' } }), PUT(of(sub), {}), DELETE(of(sub))])),
  s('exec-options', 'options of exec that are invalid', [made({}, { nodeName: 'n' }), POST(of('exec'), undefined), POST(of('exec'), undefined, { query: { command: 'ls' } }), POST(of('exec'), undefined, { query: { command: 'ls', stdout: 'true', container: 'none' } })]),
  s('proxy-unbound', 'the proxy of a missing pod and of one without an address', [GET(at('pods', 'none', 'proxy')), made(), GET(of('proxy'), { compare: 'status' })]),
];

export default [...bindings, ...evictions, ...ephemerals, ...resizes, ...streams];
