// What is related to a node, beyond access-node: each kind of volume, of PersistentVolume and of reference, and when it comes and goes.
import { scenario, DELETE, GET, PATCH, POST } from '../steps.ts';
import { nodeHeaders, refusal, sar } from './kit/access.mjs';

const core = '/api/v1/namespaces/$ns';
const quiet = { compare: 'status' };
const asNode = { headers: nodeHeaders('$ns-n') };
const other = { headers: nodeHeaders('$ns-m') };
const s = (id, about, steps, o = {}) => scenario(`node-graph-${id}`, { section: '5', about, ...o }, steps);
const object = (kind, resource, name, rest = {}) => POST(`${core}/${resource}`, { apiVersion: 'v1', kind, metadata: { name }, ...rest }, quiet);
const secret = (name) => object('Secret', 'secrets', name);
const pod = (name, spec = {}, metadata = {}) => POST(`${core}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec: { nodeName: '$ns-n', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], ...spec } }, quiet);
const volume = (source) => ({ volumes: [{ name: 'v', ...source }] });
const poll = (path, wanted, o = {}) => ({ ...GET(path, { ...asNode, ...quiet, note: 'the graph follows a little later', ...o }), kind: 'poll', ms: 15000, until: (_, status) => wanted(status) });
const soon = (path, o) => poll(path, (status) => status !== 403, o);
const gone = (path, o) => poll(path, (status) => status === 403, o);
const is = (path) => GET(path, { ...asNode, ...refusal });
const secretX = `${core}/secrets/x`;

const ref = { secretRef: { name: 'x' } };
const volumes = {
  'azure-file': { azureFile: { secretName: 'x', shareName: 's' } },
  cephfs: { cephfs: { monitors: ['m'], ...ref } },
  cinder: { cinder: { volumeID: 'i', ...ref } },
  'flex-volume': { flexVolume: { driver: 'a/b', ...ref } },
  rbd: { rbd: { monitors: ['m'], image: 'i', ...ref } },
  'scale-io': { scaleIO: { gateway: 'g', system: 's', volumeName: 'v', ...ref } },
  iscsi: { iscsi: { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:storage', lun: 0, ...ref } },
  storageos: { storageos: { volumeName: 'v', ...ref } },
};
const ofVolumes = Object.entries(volumes).map(([kind, source]) => s(`volume-${kind}`, `the secret of a ${kind} volume`, [secret('x'), pod('p', volume(source)), soon(secretX), is(secretX), GET(secretX, other)]));

const placed = { secretRef: { name: 'x', namespace: '$ns' } };
const claimRef = { namespace: '$ns', name: 'c' };
const persistent = (name, spec) => POST('/api/v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], claimRef, ...spec } }, quiet);
const claim = (name, spec = {}) => object('PersistentVolumeClaim', 'persistentvolumeclaims', name, { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '', ...spec } });
const pv = '/api/v1/persistentvolumes/$ns-v';
const csi = (field) => ({ csi: { driver: 'd.example.com', volumeHandle: 'h', [field]: { name: 'x', namespace: '$ns' } } });
const sources = {
  'azure-file': { azureFile: { secretName: 'x', shareName: 's' } },
  'azure-file-namespace': { azureFile: { secretName: 'x', shareName: 's', secretNamespace: '$ns' } },
  cephfs: { cephfs: { monitors: ['m'], ...ref } },
  cinder: { cinder: { volumeID: 'i', ...placed } },
  'flex-volume': { flexVolume: { driver: 'a/b', ...ref } },
  rbd: { rbd: { monitors: ['m'], image: 'i', ...ref } },
  'scale-io': { scaleIO: { gateway: 'g', system: 's', volumeName: 'v', ...placed } },
  iscsi: { iscsi: { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:storage', lun: 0, ...ref } },
  storageos: { storageos: { volumeName: 'v', ...placed } },
  'csi-publish': csi('nodePublishSecretRef'),
  'csi-stage': csi('nodeStageSecretRef'),
  'csi-expand': csi('nodeExpandSecretRef'),
  'csi-controller': csi('controllerPublishSecretRef'),
  'csi-controller-expand': csi('controllerExpandSecretRef'),
};
const ofPersistent = Object.entries(sources).map(([kind, source]) => s(`persistent-${kind}`, `the secret of a PersistentVolume with ${kind}`, [secret('x'), claim('c', { volumeName: '$ns-v' }), pod('p', volume({ persistentVolumeClaim: { claimName: 'c' } })), persistent('$ns-v', source), soon(pv), is(pv), is(secretX), GET(secretX, other)], { cleanup: [pv] }));

const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
const ephemeralContainers = [{ name: 'e', image: 'i', env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'x', key: 'k' } } }], envFrom: [{ configMapRef: { name: 'm' } }] }];
const template = { ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } } } };
const claimPath = (name) => `${core}/persistentvolumeclaims/${name}`;
const rest = [
  s('ephemeral-containers', 'what an ephemeral container that was added refers to', [secret('x'), pod('p'), soon(`${core}/pods/p`), is(secretX), PATCH(`${core}/pods/p/ephemeralcontainers`, 'merge', { spec: { ephemeralContainers } }, quiet), soon(secretX), is(secretX), GET(`${core}/configmaps/m`, asNode)]),
  s('ephemeral-volume', 'the claim of an ephemeral volume, by its name', [claim('p-v'), claim('v'), pod('p', volume(template)), soon(claimPath('p-v')), is(claimPath('p-v')), GET(claimPath('v'), asNode)]),
  s('account', 'the account of a pod, also if it mounts no token', [object('ServiceAccount', 'serviceaccounts', 'sa'), pod('p', { serviceAccountName: 'sa' }), soon(`${core}/pods/p`), sar(['create', 'serviceaccounts/token', { name: 'sa' }], { user: 'system:node:$ns-n', groups: ['system:nodes'] }), sar(['create', 'serviceaccounts/token', { name: 'default' }], { user: 'system:node:$ns-n', groups: ['system:nodes'] }), sar(['create', 'serviceaccounts/token', { name: 'sa' }], { user: 'system:node:$ns-m', groups: ['system:nodes'] })]),
  s('mirror', 'a mirror pod gives a node nothing but the pod', [object('ConfigMap', 'configmaps', 'm'), pod('p', { ...volume({ configMap: { name: 'm' } }) }, mirror), soon(`${core}/pods/p`), GET(`${core}/configmaps/m`, asNode)]),
  s('two-pods', 'the last pod that refers to a secret takes it away', [secret('x'), pod('p', volume({ secret: { secretName: 'x' } })), pod('q', volume({ secret: { secretName: 'x' } })), soon(secretX), DELETE(`${core}/pods/p`, { gracePeriodSeconds: 0 }, quiet), gone(`${core}/pods/p`), is(secretX), DELETE(`${core}/pods/q`, { gracePeriodSeconds: 0 }, quiet), gone(secretX), GET(secretX, asNode)]),
  s('terminating', 'a pod that is being deleted still gives it', [secret('x'), pod('p', volume({ secret: { secretName: 'x' } })), soon(secretX), DELETE(`${core}/pods/p`, { gracePeriodSeconds: 1000 }, quiet), is(secretX), is(`${core}/pods/p`)]),
  s('finished', 'one that has ended, too', [secret('x'), pod('p', volume({ secret: { secretName: 'x' } })), soon(secretX), PATCH(`${core}/pods/p/status`, 'merge', { status: { phase: 'Succeeded' } }, quiet), is(secretX)]),
  s('volume-deleted', 'a volume that is gone', [claim('c', { volumeName: '$ns-v' }), pod('p', volume({ persistentVolumeClaim: { claimName: 'c' } })), persistent('$ns-v', csi('nodeStageSecretRef')), soon(pv), is(secretX), PATCH(pv, 'merge', { metadata: { finalizers: null } }, quiet), DELETE(pv, undefined, quiet), gone(pv), GET(secretX, asNode), is(claimPath('c'))], { cleanup: [pv] }),
  s('volume-unbound', 'a volume that is not bound to the claim any more', [claim('c', { volumeName: '$ns-v' }), pod('p', volume({ persistentVolumeClaim: { claimName: 'c' } })), persistent('$ns-v', csi('nodeStageSecretRef')), soon(pv), PATCH(pv, 'merge', { spec: { claimRef: null } }, quiet), gone(pv), GET(secretX, asNode)], { cleanup: [pv] }),
  s('volume-of-other', 'the volume of the claim of another node', [claim('c', { volumeName: '$ns-v' }), pod('p', { nodeName: '$ns-m', ...volume({ persistentVolumeClaim: { claimName: 'c' } }) }), persistent('$ns-v', csi('nodeStageSecretRef')), soon(pv, other), GET(pv, asNode), GET(secretX, asNode), GET(claimPath('c'), asNode)], { cleanup: [pv] }),
  s('namespace', 'the same name in another namespace', [secret('x'), pod('p', volume({ secret: { secretName: 'x' } })), soon(secretX), GET('/api/v1/namespaces/default/secrets/x', asNode), GET('/api/v1/namespaces/$ns-/secrets/x', asNode)]),
];

const needs = 'all-versions';
const devices = '/apis/resource.k8s.io/v1beta1';
const claims = `${devices}/namespaces/$ns/resourceclaims`;
const resourceClaim = (name) => POST(claims, { apiVersion: 'resource.k8s.io/v1beta1', kind: 'ResourceClaim', metadata: { name }, spec: {} }, quiet);
const slice = (name, spec) => POST(`${devices}/resourceslices`, { apiVersion: 'resource.k8s.io/v1beta1', kind: 'ResourceSlice', metadata: { name }, spec: { driver: 'd.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, ...spec } }, quiet);
const slicePath = `${devices}/resourceslices/$ns-s`;
const ofDevices = [
  s('resource-claim', 'a resource claim of a pod, by name', [resourceClaim('x'), resourceClaim('y'), pod('p', { resourceClaims: [{ name: 'r', resourceClaimName: 'x' }] }), soon(`${claims}/x`), is(`${claims}/x`), GET(`${claims}/y`, asNode), GET(`${claims}/x`, other), GET(claims, asNode), PATCH(`${claims}/x`, 'merge', {}, asNode), GET(`${claims}/x/status`, asNode)], { needs }),
  s('resource-claim-made', 'one that was made from a template, once the status says its name', [resourceClaim('x'), pod('p', { resourceClaims: [{ name: 'r', resourceClaimTemplateName: 't' }] }), soon(`${core}/pods/p`), is(`${claims}/x`), PATCH(`${core}/pods/p/status`, 'merge', { status: { resourceClaimStatuses: [{ name: 'r', resourceClaimName: 'x' }] } }, quiet), soon(`${claims}/x`), is(`${claims}/x`)], { needs }),
  s('slice', 'a slice of the node', [slice('$ns-s', { nodeName: '$ns-n' }), soon(slicePath), is(slicePath), GET(slicePath, other), PATCH(slicePath, 'merge', { metadata: { labels: { a: 'b' } } }, { ...asNode, ...quiet }), DELETE(slicePath, undefined, other), DELETE(slicePath, undefined, { ...asNode, ...quiet }), gone(slicePath)], { needs, cleanup: [slicePath] }),
  s('slice-of-all', 'a slice of all nodes is not that of one', [slice('$ns-s', { allNodes: true }), slice('$ns-t', { nodeName: '$ns-n' }), soon(`${devices}/resourceslices/$ns-t`), GET(slicePath, asNode), GET(`${devices}/resourceslices?fieldSelector=spec.nodeName%3D$ns-n`, { ...asNode, pick: (b) => b.items?.map((i) => i.metadata.name) ?? b }), GET(`${devices}/resourceslices`, asNode)], { needs, cleanup: [slicePath, `${devices}/resourceslices/$ns-t`] }),
];

export default [...ofVolumes, ...ofPersistent, ...rest, ...ofDevices];
