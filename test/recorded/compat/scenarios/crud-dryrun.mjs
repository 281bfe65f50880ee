// dryRun: every verb answers as usual and stores nothing.
import { scenario, GET, POST, PUT, PATCH, DELETE, APPLY } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const cms = `${core}/configmaps`;
const leases = '/apis/coordination.k8s.io/v1/namespaces/$ns/leases';
const deployments = '/apis/apps/v1/namespaces/$ns/deployments';
const cm = (name, data = { a: '1' }, meta = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...meta }, data });
const lease = (name, meta = {}) => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, ...meta } });
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } };
const dry = { query: { dryRun: 'All' } };
const about = (text) => ({ section: '4.8', about: text });
const made = POST(cms, cm('c'), { id: 'made' });

export default [
  scenario('crud-dryrun-create', about('POST: 201 with uid and creation time but no resourceVersion; nothing stored'), [
    POST(cms, cm('c'), { ...dry, compareHeaders: ['warning'] }),
    GET(`${cms}/c`),
    POST(cms, cm('c')),
  ]),
  scenario('crud-dryrun-create-errors', about('POST: the same errors as for real'), [
    made,
    POST(cms, cm('c'), dry),
    POST(cms, cm('Bad_'), dry),
    POST('/api/v1/namespaces/$ns-none/configmaps', cm('c'), dry),
    POST(cms, cm('d', {}, { resourceVersion: '5' }), dry),
  ]),
  scenario('crud-dryrun-create-generate-name', about('POST with generateName: whether a name is made'), [
    POST(cms, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-' } }, { ...dry, pick: (b) => ({ ...b, metadata: { ...b.metadata, name: b.metadata.name?.replace(/.{5}$/, '?????') } }) }),
    GET(cms, { pick: (b) => b.items }),
  ]),
  scenario('crud-dryrun-create-kinds', { ...about('POST of kinds with defaults, allocation and admission'), cleanup: ['/api/v1/namespaces/$ns-d', '/api/v1/nodes/$ns-d'] }, [
    POST(deployments, deployment, dry),
    POST(`${core}/pods`, pod, dry),
    POST(`${core}/services`, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }, dry),
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-d' } }, dry),
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-d' } }, dry),
    GET('/api/v1/namespaces/$ns-d'),
    GET(`${core}/services/s`),
  ]),
  scenario('crud-dryrun-create-node-port', about('POST of a NodePort service: the allocated port is not kept'), [
    POST(`${core}/services`, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } }, { ...dry, pick: (b) => ({ ...b, spec: { ...b.spec, ports: b.spec.ports.map((p) => ({ ...p, nodePort: p.nodePort >= 30000 && p.nodePort <= 32767 ? 'in range' : p.nodePort })) } }) }),
    GET(`${core}/services/s`),
  ]),
  scenario('crud-dryrun-update', about('PUT: the answer keeps the stored resourceVersion; nothing stored'), [
    made,
    PUT(`${cms}/c`, cm('c', { a: '2' }), dry),
    GET(`${cms}/c`),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { resourceVersion: '${made.metadata.resourceVersion}' }), dry),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { resourceVersion: '1' }), dry),
    PUT(`${cms}/none`, cm('none'), dry),
  ]),
  scenario('crud-dryrun-update-creates', about('PUT that would create: 201, nothing stored'), [
    PUT(`${leases}/l`, lease('l'), dry),
    GET(`${leases}/l`),
  ]),
  scenario('crud-dryrun-patch', about('the patch types: 200, nothing stored'), [
    made,
    PATCH(`${cms}/c`, 'merge', { data: { b: '2' } }, dry),
    PATCH(`${cms}/c`, 'strategic', { data: { b: '2' } }, dry),
    PATCH(`${cms}/c`, 'json-patch', [{ op: 'add', path: '/data/b', value: '2' }], dry),
    APPLY(`${cms}/c`, 'm', cm('c', { b: '2' }), { query: { fieldManager: 'm', dryRun: 'All' } }),
    GET(`${cms}/c`),
  ]),
  scenario('crud-dryrun-apply-creates', about('apply that would create: 201, nothing stored'), [
    APPLY(`${cms}/x`, 'm', cm('x'), { query: { fieldManager: 'm', dryRun: 'All' } }),
    GET(`${cms}/x`),
  ]),
  scenario('crud-dryrun-delete', about('DELETE: the usual Status, nothing removed'), [
    made,
    DELETE(`${cms}/c`, undefined, dry),
    DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] }),
    DELETE(`${cms}/none`, undefined, dry),
    GET(`${cms}/c`),
  ]),
  scenario('crud-dryrun-delete-returns-object', about('DELETE of kinds that answer with the object'), [
    POST(`${core}/pods`, pod, { compare: 'status' }),
    DELETE(`${core}/pods/p`, undefined, dry),
    DELETE(`${core}/pods/p`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'], gracePeriodSeconds: 0 }),
    GET(`${core}/pods/p`),
  ]),
  scenario('crud-dryrun-delete-finalizers', about('DELETE of an object with finalizers: shown as terminating, not stored'), [
    POST(cms, cm('c', {}, { finalizers: ['example.com/a'] }), { compare: 'status' }),
    DELETE(`${cms}/c`, undefined, dry),
    GET(`${cms}/c`),
    DELETE(`${cms}/c`, undefined, { query: { dryRun: 'All', propagationPolicy: 'Foreground' } }),
    PATCH(`${cms}/c`, 'merge', { metadata: { finalizers: null } }, { compare: 'status' }),
  ]),
  scenario('crud-dryrun-delete-preconditions', about('DELETE: preconditions hold in a dry run too'), [
    made,
    DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'], preconditions: { uid: 'nope' } }),
    DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'], preconditions: { resourceVersion: '1' } }),
    DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'], preconditions: { uid: '${made.metadata.uid}', resourceVersion: '${made.metadata.resourceVersion}' } }),
  ]),
  scenario('crud-dryrun-delete-namespace', { ...about('DELETE of a namespace: shown as terminating, still active'), namespace: false, cleanup: ['/api/v1/namespaces/$ns-d'] }, [
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-d' } }, { compare: 'status' }),
    DELETE('/api/v1/namespaces/$ns-d', undefined, dry),
    GET('/api/v1/namespaces/$ns-d'),
  ]),
  scenario('crud-dryrun-deletecollection', about('deletecollection: the list, nothing removed'), [
    made,
    POST(cms, cm('d', {}, { finalizers: ['example.com/a'] }), { compare: 'status' }),
    DELETE(cms, undefined, dry),
    DELETE(cms, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] }),
    GET(cms, { pick: (b) => b.items.map((i) => [i.metadata.name, i.metadata.deletionTimestamp]) }),
    PATCH(`${cms}/d`, 'merge', { metadata: { finalizers: null } }, { compare: 'status' }),
  ]),
  scenario('crud-dryrun-remove-last-finalizer', about('taking the last finalizer off a terminating object in a dry run leaves it there'), [
    POST(cms, cm('c', {}, { finalizers: ['example.com/a'] }), { compare: 'status' }),
    DELETE(`${cms}/c`, undefined, { compare: 'status' }),
    PATCH(`${cms}/c`, 'merge', { metadata: { finalizers: null } }, dry),
    GET(`${cms}/c`),
    PATCH(`${cms}/c`, 'merge', { metadata: { finalizers: null } }, { compare: 'status' }),
    GET(`${cms}/c`, { compare: 'status' }),
  ]),
  scenario('crud-dryrun-subresources', about('dry runs of scale, status, eviction, binding and token'), [
    POST(deployments, deployment, { compare: 'status' }),
    PUT(`${deployments}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 5 } }, dry),
    PATCH(`${deployments}/d/status`, 'merge', { status: { replicas: 5 } }, { ...dry, pick: (b) => b.status }),
    GET(`${deployments}/d`, { pick: (b) => [b.spec.replicas, b.status] }),
    POST(`${core}/pods`, pod, { compare: 'status' }),
    POST(`${core}/pods/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }, dry),
    POST(`${core}/pods/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }, dry),
    GET(`${core}/pods/p`, { pick: (b) => [b.spec.nodeName, b.metadata.deletionTimestamp] }),
  ]),
  ...['Nope', 'all', 'All,All', '', 'true', 'None'].map((v, i) => scenario(`crud-dryrun-value-${i + 1}`, about(`dryRun=${v} on every verb`), [
    made,
    POST(cms, cm('d'), { query: { dryRun: v } }),
    PUT(`${cms}/c`, cm('c'), { query: { dryRun: v } }),
    PATCH(`${cms}/c`, 'merge', {}, { query: { dryRun: v } }),
    APPLY(`${cms}/c`, 'm', cm('c'), { query: { fieldManager: 'm', dryRun: v } }),
    DELETE(`${cms}/c`, undefined, { query: { dryRun: v } }),
    DELETE(cms, undefined, { query: { dryRun: v } }),
    GET(cms, { pick: (b) => b.items.map((x) => x.metadata.name) }),
  ])),
  scenario('crud-dryrun-bare', about('?dryRun without a value'), [
    made,
    POST(`${cms}?dryRun`, cm('d')),
    PUT(`${cms}/c?dryRun&pretty=true`, cm('c')),
    DELETE(`${cms}/c?dryRun`),
  ]),
  scenario('crud-dryrun-repeated', about('dryRun given twice'), [
    made,
    POST(`${cms}?dryRun=All&dryRun=All`, cm('d')),
    POST(`${cms}?dryRun=All&dryRun=Nope`, cm('d')),
    POST(`${cms}?dryRun=&dryRun=All`, cm('d')),
    PUT(`${cms}/c?dryRun=All&dryRun=All`, cm('c')),
    DELETE(`${cms}/c?dryRun=All&dryRun=All`),
    GET(cms, { pick: (b) => b.items.map((x) => x.metadata.name) }),
  ]),
  scenario('crud-dryrun-body-values', about('dryRun in DeleteOptions of the body'), [
    made,
    DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['Nope'] }),
    DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All', 'All'] }),
    DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: 'All' }),
    DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: [] }),
    GET(`${cms}/c`),
  ]),
  scenario('crud-dryrun-body-and-query', about('a DELETE body wins over the query: dryRun of the query is not seen'), [
    made,
    DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions' }, dry),
    GET(`${cms}/c`),
  ]),
  scenario('crud-dryrun-get', about('dryRun means nothing to reads'), [
    made,
    GET(`${cms}/c`, { query: { dryRun: 'All' } }),
    GET(cms, { query: { dryRun: 'Nope' }, pick: (b) => b.kind }),
  ]),
];
