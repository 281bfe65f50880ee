// Server-side apply: who owns what after applies, updates and patches; giving fields up; removing them.
import { scenario, GET, POST, PUT, PATCH, APPLY, SLEEP } from '../steps.ts';
import { CM, DEP, POD, SVC, SECRET, cm, deployment, pod, box, service } from './kit/apply.mjs';

const one = (id, about, steps, o = {}) => scenario(`apply-ownership-${id}`, { section: '3.2', about, ...o }, steps);
const quiet = { compare: 'status' };
const by = (fieldManager, o) => ({ query: { fieldManager }, ...o });
const dep = (spec, podSpec) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { ...spec, ...(podSpec ? { template: { spec: podSpec } } : {}) } });

const giveUp = [
  one('give-up-sole', 'a field that its only owner leaves out is removed', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1', b: '2' }), quiet), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }))]),
  one('give-up-shared', 'a field that one of two owners leaves out stays', [APPLY(`${CM}/c`, 'm1', cm('c', { a: '1', b: '2' }), quiet), APPLY(`${CM}/c`, 'm2', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'm1', cm('c', { b: '2' }))]),
  one('give-up-shared-with-update', 'a field shared with an Update manager stays', [POST(CM, cm('c', { a: '1' }), by('u', quiet)), APPLY(`${CM}/c`, 'm', cm('c', { a: '1', b: '2' }), quiet), APPLY(`${CM}/c`, 'm', cm('c', { b: '2' }))]),
  one('give-up-last', 'a manager that gives up its last field loses its entry', [POST(CM, cm('c', { z: '0' }), by('u', quiet)), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'm', cm('c'))]),
  one('give-up-everything', 'the object stays when nobody owns anything any more', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }, { labels: { l: '1' } }), quiet), APPLY(`${CM}/c`, 'm', cm('c'))]),
  one('give-up-default', 'a field with a default goes back to it when its only owner leaves it out', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 3, revisionHistoryLimit: 2 }), quiet), APPLY(`${DEP}/d`, 'm', deployment('d', { revisionHistoryLimit: 2 }))]),
  one('give-up-after-update', 'a field that an update took over is not removed when the applier leaves it out', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1', b: '1' }), quiet), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }, by('u', quiet)), APPLY(`${CM}/c`, 'm', cm('c', { b: '1' }))]),
  one('give-up-after-deletion', 'a field that an update removed and the applier leaves out', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1', b: '1' }), quiet), PATCH(`${CM}/c`, 'merge', { data: { a: null } }, by('u')), APPLY(`${CM}/c`, 'm', cm('c', { b: '1' }))]),
  one('restore-after-deletion', 'a field that an update removed comes back with the next apply', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1', b: '1' }), quiet), PATCH(`${CM}/c`, 'merge', { data: { a: null } }, by('u', quiet)), APPLY(`${CM}/c`, 'm', cm('c', { a: '1', b: '1' }))]),
  one('give-up-never-owned', 'a field that the applier never applied is not removed by leaving it out', [POST(CM, cm('c', { a: '1', b: '2' }), by('u', quiet)), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }))]),
  one('give-up-nested', 'giving up all fields below a struct removes the struct', [APPLY(`${DEP}/d`, 'm', deployment('d', {}, { securityContext: { runAsUser: 5 }, affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } } }), quiet), APPLY(`${DEP}/d`, 'm', deployment('d'))]),
  one('handover', 'handing a field over: the new owner applies it first, then the old one leaves it out', [
    APPLY(`${DEP}/d`, 'user', deployment('d', { replicas: 3 }), quiet), APPLY(`${DEP}/d`, 'scaler', dep({ replicas: 3 }), quiet), APPLY(`${DEP}/d`, 'user', deployment('d')), APPLY(`${DEP}/d`, 'scaler', dep({ replicas: 5 })),
  ]),
  one('labels-and-annotations', 'labels and annotations are given up key by key', [
    APPLY(`${CM}/c`, 'm1', cm('c', undefined, { labels: { a: '1', b: '1' }, annotations: { x: '1', y: '1' } }), quiet), APPLY(`${CM}/c`, 'm2', cm('c', undefined, { labels: { b: '1', c: '1' } }), quiet), APPLY(`${CM}/c`, 'm1', cm('c', undefined, { annotations: { y: '1' } })),
  ]),
];

const updates = [
  one('update-takes-over', 'an update that changes a value takes the field from everybody else', [APPLY(`${CM}/c`, 'm1', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'm2', cm('c', { a: '1', b: '1' }), quiet), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }, by('u'))]),
  one('update-same-value', 'an update that repeats a value changes no owner', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), quiet), PUT(`${CM}/c`, cm('c', { a: '1' }), by('u'))]),
  one('update-removes', 'an update that removes a field removes it from all entries', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1', b: '1' }), quiet), PUT(`${CM}/c`, cm('c', { b: '1' }), by('u'))]),
  one('update-removes-time', 'an update that only removes fields gets no entry and renews no time', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1', b: '1' }), quiet), SLEEP(1100), PATCH(`${CM}/c`, 'merge', { data: { a: null } }, by('u'))], { times: true }),
  one('update-adds', 'an update owns what it adds', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), quiet), PUT(`${CM}/c`, cm('c', { a: '1', b: '2' }, { labels: { l: '1' } }), by('u'))]),
  one('update-restores-value', 'an update to another value and back leaves the field with the updater', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), quiet), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }, by('u', quiet)), PATCH(`${CM}/c`, 'merge', { data: { a: '1' } }, by('v'))]),
  one('update-create', 'the creator by POST owns every field, defaults included', [POST(DEP, deployment('d'), by('u'))]),
  one('update-create-empty', 'POST of an object without fields leaves no entry', [POST(CM, cm('c'), by('u'))]),
  one('update-container-membership', 'an update that adds a map to an object owns the map itself (".")', [POST(CM, cm('c', undefined, { labels: { l: '1' } }), by('u', quiet)), PATCH(`${CM}/c`, 'merge', { data: { a: '1' } }, by('v')), PATCH(`${CM}/c`, 'merge', { data: { b: '1' } }, by('w')), PATCH(`${CM}/c`, 'merge', { data: { a: null } }, by('w'))]),
  one('update-untracked', 'an object without managed fields stays without them through updates; the first apply starts them with before-first-apply', [POST(CM, cm('c'), by('u', quiet)), PATCH(`${CM}/c`, 'merge', { data: { a: '1' } }, by('v')), APPLY(`${CM}/c`, 'm', cm('c', { b: '1' })), PATCH(`${CM}/c`, 'merge', { data: { c: '1' } }, by('v'))]),
  one('update-map-of-other', 'removing the last key of another manager leaves no entry at all', [POST(CM, cm('c', { a: '1' }), by('u', quiet)), PATCH(`${CM}/c`, 'merge', { data: { a: null } }, by('v'))]),
  one('apply-on-updated', 'apply of the values that an update wrote shares them without owning the map itself', [POST(CM, cm('c', { a: '1', b: '2' }), by('u', quiet)), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }))]),
  one('apply-then-patch-same-manager', 'the same manager name has one Apply and one Update entry', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), quiet), PATCH(`${CM}/c`, 'merge', { data: { b: '1' } }, by('m')), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }, by('m'))]),
  one('patch-then-apply-same-manager', 'an Update entry is not replaced by an apply of the same manager', [POST(CM, cm('c', { a: '1', b: '1' }), by('m', quiet)), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' })), APPLY(`${CM}/c`, 'm', cm('c', {}))]),
  one('put-of-status-ignored', 'a status in a PUT of the main resource is ignored and not owned', [POST(DEP, deployment('d'), by('u', quiet)), PATCH(`${DEP}/d`, 'merge', { status: { replicas: 5 }, spec: { paused: true } }, by('v'))]),
  one('secret-string-data', 'stringData is owned as data', [POST(SECRET, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'x' } }, by('u'))]),
  one('secret-string-data-applied', 'applied stringData is owned as stringData and shows up as data, which nobody owns: giving it up removes nothing', [
    APPLY(`${SECRET}/s`, 'm', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'x' } }),
    APPLY(`${SECRET}/s`, 'm', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { b: 'y' } }),
    APPLY(`${SECRET}/s`, 'm', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { b: 'eg==' } }),
  ]),
];

const values = [
  one('null-own-field', 'null for an own field is an owned null: the field goes away', [APPLY(`${CM}/c`, 'm', { ...cm('c', { a: '1' }), immutable: false }, quiet), APPLY(`${CM}/c`, 'm', { ...cm('c', { a: '1' }), immutable: null })]),
  one('null-map-entry', 'null in a map of strings is an empty string', [APPLY(`${CM}/c`, 'm', cm('c', { a: null, b: '1' })), APPLY(`${CM}/c`, 'm', cm('c', { a: '1', b: '1' })), APPLY(`${CM}/c`, 'm', cm('c', { a: null, b: '1' }))]),
  one('null-map', 'null for a map that the applier owned', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'm', cm('c', null))]),
  one('null-defaulted', 'null for a field with a default', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: null })), APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: null }))]),
  one('null-list', 'null for a list', [APPLY(`${DEP}/d`, 'm', deployment('d', {}, { volumes: null, tolerations: null }))]),
  one('empty-map', 'an empty map is owned itself and not shown', [APPLY(`${CM}/c`, 'm', cm('c', {})), APPLY(`${CM}/c`, 'm', cm('c'))]),
  one('empty-map-after-keys', 'an empty map after one with keys removes the keys', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'm', cm('c', {}))]),
  one('empty-list', 'empty lists: associative and atomic', [APPLY(`${DEP}/d`, 'm', deployment('d', {}, { volumes: [], tolerations: [], containers: [box('web', { args: [], env: [], ports: [] })] }))]),
  one('empty-struct', 'an empty struct is owned itself', [APPLY(`${DEP}/d`, 'm', deployment('d', { strategy: {} }, { securityContext: {}, containers: [box('web', { resources: {} })] }))]),
  one('empty-string', 'an empty string is a value', [APPLY(`${CM}/c`, 'm', cm('c', { a: '' })), APPLY(`${DEP}/d`, 'm', deployment('d', {}, { hostname: '', nodeName: '' }))]),
  one('zero-and-false', 'zero and false are values', [APPLY(`${DEP}/d`, 'm', deployment('d', { replicas: 0, paused: false, minReadySeconds: 0 }, { terminationGracePeriodSeconds: 0, hostNetwork: false }))]),
  one('unset-versus-empty', 'an empty string that another manager applies for a field that is unset', [APPLY(`${DEP}/d`, 'm1', deployment('d'), quiet), APPLY(`${DEP}/d`, 'm2', dep({}, { hostname: '' }))]),
  one('quantity-kept', 'a quantity is stored in its canonical form, and applied again it changes nothing', [APPLY(`${DEP}/d`, 'm', deployment('d', {}, { containers: [box('web', { resources: { requests: { cpu: '1000m', memory: '1024Mi' } } })] })), APPLY(`${DEP}/d`, 'm', deployment('d', {}, { containers: [box('web', { resources: { requests: { cpu: '1000m', memory: '1024Mi' } } })] }))]),
  one('type-of-union', 'switching the strategy type by apply: the old settings go when they were owned', [
    APPLY(`${DEP}/d`, 'm', deployment('d', { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } }), quiet), APPLY(`${DEP}/d`, 'm', deployment('d', { strategy: { type: 'Recreate' } })),
    APPLY(`${DEP}/d`, 'm', deployment('d', { strategy: { type: 'Recreate', rollingUpdate: null } })),
  ]),
  one('volume-source-switch', 'switching the source of a volume', [
    APPLY(`${DEP}/d`, 'm', deployment('d', {}, { volumes: [{ name: 'v', emptyDir: {} }] }), quiet), APPLY(`${DEP}/d`, 'm', deployment('d', {}, { volumes: [{ name: 'v', configMap: { name: 'c' } }] })),
  ]),
  one('owner-references', 'owner references are owned item by item, as a whole', [
    APPLY(`${CM}/c`, 'm1', cm('c', undefined, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '11111111-2222-3333-4444-555555555555' }] }), quiet),
    APPLY(`${CM}/c`, 'm2', cm('c', undefined, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'q', uid: '11111111-2222-3333-4444-666666666666' }] })),
    APPLY(`${CM}/c`, 'm2', cm('c', undefined, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'other', uid: '11111111-2222-3333-4444-555555555555' }] })),
    APPLY(`${CM}/c`, 'm1', cm('c')),
  ]),
  one('metadata-never-owned', 'name, namespace, uid, resourceVersion, generation and creationTimestamp are never owned', [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { id: 'c', ...quiet }),
    APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }, { namespace: '$ns', uid: '${c.metadata.uid}', creationTimestamp: '${c.metadata.creationTimestamp}', generation: 7, selfLink: '/x' })),
  ]),
  one('deletion-timestamp', 'deletionTimestamp in an apply that creates is stored and owned', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }, { deletionTimestamp: '2001-01-01T00:00:00Z' }))]),
  one('pod-tolerations-of-admission', 'fields that admission adds belong to nobody after an apply', [APPLY(`${POD}/p`, 'm', pod('p'))]),
  one('service-allocated', 'fields that the server allocates belong to nobody after an apply', [APPLY(`${SVC}/s`, 'm', service('s', { selector: { a: 'b' }, ports: [{ port: 80 }] })), GET(`${SVC}/s`)]),
];

export default [...giveUp, ...updates, ...values];
