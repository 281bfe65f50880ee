// ResourceQuota as an admission plugin: what counts, what is refused, and with which words. There is no controller: the scenarios write the status themselves.
import { scenario, GET, POST, PUT, PATCH, DELETE, APPLY, SLEEP } from '../steps.ts';
import { CM, PODS, DEPLOYMENTS, cm, pod, deployment, quiet, dry } from './kit/admission.mjs';

const QUOTAS = '/api/v1/namespaces/$ns/resourcequotas';
const TEMPLATES = '/api/v1/namespaces/$ns/podtemplates';
const quotaOf = (name, hard, spec = {}) => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard, ...spec } });
const zero = (hard) => Object.fromEntries(Object.keys(hard).map((k) => [k, '0']));
/** Each quota also forbids pod templates: once one of them is refused, the server knows the quotas. */
const sentinel = { 'count/podtemplates': '0' };
const known = { ...POST(TEMPLATES, { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'probe' }, template: { spec: { containers: [{ name: 'c', image: 'img' }] } } }, { ...dry, ...quiet, note: 'until the quotas are known' }), kind: 'poll', ms: 10000, until: (_, s) => s === 403 };
/** Steps that make a quota and fill in its status as the controller would. */
const quota = (hard, { name = 'q', used = {}, status = true, ...spec } = {}) => [
  POST(QUOTAS, quotaOf(name, hard, spec), quiet),
  ...(status ? [PUT(`${QUOTAS}/${name}/status`, { ...quotaOf(name, hard, spec), status: { hard, used: { ...zero(hard), ...used } } }, quiet)] : []),
];
const plainSentinel = quota(sentinel, { name: 'sentinel' });
const within = (id, about, quotas, steps, o = {}) => scenario(`admission-quota-${id}`, { section: '7', about, ...o }, [...(o.before ?? []), ...quotas, ...plainSentinel, known, ...steps]);
const used = (name = 'q') => GET(`${QUOTAS}/${name}`, { pick: (b) => ({ hard: b.status?.hard, used: b.status?.used }), note: 'what is used' });
const demanding = (name, resources, more = {}) => pod(name, { containers: [{ name: 'c', image: 'img', ...(resources ? { resources } : {}) }], ...more });
const requests = (r, l) => ({ ...(r ? { requests: r } : {}), ...(l ? { limits: l } : {}) });

const counts = [
  within('pods', 'the number of pods', quota({ pods: '1' }), [POST(PODS, pod('a'), quiet), POST(PODS, pod('b')), used()]),
  within('count-pods', 'count/pods', quota({ 'count/pods': '1' }), [POST(PODS, pod('a'), quiet), POST(PODS, pod('b')), used()]),
  within('group', 'count/deployments.apps', quota({ 'count/deployments.apps': '0' }), [POST(DEPLOYMENTS, deployment())]),
  ...['configmaps', 'secrets', 'services', 'replicationcontrollers', 'resourcequotas', 'persistentvolumeclaims'].map((resource) => within(`object-${resource}`, `the number of ${resource}`, quota({ [resource]: '0' }), [POST(`/api/v1/namespaces/$ns/${resource}`, {
    configmaps: cm(), secrets: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }, services: { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { clusterIP: 'None' } }, resourcequotas: quotaOf('z', { pods: '1' }),
    replicationcontrollers: { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'r' }, spec: { template: deployment().spec.template } },
    persistentvolumeclaims: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'v' }, spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } } },
  }[resource])])),
  ...[['jobs.batch', '/apis/batch/v1', { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'img' }] } } } }], ['leases.coordination.k8s.io', '/apis/coordination.k8s.io/v1', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } }], ['roles.rbac.authorization.k8s.io', '/apis/rbac.authorization.k8s.io/v1', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' } }], ['ingresses.networking.k8s.io', '/apis/networking.k8s.io/v1', { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'i' }, spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }]].map(([resource, base, body]) =>
    within(`count-${resource.split('.')[0]}`, `count/${resource}`, quota({ [`count/${resource}`]: '0' }), [POST(`${base}/namespaces/$ns/${resource.split('.')[0]}`, body)])),
  within('other-group', 'count/deployments without the group means the core group', quota({ 'count/deployments': '0' }), [POST(DEPLOYMENTS, deployment(), quiet)]),
  within('two-names', 'pods and count/pods together', quota({ pods: '0', 'count/pods': '0' }), [POST(PODS, pod())]),
  within('events', 'Events are not counted', quota({ 'count/events': '0' }), [POST('/api/v1/namespaces/$ns/events', { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: { namespace: '$ns', name: 'p' } }, quiet)]),
];

const compute = [
  within('cpu', 'requests.cpu', quota({ 'requests.cpu': '1' }), [POST(PODS, demanding('a', requests({ cpu: '600m' })), quiet), POST(PODS, demanding('b', requests({ cpu: '600m' }))), POST(PODS, demanding('c', requests({ cpu: '400m' })), quiet), used()]),
  within('cpu-old-name', 'cpu means requests.cpu', quota({ cpu: '1' }), [POST(PODS, demanding('a', requests({ cpu: '2' }))), POST(PODS, demanding('b'))]),
  within('limits', 'limits.cpu and limits.memory', quota({ 'limits.cpu': '1', 'limits.memory': '1Gi' }), [POST(PODS, demanding('a', requests(undefined, { cpu: '2', memory: '2Gi' }))), POST(PODS, demanding('b', requests(undefined, { cpu: '500m', memory: '512Mi' })), quiet), used()]),
  within('several-exceeded', 'several resources exceeded: sorted in the message', quota({ pods: '1', 'requests.memory': '1Gi', 'requests.cpu': '1', 'limits.cpu': '2' }, { used: { pods: '1', 'requests.cpu': '500m' } }), [POST(PODS, demanding('a', requests({ cpu: '750m', memory: '2Gi' }, { cpu: '3', memory: '2Gi' })))]),
  within('some-exceeded', 'only what is exceeded is named', quota({ pods: '5', 'requests.cpu': '1' }), [POST(PODS, demanding('a', requests({ cpu: '2' }))), used()]),
  within('missing', 'what a quota names must be given', quota({ 'requests.cpu': '1', 'limits.memory': '1Gi' }), [POST(PODS, demanding('a'))]),
  within('missing-some', 'in some containers', quota({ 'requests.cpu': '5', 'requests.memory': '5Gi' }), [POST(PODS, pod('a', { initContainers: [{ name: 'i', image: 'img' }], containers: [{ name: 'b', image: 'img', resources: requests({ cpu: '1' }) }, { name: 'a', image: 'img' }, { name: 'd', image: 'img', resources: requests({ cpu: '1', memory: '1Gi' }) }] }))]),
  within('missing-from-limit', 'a limit stands for the request', quota({ 'requests.cpu': '1' }), [POST(PODS, demanding('a', requests(undefined, { cpu: '500m' })), quiet), used()]),
  within('containers', 'containers add up', quota({ 'requests.cpu': '1' }), [POST(PODS, pod('a', { containers: ['x', 'y'].map((name) => ({ name, image: 'img', resources: requests({ cpu: '600m' }) })) }))]),
  within('init-containers', 'the largest init container counts, if it is larger', quota({ 'requests.cpu': '3' }), [POST(PODS, pod('a', { initContainers: [{ name: 'i', image: 'img', resources: requests({ cpu: '2' }) }, { name: 'j', image: 'img', resources: requests({ cpu: '1' }) }], containers: [{ name: 'c', image: 'img', resources: requests({ cpu: '1' }) }] }), quiet), used()]),
  within('sidecars', 'an init container that goes on running adds up', quota({ 'requests.cpu': '3' }), [POST(PODS, pod('a', { initContainers: [{ name: 'i', image: 'img', restartPolicy: 'Always', resources: requests({ cpu: '1' }) }], containers: [{ name: 'c', image: 'img', resources: requests({ cpu: '1' }) }] }), quiet), used()]),
  within('extended', 'extended resources', quota({ 'requests.example.com/gpu': '1' }), [POST(PODS, demanding('a', requests({ 'example.com/gpu': '2' }, { 'example.com/gpu': '2' }))), POST(PODS, demanding('b', requests({ 'example.com/gpu': '1' }, { 'example.com/gpu': '1' })), quiet), POST(PODS, demanding('c'), quiet), used()]),
  within('hugepages', 'huge pages', quota({ 'requests.hugepages-2Mi': '4Mi' }), [POST(PODS, demanding('a', requests({ 'hugepages-2Mi': '8Mi', cpu: '1' }, { 'hugepages-2Mi': '8Mi' })))]),
  within('ephemeral-storage', 'ephemeral storage', quota({ 'requests.ephemeral-storage': '1Gi', 'limits.ephemeral-storage': '2Gi' }), [POST(PODS, demanding('a', requests({ 'ephemeral-storage': '2Gi' }, { 'ephemeral-storage': '2Gi' }))), POST(PODS, demanding('b', requests({ 'ephemeral-storage': '1Gi' }, { 'ephemeral-storage': '1Gi' })), quiet), used()]),
  within('pod-level', 'resources of the whole pod', quota({ 'requests.cpu': '1' }), [POST(PODS, demanding('a', undefined, { resources: { requests: { cpu: '2' } } }), { pick: (b) => (b.kind === 'Status' ? b : 'accepted') }), used()]),
  within('zero', 'a request of zero is a request', quota({ 'requests.cpu': '0' }), [POST(PODS, demanding('a', requests({ cpu: '0' })), quiet), POST(PODS, demanding('b', requests({ cpu: '1m' }))), used()]),
  within('quantities', 'how quantities are printed', quota({ 'requests.memory': '1000M', 'requests.cpu': '1500m' }), [POST(PODS, demanding('a', requests({ cpu: '2000m', memory: '1.5Gi' })))]),
];

const claim = (name, storage = '1Gi', spec = {}) => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage } }, ...spec } });
const CLAIMS = '/api/v1/namespaces/$ns/persistentvolumeclaims';
const SERVICES = '/api/v1/namespaces/$ns/services';
const service = (name, spec = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ name: 'a', port: 80 }], ...spec } });
const gold = 'gold.storageclass.storage.k8s.io';
const others = [
  within('storage', 'requests.storage', quota({ 'requests.storage': '2Gi', persistentvolumeclaims: '5' }), [POST(CLAIMS, claim('a'), quiet), POST(CLAIMS, claim('b', '2Gi')), used()]),
  within('storage-class', 'storage of a class', quota({ [`${gold}/requests.storage`]: '1Gi', [`${gold}/persistentvolumeclaims`]: '1' }), [POST(CLAIMS, claim('a', '2Gi', { storageClassName: 'gold' })), POST(CLAIMS, claim('b', '2Gi'), quiet), POST(CLAIMS, claim('c', '1Gi', { storageClassName: 'gold' }), quiet), POST(CLAIMS, claim('d', '1', { storageClassName: 'gold' })), used()]),
  within('load-balancers', 'services.loadbalancers', quota({ 'services.loadbalancers': '0', services: '5' }), [POST(SERVICES, service('a', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false })), POST(SERVICES, service('b', { clusterIP: 'None' }), quiet), used()]),
  within('node-ports', 'services.nodeports counts ports', quota({ 'services.nodeports': '1' }), [POST(SERVICES, service('a', { type: 'NodePort', ports: [{ name: 'a', port: 80 }, { name: 'b', port: 81 }] })), POST(SERVICES, service('b', { type: 'NodePort' }), quiet), used()]),
  within('node-ports-of-load-balancer', 'services.nodeports counts those of a load balancer', quota({ 'services.nodeports': '0' }), [POST(SERVICES, service('a', { type: 'LoadBalancer' })), POST(SERVICES, service('b', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }), quiet)]),
  within('service-type', 'a change of type counts', quota({ 'services.nodeports': '0', 'services.loadbalancers': '0' }), [POST(SERVICES, service('a'), quiet), PATCH(`${SERVICES}/a`, 'merge', { spec: { type: 'NodePort' } }), PATCH(`${SERVICES}/a`, 'merge', { metadata: { labels: { a: 'b' } } }, quiet)]),
];

const aStatus = { name: 'c', image: 'img', imageID: 'x', ready: true, restartCount: 0 };
/** What the node says of the container and of the pod. */
const reported = (name, status, more = {}) => PATCH(`${PODS}/${name}/status`, 'merge', { status: { containerStatuses: [{ ...aStatus, ...status }], ...more } }, quiet);
const resized = (name, resources) => PATCH(`${PODS}/${name}/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources }] } }, { pick: (b) => (b.kind === 'Status' ? b : b.spec.containers[0].resources) });

const updates = [
  within('update-configmap', 'an update of a counted object costs nothing', quota({ configmaps: '1' }), [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, quiet), used()]),
  within('update-exceeded', 'nor when the quota is exceeded already', quota({ configmaps: '1' }, { used: { configmaps: '5' } }), [PATCH(`${CM}/old`, 'merge', { data: { b: '2' } }, quiet), POST(CM, cm()), used()], { before: [POST(CM, cm('old'), quiet)] }),
  within('resize', 'a resize costs the difference', quota({ 'requests.cpu': '2' }), [POST(PODS, demanding('a', requests({ cpu: '1' })), quiet), PATCH(`${PODS}/a/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '4' } } }] } }), PATCH(`${PODS}/a/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } }, quiet), used(), PATCH(`${PODS}/a/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1500m' } } }] } }, quiet), used()]),
  within('resize-allocated', 'what a node has given counts until it has taken it back', quota({ 'requests.cpu': '2', 'limits.cpu': '4' }), [POST(PODS, demanding('a', requests({ cpu: '2' }, { cpu: '4' })), quiet), reported('a', { resources: requests({ cpu: '2' }, { cpu: '4' }), allocatedResources: { cpu: '2' } }), resized('a', requests({ cpu: '1' }, { cpu: '3' })), used(), resized('a', requests({ cpu: '2' }, { cpu: '4' })), used(), resized('a', requests({ cpu: '3' }, { cpu: '4' })), resized('a', requests({ cpu: '2' }, { cpu: '5' })), used()]),
  within('resize-allocated-only', 'what is given counts beside what runs, and only where something is said of that', quota({ 'requests.cpu': '3' }), [POST(PODS, demanding('a', requests({ cpu: '1' })), quiet), reported('a', { resources: requests({ cpu: '1' }), allocatedResources: { cpu: '3' } }), resized('a', requests({ cpu: '2' })), used(), reported('a', { allocatedResources: { cpu: '3' } }), resized('a', requests({ cpu: '1' })), used(), resized('a', requests({ cpu: '3' })), used()]),
  within('resize-infeasible', 'what a node cannot give costs nothing', quota({ 'requests.cpu': '2' }), [POST(PODS, demanding('a', requests({ cpu: '2' })), quiet), reported('a', { resources: requests({ cpu: '1' }) }, { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] }), resized('a', requests({ cpu: '9' })), used(), reported('a', { resources: requests({ cpu: '1' }) }, { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Deferred' }] }), resized('a', requests({ cpu: '10' })), used()]),
  within('resize-sidecar', 'what init containers were given counts of sidecars only', quota({ 'requests.cpu': '6' }), [
    POST(PODS, pod('a', { initContainers: [{ name: 'i', image: 'img', resources: requests({ cpu: '1' }) }, { name: 's', image: 'img', restartPolicy: 'Always', resources: requests({ cpu: '2' }) }], containers: [{ name: 'c', image: 'img', resources: requests({ cpu: '1' }) }] }), quiet), used(),
    reported('a', { resources: requests({ cpu: '1' }) }, { initContainerStatuses: [{ ...aStatus, name: 'i', resources: requests({ cpu: '9' }) }, { ...aStatus, name: 's', resources: requests({ cpu: '2' }), allocatedResources: { cpu: '3' } }] }),
    PATCH(`${PODS}/a/resize`, 'strategic', { spec: { initContainers: [{ name: 's', resources: requests({ cpu: '3' }) }] } }), used(), resized('a', requests({ cpu: '2' })), used(),
  ]),
  within('resize-stuck', 'a pod whose time to end is over costs nothing but its record', quota({ 'requests.cpu': '2' }), [POST(PODS, demanding('a', requests({ cpu: '2' }), { nodeName: 'n', terminationGracePeriodSeconds: 2 }), quiet), DELETE(`${PODS}/a`, undefined, quiet), resized('a', requests({ cpu: '3' })), SLEEP(5000), resized('a', requests({ cpu: '4' })), used()]),
  within('delete', 'a delete gives nothing back: that is for the controller', quota({ configmaps: '1' }), [POST(CM, cm(), quiet), DELETE(`${CM}/c`, undefined, quiet), used(), POST(CM, cm())]),
  within('pod-terminal', 'nor does a pod that has ended', quota({ pods: '1' }), [POST(PODS, pod('a'), quiet), PATCH(`${PODS}/a/status`, 'merge', { status: { phase: 'Succeeded' } }, quiet), used()]),
  within('apply', 'an apply that creates counts', quota({ configmaps: '1' }), [APPLY(`${CM}/a`, 'm', cm('a'), quiet), APPLY(`${CM}/a`, 'm', cm('a', { a: '2' }), quiet), APPLY(`${CM}/b`, 'm', cm('b')), used()]),
  within('put-create', 'a PUT that creates counts', quota({ 'count/limitranges': '0' }), [PUT('/api/v1/namespaces/$ns/limitranges/l', { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [] } })]),
];

const effects = [
  within('dry-run', 'a dry run is refused like the real request, but costs nothing', quota({ configmaps: '1' }), [POST(CM, cm(), { ...dry, ...quiet }), used(), POST(CM, cm('a'), quiet), POST(CM, cm('b'), dry), used()]),
  within('exists', 'a create of what is there costs all the same', quota({ configmaps: '5' }), [POST(CM, cm(), quiet), POST(CM, cm(), quiet), used()]),
  within('invalid', 'an invalid object costs nothing', quota({ configmaps: '5' }), [POST(CM, cm('Bad_Name'), quiet), used()]),
  within('generate-name', 'the generated name stands in the message', quota({ configmaps: '0' }), [POST(CM, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }, { pick: (b) => JSON.parse(JSON.stringify(b).replaceAll(/gen-[a-z0-9]{5}/g, 'gen-<random>')) })]),
  within('status-missing', 'a quota whose status was never written limits nothing', quota({ configmaps: '0' }, { status: false }), [SLEEP(300), POST(CM, cm(), quiet)]),
  within('status-unknown', 'a quota with limits in its status but no usage', [...quota({ configmaps: '5', secrets: '5' }, { status: false }), PUT(`${QUOTAS}/q/status`, { ...quotaOf('q', { configmaps: '5', secrets: '5' }), status: { hard: { configmaps: '5', secrets: '5' }, used: { secrets: '0' } } }, quiet)], [POST(CM, cm()), POST('/api/v1/namespaces/$ns/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }, quiet)]),
  within('status-differs', 'status.hard counts, not spec.hard', quota({ configmaps: '5' }), [PUT(`${QUOTAS}/q/status`, { ...quotaOf('q', { configmaps: '5' }), status: { hard: { configmaps: '0' }, used: { configmaps: '0' } } }, quiet), { ...POST(CM, cm(), { ...dry, pick: (b) => (b.kind === 'Status' ? b : 'accepted') }), kind: 'poll', ms: 5000, until: (_, s) => s === 403 }]),
  within('other-namespace', 'a quota counts in its namespace only', quota({ configmaps: '0' }), [POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-other' } }, quiet), POST('/api/v1/namespaces/$ns-other/configmaps', cm(), quiet)], { cleanup: ['/api/v1/namespaces/$ns-other'] }),
  within('two-quotas', 'two quotas: both are charged', [...quota({ configmaps: '5' }), ...quota({ configmaps: '5', secrets: '5' }, { name: 'r' })], [POST(CM, cm(), quiet), used(), used('r')]),
  within('two-quotas-one-exceeded', 'two quotas, one exceeded: none is charged', [...quota({ configmaps: '5' }), ...quota({ configmaps: '0' }, { name: 'r' })], [POST(CM, cm()), used(), used('r')]),
  within('order-missing-before-exceeded', 'two quotas, the first exceeded: what the second needs is told first', [...quota({ pods: '0' }), ...quota({ 'requests.cpu': '1' }, { name: 'r' })], [POST(PODS, pod())]),
  within('two-quotas-both-exceeded', 'two quotas, both exceeded: one is named', [...quota({ configmaps: '0' }), ...quota({ configmaps: '0' }, { name: 'r' })], [POST(CM, cm(), { pick: (b) => JSON.parse(JSON.stringify(b).replace('quota: r', 'quota: q')) })]),
  within('deleted', 'a deleted quota no longer counts', quota({ configmaps: '0' }), [POST(CM, cm(), quiet), DELETE(`${QUOTAS}/q`, undefined, quiet), { ...POST(CM, cm(), { ...dry, ...quiet }), kind: 'poll', ms: 8000, until: (_, s) => s === 201 }]),
];

const scoped = (id, about, scopes, hard, steps, o = {}) => within(`scope-${id}`, about, quota(hard, { scopes }), [...steps, used()], o);
const deadline = { activeDeadlineSeconds: 60 };
const select = (...matchExpressions) => ({ scopeSelector: { matchExpressions } });
const affinity = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k', namespaceSelector: {}, labelSelector: { matchLabels: { a: 'b' } } }] } } };
const scopes = [
  scoped('terminating', 'Terminating: pods with a deadline', ['Terminating'], { pods: '0' }, [POST(PODS, pod('a', deadline)), POST(PODS, pod('b'), quiet)]),
  scoped('not-terminating', 'NotTerminating: pods without', ['NotTerminating'], { pods: '0' }, [POST(PODS, pod('a', deadline), quiet), POST(PODS, pod('b'))]),
  scoped('best-effort', 'BestEffort: pods without requests and limits', ['BestEffort'], { pods: '0' }, [POST(PODS, demanding('a', requests({ cpu: '1' })), quiet), POST(PODS, pod('b'))]),
  scoped('not-best-effort', 'NotBestEffort: pods with', ['NotBestEffort'], { pods: '0' }, [POST(PODS, demanding('a', requests({ cpu: '1' }))), POST(PODS, pod('b'), quiet)]),
  scoped('two', 'two scopes: both must hold', ['NotTerminating', 'NotBestEffort'], { pods: '0' }, [POST(PODS, demanding('a', requests({ cpu: '1' }))), POST(PODS, demanding('b', requests({ cpu: '1' }), deadline), quiet), POST(PODS, pod('c'), quiet)]),
  scoped('missing-requests', 'what must be given is asked of pods in the scope only', ['NotTerminating'], { 'requests.cpu': '1' }, [POST(PODS, pod('a', deadline), quiet), POST(PODS, pod('b'))]),
  within('scope-deadline-added', 'a deadline that is added moves a pod into the scope', quota({ pods: '0' }, { scopes: ['Terminating'] }), [POST(PODS, pod('a'), quiet), PATCH(`${PODS}/a`, 'merge', { spec: deadline }), used()]),
  ...[['priority-in', { scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }], ['priority-not-in', { scopeName: 'PriorityClass', operator: 'NotIn', values: ['system-node-critical'] }], ['priority-exists', { scopeName: 'PriorityClass', operator: 'Exists' }], ['priority-does-not-exist', { scopeName: 'PriorityClass', operator: 'DoesNotExist' }]].map(([id, expression]) =>
    within(`scope-${id}`, `PriorityClass ${expression.operator}`, quota({ pods: '0' }, select(expression)), [POST(PODS, pod('a', { priorityClassName: 'system-node-critical' }), { pick: (b) => (b.kind === 'Status' ? b : 'accepted') }), POST(PODS, pod('b', { priorityClassName: 'system-cluster-critical' }), { pick: (b) => (b.kind === 'Status' ? b : 'accepted') }), POST(PODS, pod('c'), { pick: (b) => (b.kind === 'Status' ? b : 'accepted') })])),
  within('scope-affinity', 'CrossNamespacePodAffinity', quota({ pods: '0' }, select({ scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' })), [POST(PODS, pod('a', affinity)), POST(PODS, pod('b'), quiet)]),
];

const claimOf = (storage, name = 'v') => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage } } } });
const term = (o) => ({ topologyKey: 'k', labelSelector: { matchLabels: { a: 'b' } }, ...o });
const anti = (o) => ({ affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term(o) }] } } });
const accepted = { pick: (b) => (b.kind === 'Status' ? b : 'accepted') };
const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'LocalSubjectAccessReview', metadata: { namespace: '$ns' }, spec: { user: 'u', resourceAttributes: { namespace: '$ns', verb: 'get', resource: 'pods' } } };
const resize = (name, resources) => PATCH(`${PODS}/${name}/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources }] } }, accepted);
const further = [
  within('storage-fraction', 'a part of a byte is a whole one', quota({ 'requests.storage': '1' }), [POST(CLAIMS, claimOf('1500m')), POST(CLAIMS, claimOf('500m'), quiet), used()]),
  within('resize-shrink', 'a resize to less gives nothing back', quota({ 'requests.cpu': '4', 'limits.cpu': '8' }), [POST(PODS, demanding('a', requests({ cpu: '2' }, { cpu: '4' })), quiet), resize('a', { requests: { cpu: '1' } }), used(), resize('a', { requests: { cpu: '3' }, limits: { cpu: '3' } }), used()]),
  within('resize-shrink-exceeded', 'a resize to less of what exceeds the quota', quota({ 'requests.cpu': '1' }, { used: { 'requests.cpu': '5' } }), [resize('a', { requests: { cpu: '1' } }), resize('a', { requests: { cpu: '1500m' } }), used()], { before: [POST(PODS, demanding('a', requests({ cpu: '2' })), quiet)] }),
  within('resize-missing', 'a resize that takes away what must be given', quota({ 'requests.cpu': '4', 'limits.cpu': '8' }), [PATCH(`${PODS}/a/resize`, 'merge', { spec: { containers: [{ name: 'c', image: 'img', resources: { requests: { cpu: '1' } } }] } }, accepted)], { before: [POST(PODS, demanding('a', requests({ cpu: '1' })), quiet)] }),
  within('claim-grows', 'a claim that grows costs the difference', quota({ 'requests.storage': '3Gi', persistentvolumeclaims: '5' }), [POST(CLAIMS, claimOf('1Gi'), quiet), PATCH(`${CLAIMS}/v`, 'merge', { metadata: { labels: { a: 'b' } } }, quiet), used()]),
  within('service-shrink', 'a service that becomes a smaller one gives nothing back', quota({ 'services.nodeports': '2', 'services.loadbalancers': '1' }), [POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { type: 'LoadBalancer', ports: [{ name: 'a', port: 80 }, { name: 'b', port: 81 }] } }, quiet), PATCH('/api/v1/namespaces/$ns/services/s', 'merge', { spec: { type: 'ClusterIP' } }, quiet), used(), PATCH('/api/v1/namespaces/$ns/services/s', 'merge', { spec: { type: 'NodePort' } }, accepted), used()]),
  within('reviews', 'reviews in a namespace, by their number', quota({ 'count/localsubjectaccessreviews.authorization.k8s.io': '0' }), [POST('/apis/authorization.k8s.io/v1/namespaces/$ns/localsubjectaccessreviews', review, accepted), used()]),
  within('bindings', 'bindings, by their number', quota({ 'count/bindings': '0', 'count/pods': '5' }), [POST(PODS, pod('a'), quiet), POST('/api/v1/namespaces/$ns/bindings', { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: 'n' } }, accepted), used()]),
  within('tokens', 'tokens and scales are no objects', quota({ 'count/serviceaccounts': '1', 'count/deployments.apps': '1' }), [POST('/api/v1/namespaces/$ns/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }, quiet), POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d/scale`, 'merge', { spec: { replicas: 2 } }, quiet), used()]),
  within('scope-affinity-terms', 'CrossNamespacePodAffinity: terms that name namespaces, or none', quota({ pods: '0' }, select({ scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' })), [POST(PODS, pod('a', anti({ namespaces: ['x'] })), accepted), POST(PODS, pod('b', anti({})), accepted), POST(PODS, pod('c', anti({ namespaces: [] })), accepted), POST(PODS, pod('d', anti({ namespaceSelector: { matchLabels: { a: 'b' } } })), accepted)]),
  within('scope-priority-default', 'PriorityClass Exists: pods without a class', quota({ pods: '1' }, select({ scopeName: 'PriorityClass', operator: 'Exists' })), [POST(PODS, pod('a'), quiet), POST(PODS, pod('b', { priorityClassName: 'system-node-critical' }), quiet), POST(PODS, pod('c', { priorityClassName: 'system-cluster-critical' }), accepted), used()]),
  within('scope-two-selectors', 'two expressions: both must hold', quota({ pods: '0' }, select({ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }, { scopeName: 'BestEffort', operator: 'Exists' })), [POST(PODS, pod('a', { priorityClassName: 'system-node-critical' }), accepted), POST(PODS, demanding('b', requests({ cpu: '1' }), { priorityClassName: 'system-node-critical' }), accepted)]),
  within('scope-services', 'a quota with a scope does not count other kinds', quota({ pods: '0', 'count/pods': '0' }, { scopes: ['NotTerminating'] }), [POST(CM, cm(), quiet), POST(PODS, pod('a'), accepted)]),
  within('overhead', 'the overhead of a runtime class counts', quota({ 'requests.cpu': '1', 'limits.cpu': '1' }), [POST('/apis/node.k8s.io/v1/runtimeclasses', { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: '$ns-r' }, handler: 'h', overhead: { podFixed: { cpu: '300m' } } }, quiet), SLEEP(500), POST(PODS, demanding('a', requests({ cpu: '800m' }, { cpu: '800m' }), { runtimeClassName: '$ns-r' }), accepted), POST(PODS, demanding('b', requests({ cpu: '500m' }, { cpu: '500m' }), { runtimeClassName: '$ns-r' }), accepted), used()], { cleanup: ['/apis/node.k8s.io/v1/runtimeclasses/$ns-r'] }),
  within('ephemeral-containers', 'ephemeral containers cost nothing', quota({ 'requests.cpu': '1', pods: '1' }), [POST(PODS, demanding('a', requests({ cpu: '1' })), quiet), PATCH(`${PODS}/a/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'img' }] } }, quiet), used()]),
  within('collection', 'a deletecollection gives nothing back', quota({ configmaps: '1' }), [POST(CM, cm('a', {}, { labels: { l: 'x' } }), quiet), DELETE(CM, undefined, { ...quiet, query: { labelSelector: 'l=x' } }), POST(CM, cm('b'), accepted), used()]),
];

const custom = [
  scenario('admission-quota-custom-resource', { section: '7', about: 'custom resources by count/…', cleanup: ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.$ns.example.com'] }, [
    POST('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'widgets.$ns.example.com' }, spec: { group: '$ns.example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] } }, quiet),
    { kind: 'poll', method: 'GET', path: '/apis/$ns.example.com/v1/namespaces/$ns/widgets', ms: 15000, until: (_, s) => s === 200, compare: 'status' },
    ...quota({ 'count/widgets.$ns.example.com': '1' }), ...plainSentinel, known,
    POST('/apis/$ns.example.com/v1/namespaces/$ns/widgets', { apiVersion: '$ns.example.com/v1', kind: 'Widget', metadata: { name: 'a' } }, quiet), POST('/apis/$ns.example.com/v1/namespaces/$ns/widgets', { apiVersion: '$ns.example.com/v1', kind: 'Widget', metadata: { name: 'b' } }),
    GET(`${QUOTAS}/q`, { pick: (b) => Object.values(b.status?.used ?? {}) }),
  ]),
];

export default [...further, ...counts, ...compute, ...others, ...updates, ...effects, ...scopes, ...custom];
