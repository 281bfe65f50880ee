// Server-side apply and ownership through subresources: status, scale, ephemeral containers and others.
import { scenario, GET, POST, PUT, PATCH, APPLY } from '../steps.ts';
import { CM, DEP, POD, STS, deployment, statefulSet, pod, box, owners } from './kit/apply.mjs';

const one = (id, about, steps, o = {}) => scenario(`apply-subresources-${id}`, { section: '2.3', about, ...o }, steps);
const quiet = { compare: 'status' };
const by = (fieldManager, o) => ({ query: { fieldManager }, ...o });
const dep = (o) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, ...o });
const aPod = (o) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, ...o });
const CSR = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const signing = (spec, status) => ({ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-r' }, ...(spec ? { spec } : {}), ...(status ? { status } : {}) });
const scale = (replicas, o) => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas }, ...o });
const failed = (b) => b.kind === 'Status' && b.status === 'Failure';
const seen = (...keys) => ({ pick: (b) => (failed(b) ? b : { managedFields: b.metadata.managedFields ?? null, ...Object.fromEntries(keys.map((k) => [k, k.split('.').reduce((o, p) => o?.[p], b) ?? null])) }) });

const status = [
  one('status-apply', 'apply to /status owns the status under its subresource', [APPLY(`${DEP}/d`, 'm', deployment('d'), quiet), APPLY(`${DEP}/d/status`, 'c', dep({ status: { replicas: 1, conditions: [{ type: 'Own', status: 'True' }] } }), seen('status'))]),
  one('status-apply-spec-ignored', 'a spec applied to /status is neither stored nor owned', [APPLY(`${DEP}/d`, 'm', deployment('d'), quiet), APPLY(`${DEP}/d/status`, 'c', dep({ spec: { replicas: 7 }, status: { replicas: 1 } }), seen('status', 'spec.replicas'))]),
  one('status-through-main-ignored', 'a status applied to the main resource is neither stored nor owned', [APPLY(`${DEP}/d`, 'm', { ...deployment('d'), status: { replicas: 5 } }, seen('status'))]),
  one('status-labels', 'through /status of a deployment annotations are applied, labels are not', [APPLY(`${DEP}/d`, 'm', deployment('d', {}, {}, { labels: { a: '1' } }), quiet), APPLY(`${DEP}/d/status`, 'c', { ...dep({ status: { replicas: 1 } }), metadata: { name: 'd', labels: { b: '2' }, annotations: { n: 'x' } } }, seen('metadata.labels', 'metadata.annotations'))]),
  one('status-absent-object', 'apply to /status of an absent object is 404', [APPLY(`${DEP}/d/status`, 'c', dep({ status: { replicas: 1 } })), APPLY(`${POD}/p/status`, 'c', aPod({ status: { phase: 'Running' } }))]),
  one('status-same-manager', 'the same manager on main resource and status has two entries', [APPLY(`${DEP}/d`, 'm', deployment('d'), quiet), APPLY(`${DEP}/d/status`, 'm', dep({ status: { replicas: 1 } }), seen('status')), APPLY(`${DEP}/d/status`, 'm', dep({}), seen('status'))]),
  one('status-conflict', 'two managers of the status conflict', [APPLY(`${DEP}/d`, 'm', deployment('d'), quiet), APPLY(`${DEP}/d/status`, 'c1', dep({ status: { replicas: 1 } }), quiet), APPLY(`${DEP}/d/status`, 'c2', dep({ status: { replicas: 2 } })), APPLY(`${DEP}/d/status`, 'c2', dep({ status: { replicas: 2 } }), { ...seen('status'), force: true })]),
  one('status-update', 'updates of /status by PUT and patch', [POST(DEP, deployment('d'), by('m', { id: 'd', ...quiet })), PATCH(`${DEP}/d/status`, 'merge', { status: { replicas: 1 } }, by('c1', seen('status'))), PUT(`${DEP}/d/status`, { ...deployment('d', { replicas: 9 }), status: { replicas: 2 } }, by('c2', seen('status', 'spec.replicas')))]),
  one('status-conditions', 'conditions applied by two managers', [
    POST(DEP, deployment('d'), by('m', quiet)), APPLY(`${DEP}/d/status`, 'c1', dep({ status: { conditions: [{ type: 'A', status: 'True' }] } }), quiet), APPLY(`${DEP}/d/status`, 'c2', dep({ status: { conditions: [{ type: 'B', status: 'True' }] } }), seen('status')), APPLY(`${DEP}/d/status`, 'c1', dep({ status: { conditions: [] } }), seen('status')),
  ]),
  one('status-pod', 'the status of a pod by apply', [APPLY(`${POD}/p`, 'm', pod('p'), quiet), APPLY(`${POD}/p/status`, 'kubelet', aPod({ status: { phase: 'Running', podIP: '10.1.1.1', podIPs: [{ ip: '10.1.1.1' }], hostIP: '10.1.1.2', containerStatuses: [{ name: 'web', ready: true, restartCount: 0, image: 'i', imageID: 'x', state: { running: { startedAt: '2020-01-01T00:00:00Z' } } }], conditions: [{ type: 'Ready', status: 'True' }] } }), seen('status'))]),
  one('status-node', 'the status of a node by apply', [
    APPLY('/api/v1/nodes/$ns-n', 'm', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n' } }, quiet),
    APPLY('/api/v1/nodes/$ns-n/status', 'kubelet', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n' }, status: { capacity: { cpu: '1' }, addresses: [{ type: 'InternalIP', address: '10.1.1.1' }], conditions: [{ type: 'Ready', status: 'True' }], images: [{ names: ['a'] }] } }, seen('status')),
  ], { cleanup: ['/api/v1/nodes/$ns-n'] }),
  one('status-none', 'apply to the status of a kind without one is 404', [APPLY(`${CM}/c/status`, 'm', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } })]),
  one('status-labels-conflict', 'a label applied on the main resource and through /status', [
    APPLY(`${POD}/p`, 'm', pod('p', {}, { labels: { a: '1' } }), quiet), APPLY(`${POD}/p/status`, 'c', { ...aPod({}), metadata: { name: 'p', labels: { a: '2' } } }), APPLY(`${POD}/p/status`, 'c', { ...aPod({}), metadata: { name: 'p', labels: { a: '2' } } }, { ...seen('metadata.labels'), force: true }),
  ]),
];

const scaled = [
  one('scale-read', 'a Scale shows no managed fields', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 2 }), quiet), GET(`${DEP}/d/scale`)]),
  one('scale-read-update', 'a Scale of an object created by POST', [POST(DEP, deployment('d', { replicas: 2 }), by('u', quiet)), GET(`${DEP}/d/scale`)]),
  one('scale-apply-takes', 'replicas applied through /scale conflict with the owner on the main resource', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 2 }), quiet), APPLY(`${DEP}/d/scale`, 's', scale(3)), APPLY(`${DEP}/d/scale`, 's', scale(3), { force: true }), GET(`${DEP}/d`, { pick: owners })]),
  one('scale-apply-free', 'replicas that nobody owns conflict with before-first-apply when applied through /scale; with force they are taken', [APPLY(`${DEP}/d`, 'm', deployment('d'), quiet), APPLY(`${DEP}/d/scale`, 's', scale(3)), APPLY(`${DEP}/d/scale`, 's', scale(3), { force: true }), GET(`${DEP}/d`, seen('spec.replicas')), APPLY(`${DEP}/d/scale`, 's', scale(3)), APPLY(`${DEP}/d/scale`, 's', scale(4)), GET(`${DEP}/d`, seen('spec.replicas'))]),
  one('scale-apply-free-same', 'replicas that nobody owns, applied through /scale with the value they have', [APPLY(`${DEP}/d`, 'm', deployment('d'), quiet), APPLY(`${DEP}/d/scale`, 's', scale(1)), GET(`${DEP}/d`, seen('spec.replicas'))]),
  one('scale-apply-then-main', 'replicas owned through /scale conflict with an apply on the main resource', [APPLY(`${DEP}/d`, 'm', deployment('d'), quiet), APPLY(`${DEP}/d/scale`, 's', scale(3), { ...quiet, force: true }), APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 4 })), APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 3 }), seen('spec.replicas')), APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 4 }), { ...seen('spec.replicas'), force: true })]),
  one('scale-apply-same-value', 'the same replicas through /scale are shared', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 3 }), quiet), APPLY(`${DEP}/d/scale`, 's', scale(3)), GET(`${DEP}/d`, { pick: owners })]),
  one('scale-apply-give-up', 'an apply to /scale without replicas gives them up: they become 0, not the default of the deployment', [APPLY(`${DEP}/d`, 'm', deployment('d'), quiet), APPLY(`${DEP}/d/scale`, 's', scale(3), { ...quiet, force: true }), APPLY(`${DEP}/d/scale`, 's', { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' } }), GET(`${DEP}/d`, seen('spec.replicas'))]),
  one('scale-update', 'a PUT of a Scale takes the replicas over', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 2 }), quiet), PUT(`${DEP}/d/scale`, scale(5), by('hpa')), GET(`${DEP}/d`, seen('spec.replicas')), APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 2 }))]),
  one('scale-update-same', 'a PUT of a Scale with the same replicas changes nothing', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 2 }), { id: 'd', ...quiet }), PUT(`${DEP}/d/scale`, scale(2), by('hpa')), GET(`${DEP}/d`, { pick: owners })]),
  one('scale-patch', 'a patch of the Scale of an object whose replicas nobody owns leaves no entry', [APPLY(`${STS}/d`, 'm', statefulSet('d', { serviceName: 's' }), quiet), PATCH(`${STS}/d/scale`, 'merge', { spec: { replicas: 3 } }, by('hpa')), GET(`${STS}/d`, { pick: owners }), GET(`${STS}/d/scale`)]),
  one('scale-wrong-kind', 'apply to /scale needs a Scale', [APPLY(`${DEP}/d`, 'm', deployment('d'), quiet), APPLY(`${DEP}/d/scale`, 's', dep({ spec: { replicas: 3 } })), APPLY(`${DEP}/d/scale`, 's', { ...scale(3), apiVersion: 'apps/v1' }), APPLY(`${DEP}/d/scale`, 's', { ...scale(3), apiVersion: 'autoscaling/v2' })]),
  one('scale-wrong-name', 'apply to /scale with another name is 400; without a name it works', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 3 }), quiet), APPLY(`${DEP}/d/scale`, 's', { ...scale(3), metadata: { name: 'x' } }), APPLY(`${DEP}/d/scale`, 's', { ...scale(3), metadata: {} })]),
  one('scale-absent', 'apply to /scale of an absent object is 404', [APPLY(`${DEP}/d/scale`, 's', scale(3))]),
  one('scale-invalid', 'apply to /scale of a negative number, an unknown field, a string', [APPLY(`${DEP}/d`, 'm', deployment('d'), quiet), APPLY(`${DEP}/d/scale`, 's', scale(-1), { force: true }), APPLY(`${DEP}/d/scale`, 's', scale(1, { nope: 1 })), APPLY(`${DEP}/d/scale`, 's', scale('3'))]),
  one('scale-labels-ignored', 'labels applied to /scale are ignored', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 3 }), quiet), APPLY(`${DEP}/d/scale`, 's', { ...scale(3), metadata: { name: 'd', labels: { a: '1' } } }), GET(`${DEP}/d`, seen('metadata.labels'))]),
  one('scale-dry-run', 'apply to /scale with dryRun=All', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 1 }), quiet), PATCH(`${DEP}/d/scale`, 'merge', { spec: { replicas: 3 } }, { query: { dryRun: 'All', fieldManager: 's' } }), GET(`${DEP}/d`, seen('spec.replicas'))]),
  one('scale-kinds', 'replicas through /scale of replica sets and replication controllers', [
    POST('/apis/apps/v1/namespaces/$ns/replicasets', { ...deployment('d'), kind: 'ReplicaSet' }, by('u', quiet)), APPLY('/apis/apps/v1/namespaces/$ns/replicasets/d/scale', 's', scale(3)), APPLY('/apis/apps/v1/namespaces/$ns/replicasets/d/scale', 's', scale(3), { force: true }), GET('/apis/apps/v1/namespaces/$ns/replicasets/d', { pick: owners }),
    POST('/api/v1/namespaces/$ns/replicationcontrollers', { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'd' }, spec: { replicas: 1, selector: { app: 'web' }, template: { metadata: { labels: { app: 'web' } }, spec: { containers: [box()] } } } }, by('u', quiet)), APPLY('/api/v1/namespaces/$ns/replicationcontrollers/d/scale', 's', scale(3), { force: true }), GET('/api/v1/namespaces/$ns/replicationcontrollers/d', { pick: owners }),
  ]),
];

const others = [
  one('ephemeral-containers', 'ephemeral containers by apply', [APPLY(`${POD}/p`, 'm', pod('p'), quiet), APPLY(`${POD}/p/ephemeralcontainers`, 'debugger', aPod({ spec: { ephemeralContainers: [{ name: 'e', image: 'example.com/e:1' }] } }), seen('spec.ephemeralContainers'))]),
  one('ephemeral-containers-patch', 'ephemeral containers by patch', [POST(POD, pod('p'), by('m', quiet)), PATCH(`${POD}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'example.com/e:1' }] } }, by('debugger', seen('spec.ephemeralContainers')))]),
  one('resize', 'resources of a pod through /resize', [
    POST(POD, pod('p', { containers: [box('web', { resources: { requests: { cpu: '1' } } })] }), by('m', quiet)), PATCH(`${POD}/p/resize`, 'strategic', { spec: { containers: [{ name: 'web', resources: { requests: { cpu: '2' } } }] } }, by('resizer', seen('spec.containers'))),
    APPLY(`${POD}/p/resize`, 'a', aPod({ spec: { containers: [{ name: 'web', resources: { requests: { cpu: '3' } } }] } }), { ...seen('spec.containers'), force: true }),
  ]),
  one('namespace-status', 'the status of a namespace by apply', [APPLY('/api/v1/namespaces/$ns/status', 'm', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns' }, status: { conditions: [{ type: 'Own', status: 'True', message: '', reason: '', lastTransitionTime: '2020-01-01T00:00:00Z' }] } }, { pick: (b) => (failed(b) ? b : { managedFields: b.metadata.managedFields.filter((e) => e.manager === 'm'), status: b.status }) })]),
  one('binding-owner', 'the node that a binding sets is owned through the binding', [POST(POD, pod('p'), by('m', quiet)), POST(`${POD}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }, { ...by('scheduler') }), GET(`${POD}/p`, seen('spec.nodeName', 'status.conditions'))]),
  one('csr-approval', 'the approval of a signing request by apply', [
    POST(CSR, signing({ request: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIUk1IZ0NBUUF3RmpFVU1CSUdBMVVFQXd3TGIzSmhZMnhsTFhSbGMzUXdXVEFUQmdjcWhrak9QUUlCQmdncQpoa2pPUFFNQkJ3TkNBQVNrRzFrS1A0THFaSlpSQVFFOVBvQTYwd1o2cHB3VmlsU3Ezb2ppWDBQc1IwcEg2SnkvCm1ndzFPNDVFc0h3Ujhpd3JLNlhiL1V6WHZjYzRwc3J5TzJUdW9BQXdDZ1lJS29aSXpqMEVBd0lEU1FBd1JnSWgKQUtqMm9POVNOL0dYeisyQVVkN0xyYy9PaSswdjE2UlFPV2N2WGdKTWNyMVpBaUVBOExCTEhvNmdBaHpQVytjZQpXUHBZekFFNHdXTHE1VWZvekNFcGxHQUtUeTg9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=', signerName: 'example.com/x', usages: ['client auth'] }), by('m', { pick: owners })),
    APPLY(`${CSR}/$ns-r/approval`, 'approver', signing(undefined, { conditions: [{ type: 'Approved', status: 'True', reason: 'R' }] }), seen('status')),
  ], { cleanup: [`${CSR}/$ns-r`] }),
];

export default [...status, ...scaled, ...others];
