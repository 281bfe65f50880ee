// What differs from kind to kind in how the core group is stored: creation by PUT, updates without a version, answers to DELETE, field selectors.
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';
import { inNs, pod } from './kit/kinds-core.mjs';

const meta = (kind, rest = {}) => ({ apiVersion: 'v1', kind, metadata: { name: 'x' }, ...rest });
const podSpec = { containers: [{ name: 'c', image: 'b:1' }] };
const namespaced = {
  configmaps: meta('ConfigMap'),
  endpoints: meta('Endpoints'),
  events: meta('Event', { involvedObject: { namespace: '$ns' } }),
  limitranges: meta('LimitRange'),
  persistentvolumeclaims: meta('PersistentVolumeClaim', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }),
  pods: meta('Pod', { spec: podSpec }),
  podtemplates: meta('PodTemplate', { template: { spec: podSpec } }),
  replicationcontrollers: meta('ReplicationController', { spec: { template: { metadata: { labels: { a: 'b' } }, spec: podSpec } } }),
  resourcequotas: meta('ResourceQuota'),
  secrets: meta('Secret'),
  serviceaccounts: meta('ServiceAccount'),
  services: meta('Service', { spec: { ports: [{ port: 80 }] } }),
};
const cluster = { nodes: meta('Node'), persistentvolumes: meta('PersistentVolume', { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/a' } } }), namespaces: meta('Namespace') };
const labelled = (o, name, v) => ({ ...o, metadata: { name, labels: { v } } });
const brief = (b) => (b.kind === 'Status' ? b : { kind: b.kind, labels: b.metadata.labels ?? null, generation: b.metadata.generation ?? null, finalizers: b.metadata.finalizers ?? null });

const updates = (resource, at, name, o) => [
  PUT(`${at}/${name}`, labelled(o, name, '1'), { pick: brief, note: 'PUT to a missing object' }),
  POST(at, labelled(o, name, '1'), { compare: 'status', note: 'create unless PUT did' }),
  PUT(`${at}/${name}`, labelled(o, name, '2'), { pick: brief, note: 'PUT without a version' }),
  PUT(`${at}/${name}`, { ...labelled(o, name, '3'), metadata: { name, resourceVersion: '1' } }, { note: 'PUT with an old version' }),
  PATCH(`${at}/${name}`, 'merge', { metadata: { labels: { p: 'q' } } }, { pick: brief }),
  DELETE(`${at}/${name}`, undefined, { pick: (b) => (b.kind === 'Status' ? b : brief(b)), note: 'answer to DELETE' }),
];

const selectors = (id, at, object, good, bad) => scenario(`core-field-selectors-${id}`, { section: '4.3', about: `field selectors of ${id}` }, [
  POST(at, object, { compare: 'status' }),
  ...good.map((fieldSelector) => GET(at, { query: { fieldSelector }, note: fieldSelector, pick: (b) => (b.kind === 'Status' ? b : b.items.map((i) => i.metadata.name)) })),
  ...bad.map((fieldSelector) => GET(at, { query: { fieldSelector }, note: fieldSelector })),
]);

const q = ['0', '1', '1.0', '0.5', '.5', '1500m', '1000m', '1001m', '0.0001', '1n', '1u', '1000u', '1k', '1000', '1024', '1Ki', '1024Ki', '1.5Gi', '1536Mi', '0.5Gi', '1e3', '1E3', '1e-3', '12e6', '1E', '1Ei', '100M', '1000000', '123456789012345678', '1.23456', '+1', '2048Mi', '1.0Gi', '-0', '9223372036854775807', '9223372036854775808', '1e19', '0Ki', '0.1Ki', '00012', '1.10', '3.000', '999999999n'];

export default [
  ...Object.entries(namespaced).map(([resource, o]) => scenario(`core-strategy-${resource}`, { section: '4.7', about: `PUT and DELETE of ${resource}` }, updates(resource, inNs(resource), 'x', o))),
  ...Object.entries(cluster).map(([resource, o]) => scenario(`core-strategy-${resource}`, { section: '4.7', about: `PUT and DELETE of ${resource}`, namespace: false, cleanup: [`/api/v1/${resource}/$ns-x`] }, updates(resource, `/api/v1/${resource}`, '$ns-x', o))),

  selectors('pods', inNs('pods'), pod({ nodeName: 'n', serviceAccountName: 'sa', hostNetwork: true }), ['metadata.name=p', 'metadata.namespace=$ns', 'spec.nodeName=n', 'spec.restartPolicy=Always', 'spec.schedulerName!=default-scheduler', 'spec.serviceAccountName=sa', 'spec.hostNetwork=true', 'status.phase=Pending', 'status.podIP=', 'status.nominatedNodeName=', 'spec.nodeName=n,status.phase!=Running'], []),
  selectors('pods-refused', inNs('pods'), pod(), ['spec.host=', 'status.podIPs='], ['spec.containers=x', 'metadata.labels=a', 'status.hostIP=', 'spec.nodeName']),
  selectors('services', inNs('services'), { ...namespaced.services, spec: { clusterIP: 'None' } }, ['spec.clusterIP=None', 'spec.type=ClusterIP', 'metadata.name!=x'], ['spec.externalName=a']),
  selectors('secrets', inNs('secrets'), namespaced.secrets, ['type=Opaque', 'type!=Opaque'], ['data=x']),
  selectors('configmaps', inNs('configmaps'), namespaced.configmaps, ['metadata.name=x'], ['data=x']),
  selectors('events', inNs('events'), meta('Event', { involvedObject: { namespace: '$ns', kind: 'Pod', name: 'p', uid: 'u', apiVersion: 'v1', resourceVersion: '1', fieldPath: 'f' }, reason: 'R', type: 'Normal', source: { component: 'c' } }), ['involvedObject.kind=Pod', 'involvedObject.namespace=$ns', 'involvedObject.name=p', 'involvedObject.uid=u', 'involvedObject.apiVersion=v1', 'involvedObject.resourceVersion=1', 'involvedObject.fieldPath=f', 'reason=R', 'source=c', 'reportingComponent='], ['message=m']),
  selectors('replicationcontrollers', inNs('replicationcontrollers'), namespaced.replicationcontrollers, ['status.replicas=0'], ['spec.replicas=1']),
  selectors('claims', inNs('persistentvolumeclaims'), namespaced.persistentvolumeclaims, ['metadata.name=x'], ['name=x', 'status.phase=Pending']),
  scenario('core-field-selectors-cluster', { section: '4.3', about: 'field selectors of nodes, namespaces and volumes', cleanup: ['/api/v1/nodes/$ns-n'] }, [
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n' }, spec: { unschedulable: true } }, { compare: 'status' }),
    ...[['nodes', 'metadata.name=$ns-n,spec.unschedulable=true'], ['nodes', 'metadata.name=$ns-n,spec.unschedulable=false'], ['nodes', 'spec.podCIDR=x'], ['namespaces', 'metadata.name=$ns,status.phase=Active'], ['namespaces', 'metadata.name=$ns,name=$ns'], ['namespaces', 'spec.finalizers=kubernetes'], ['persistentvolumes', 'name=$ns-n'], ['persistentvolumes', 'spec.storageClassName=x']].map(([r, fieldSelector]) => GET(`/api/v1/${r}`, { query: { fieldSelector }, note: fieldSelector, pick: (b) => (b.kind === 'Status' ? b : b.items.map((i) => i.metadata.name)) })),
  ]),

  scenario('core-quantities', { section: '2', about: 'how quantities are written back' }, [POST(inNs('limitranges'), meta('LimitRange', { spec: { limits: [{ type: 'example.com/t', max: Object.fromEntries(q.map((v, i) => [`example.com/q${String(i).padStart(2, '0')}`, v])) }] } }), { pick: (b) => (b.kind === 'Status' ? b : q.map((v, i) => `${v} → ${b.spec.limits[0].max[`example.com/q${String(i).padStart(2, '0')}`]}`)) })]),
  scenario('core-runtime-class', { section: '2', about: 'a runtime class adds overhead, node selector and tolerations to its Pods', cleanup: ['/apis/node.k8s.io/v1/runtimeclasses/$ns-rc'] }, [
    POST('/apis/node.k8s.io/v1/runtimeclasses', { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: '$ns-rc' }, handler: 'h', overhead: { podFixed: { cpu: '250m', memory: '64Mi' } }, scheduling: { nodeSelector: { rt: 'yes' }, tolerations: [{ key: 'rt', operator: 'Exists' }] } }, { compare: 'status' }),
    POST(inNs('pods'), pod({ runtimeClassName: '$ns-rc', nodeSelector: { own: 'a' } }), { pick: (b) => (b.kind === 'Status' ? b : b.spec) }), POST(inNs('pods'), pod({ runtimeClassName: '$ns-rc', overhead: { cpu: '1' } }, { name: 'q' }), { note: 'overhead of its own' }), POST(inNs('pods'), pod({ runtimeClassName: '$ns-rc', overhead: { cpu: '250m', memory: '64Mi' } }, { name: 'r' }), { note: 'the same overhead', compare: 'status' }), POST(inNs('pods'), pod({ runtimeClassName: '$ns-rc', nodeSelector: { rt: 'no' } }, { name: 's' }), { note: 'node selector in conflict' }),
  ]),
  scenario('core-priority-class', { section: '2', about: 'a priority class sets priority and preemption policy', cleanup: ['/apis/scheduling.k8s.io/v1/priorityclasses/$ns-pc'] }, [
    POST('/apis/scheduling.k8s.io/v1/priorityclasses', { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: '$ns-pc' }, value: 77, preemptionPolicy: 'Never' }, { compare: 'status' }),
    POST(inNs('pods'), pod({ priorityClassName: '$ns-pc' }), { pick: (b) => (b.kind === 'Status' ? b : [b.spec.priority, b.spec.preemptionPolicy, b.spec.priorityClassName]) }), POST(inNs('pods'), pod({ priorityClassName: '$ns-pc', priority: 77, preemptionPolicy: 'Never' }, { name: 'q' }), { compare: 'status', note: 'the same by hand' }), POST(inNs('pods'), pod({ priorityClassName: '$ns-pc', priority: 78 }, { name: 'r' }), { note: 'another priority' }), POST(inNs('pods'), pod({ priorityClassName: '$ns-pc', preemptionPolicy: 'PreemptLowerPriority' }, { name: 's' }), { note: 'another policy' }),
  ]),
];
