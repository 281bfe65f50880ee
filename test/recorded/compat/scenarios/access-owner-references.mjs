// OwnerReferencesPermissionEnforcement: who may set owners, and block their deletion (§5).
import { scenario, APPLY, PATCH, POST, PUT } from '../steps.ts';
import { clusterCleanup, granted, grantedEverywhere, may, mine, refusal } from './kit/access.mjs';

const maps = '/api/v1/namespaces/$ns/configmaps';
const quiet = { compare: 'status' };
const me = { ...mine, ...refusal };
const s = (id, about, steps, o = {}) => scenario(`owner-references-${id}`, { section: '5', about, needs: 'node-restriction', ...o }, steps);
const owner = (kind, more = {}) => ({ apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1', kind, name: 'o', uid: 'u', ...more });
const blocking = (kind, more = {}) => owner(kind, { blockOwnerDeletion: true, ...more });
const map = (name, ...ownerReferences) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...(ownerReferences.length ? { ownerReferences } : {}) } });
const made = (name, ...owners) => POST(maps, map(name, ...owners), quiet);
const owned = (name, ...ownerReferences) => PATCH(`${maps}/${name}`, 'merge', { metadata: { ownerReferences } }, me);
const writes = may('create,get,update,patch', 'configmaps');
const finalizers = (resources, apiGroups = ['']) => may('update', resources.split(',').map((r) => `${r}/finalizers`).join(','), { apiGroups });

export default [
  s('create', 'a new object may have any owner, if nothing is blocked', [...granted(writes), POST(maps, map('c', owner('Pod')), me), POST(maps, map('d', owner('Pod', { blockOwnerDeletion: false })), me)]),
  s('create-blocking', 'blocking needs a right on the finalizers of the owner', [...granted(writes), POST(maps, map('c', blocking('Pod')), me), POST(maps, map('d', owner('Pod'), blocking('Deployment', { uid: 'v' })), me)]),
  s('create-blocking-granted', 'with it', [...granted(writes, finalizers('pods'), finalizers('deployments', ['apps'])), POST(maps, map('c', blocking('Pod')), me), POST(maps, map('d', blocking('Pod'), blocking('Deployment', { uid: 'v' })), me)]),
  s('create-blocking-name', 'with it for one name', [...granted(writes, { ...finalizers('pods'), resourceNames: ['o'] }), POST(maps, map('c', blocking('Pod')), me), POST(maps, map('d', blocking('Pod', { name: 'p' })), me)]),
  s('create-blocking-all', 'with that on all finalizers', [...grantedEverywhere(writes, { apiGroups: ['*'], resources: ['*/finalizers'], verbs: ['update'] }), POST(maps, map('c', blocking('Nothing')), me)], { cleanup: clusterCleanup }),
  s('create-blocking-cluster', 'an owner without a namespace', [...granted(writes, finalizers('nodes')), POST(maps, map('c', blocking('Node')), me)]),
  s('create-blocking-cluster-granted', 'the same with a right in the cluster', [...grantedEverywhere(writes, finalizers('nodes')), POST(maps, map('c', blocking('Node')), me)], { cleanup: clusterCleanup }),
  s('create-blocking-unknown', 'a kind that is not there', [...granted(writes), POST(maps, map('c', blocking('Nothing')), me), POST(maps, map('c', blocking('Pod', { apiVersion: 'v2' })), me), POST(maps, map('c', blocking('Pod', { apiVersion: 'example.com/v1' })), me), POST(maps, map('c', blocking('Pod', { apiVersion: 'a/b/c' })), me)]),
  s('update', 'changing owners needs the right to delete', [...granted(writes), made('c'), made('d', owner('Pod')), owned('c', owner('Pod')), owned('d'), owned('d', owner('Pod', { name: 'p' })), PATCH(`${maps}/d`, 'merge', { data: { a: 'b' } }, me), PUT(`${maps}/d`, map('d', owner('Pod')), me), APPLY(`${maps}/c`, 'm', map('c', owner('Pod')), me)]),
  s('update-granted', 'with it', [...granted(writes, may('delete', 'configmaps')), made('c'), made('d', owner('Pod')), owned('c', owner('Pod')), owned('d'), owned('c', blocking('Pod')), owned('c', owner('Pod'), owner('Node', { uid: 'v', name: 'n' }))]),
  s('update-blocking', 'what was blocked already needs no right', [...granted(writes, may('delete', 'configmaps')), made('c', blocking('Pod')), owned('c', blocking('Pod', { name: 'p' })), owned('c', blocking('Pod'), owner('Pod', { uid: 'v' })), owned('c', blocking('Pod', { uid: 'w' })), owned('c', owner('Pod')), owned('c', blocking('Pod'))]),
  s('status', 'the status of a pod is not looked at, that of others is', [...granted(may('patch,get', 'pods/status,replicationcontrollers/status')), POST('/api/v1/namespaces/$ns/pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, quiet), POST('/api/v1/namespaces/$ns/replicationcontrollers', { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'r' }, spec: { replicas: 0, selector: { a: 'b' }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } }, quiet), PATCH('/api/v1/namespaces/$ns/pods/p/status', 'merge', { metadata: { ownerReferences: [owner('Node')] } }, me), PATCH('/api/v1/namespaces/$ns/replicationcontrollers/r/status', 'merge', { metadata: { ownerReferences: [owner('Node')] } }, me)]),
  s('apply-creates', 'an apply that creates is a create', [...granted(writes), APPLY(`${maps}/c`, 'm', map('c', owner('Pod')), me), APPLY(`${maps}/d`, 'm', map('d', blocking('Pod')), me)]),
  s('masters', 'an administrator may do all of it', [POST(maps, map('c', blocking('Nothing')), refusal), PATCH(`${maps}/c`, 'merge', { metadata: { ownerReferences: [blocking('Pod', { uid: 'v' })] } }, refusal)]),
];
