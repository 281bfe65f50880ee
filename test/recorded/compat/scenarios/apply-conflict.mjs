// Server-side apply: conflicts between managers, and force.
import { scenario, GET, POST, PUT, PATCH, APPLY } from '../steps.ts';
import { CM, DEP, POD, SVC, cm, deployment, pod, box, service } from './kit/apply.mjs';

const one = (id, about, steps) => scenario(`apply-conflict-${id}`, { section: '3.2', about }, steps);
const quiet = { compare: 'status' };
/** The causes of several managers come in random order. */
const unordered = { pick: (b) => ({ ...b, details: { ...b.details, causes: b.details?.causes?.slice().sort((a, c) => (a.message + a.field < c.message + c.field ? -1 : 1)) } }) };
const by = (fieldManager) => ({ query: { fieldManager } });

const messages = [
  one('one-field', 'another value for a field of an apply manager is 409', [APPLY(`${CM}/c`, 'first', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '2' })), GET(`${CM}/c`)]),
  one('several-fields', 'several fields of one manager are listed under it', [APPLY(`${CM}/c`, 'first', cm('c', { b: '1', a: '1', c: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { c: '2', a: '2', b: '2', d: '2' }))]),
  one('several-managers', 'conflicts are grouped by manager, managers in the order of their names', [
    APPLY(`${CM}/c`, 'zeta', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'alpha', cm('c', { b: '1', c: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '2', b: '2', c: '2' }), unordered),
  ]),
  one('shared-field', 'a field with two owners conflicts with both', [APPLY(`${CM}/c`, 'one', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'two', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'three', cm('c', { a: '2' }), unordered), APPLY(`${CM}/c`, 'one', cm('c', { a: '2' }))]),
  one('update-manager', 'the message for an Update manager names the version, not the time', [POST(CM, cm('c', { a: '1' }), { ...by('updater'), ...quiet }), APPLY(`${CM}/c`, 'applier', cm('c', { a: '2' }))]),
  one('update-and-apply-managers', 'Update and Apply managers in one message', [
    POST(CM, cm('c', { a: '1', b: '1' }), { ...by('updater'), ...quiet }), APPLY(`${CM}/c`, 'first', cm('c', { a: '1', c: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '2', b: '2', c: '2' }), unordered),
  ]),
  one('same-name-update', 'a manager conflicts with itself when its Update entry owns the field', [POST(CM, cm('c', { a: '1' }), { ...by('same'), ...quiet }), APPLY(`${CM}/c`, 'same', cm('c', { a: '2' })), APPLY(`${CM}/c`, 'same', cm('c', { a: '1' }))]),
  one('subresource-manager', 'the message for a manager that wrote through a subresource names it', [
    APPLY(`${DEP}/d`, 'first', deployment('d'), quiet),
    APPLY(`${DEP}/d/status`, 'watcher', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', annotations: { note: 'x' } } }, quiet),
    APPLY(`${DEP}/d`, 'second', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', annotations: { note: 'y' } } }),
  ]),
  one('subresource-update-manager', 'the message for an Update manager that wrote through a subresource', [
    APPLY(`${DEP}/d`, 'first', deployment('d'), quiet), PATCH(`${DEP}/d/status`, 'merge', { metadata: { annotations: { note: 'x' } } }, { ...by('watcher'), ...quiet }),
    APPLY(`${DEP}/d`, 'second', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', annotations: { note: 'y' } } }),
  ]),
  one('manager-name-quoted', 'the name of the manager is quoted in the message', [APPLY(`${CM}/c`, 'a "quoted" ü name', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '2' }))]),
  one('path-of-list-item', 'the path of a field in a list item with one key', [APPLY(`${DEP}/d`, 'first', deployment('d'), quiet), APPLY(`${DEP}/d`, 'second', deployment('d', {}, { containers: [box('web', { image: 'other' })] }))]),
  one('path-of-list-item-two-keys', 'the path of a field in a list item with two keys', [
    APPLY(`${SVC}/s`, 'first', service('s', { selector: { a: 'b' }, ports: [{ port: 80, name: 'http' }] }), quiet), APPLY(`${SVC}/s`, 'second', service('s', { ports: [{ port: 80, name: 'other' }] })),
  ]),
  one('path-of-map-key', 'keys of a map stand in the path as they are, dots and slashes included', [APPLY(`${CM}/c`, 'first', cm('c', undefined, { annotations: { 'example.com/a.b': '1' }, labels: { x: '1' } }), quiet), APPLY(`${CM}/c`, 'second', cm('c', undefined, { annotations: { 'example.com/a.b': '2' }, labels: { x: '2' } }))]),
  one('path-of-atomic', 'an atomic struct conflicts as a whole', [
    APPLY(`${DEP}/d`, 'first', deployment('d'), quiet),
    APPLY(`${DEP}/d`, 'second', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector: { matchLabels: { app: 'other' } } } }),
  ]),
  one('path-of-atomic-list', 'an atomic list conflicts as a whole', [
    APPLY(`${DEP}/d`, 'first', deployment('d', {}, { containers: [box('web', { args: ['a'] })], tolerations: [{ key: 'k', operator: 'Exists' }] }), quiet),
    APPLY(`${DEP}/d`, 'second', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { template: { spec: { containers: [{ name: 'web', args: ['a', 'b'] }], tolerations: [{ key: 'k', operator: 'Exists' }, { key: 'l', operator: 'Exists' }] } } } }),
  ]),
  one('many-nested', 'order of the paths of many conflicts: fields before list items', [
    APPLY(`${DEP}/d`, 'first', deployment('d', { replicas: 1, paused: false }, { containers: [box('b', { env: [{ name: 'Z', value: '1' }, { name: 'A', value: '1' }] }), box('a')], hostname: 'h' }, { labels: { l: '1' } }), quiet),
    APPLY(`${DEP}/d`, 'second', deployment('d', { replicas: 2, paused: true }, { containers: [box('b', { image: 'x', env: [{ name: 'Z', value: '2' }, { name: 'A', value: '2' }] }), box('a', { image: 'x' })], hostname: 'i' }, { labels: { l: '2' } })),
  ]),
];

const emptied = [
  one('empty-map', 'an empty map that two managers apply is a conflict, as it is never stored', [APPLY(`${CM}/c`, 'first', cm('c', {}), {}), APPLY(`${CM}/c`, 'second', cm('c', {})), APPLY(`${CM}/c`, 'first', cm('c', {}))]),
  one('empty-map-then-key', 'an empty map owned by one manager and a key applied by another', [APPLY(`${CM}/c`, 'first', cm('c', {}), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '1' }))]),
  one('null-field', 'null for a field that another manager has set is a conflict', [APPLY(`${CM}/c`, 'first', { ...cm('c', { a: '1' }), immutable: false }, quiet), APPLY(`${CM}/c`, 'second', { ...cm('c'), immutable: null }), APPLY(`${CM}/c`, 'second', { ...cm('c'), immutable: null }, { force: true })]),
  one('null-map', 'null for a map whose keys another manager has set', [APPLY(`${CM}/c`, 'first', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', null)), APPLY(`${CM}/c`, 'second', cm('c', null), { force: true })]),
];

const none = [
  one('not-same-value', 'the same value is no conflict: both own the field', [APPLY(`${CM}/c`, 'first', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '1' }))]),
  one('quantity-written-differently', 'the same quantity written differently is a conflict', [
    APPLY(`${DEP}/d`, 'first', deployment('d', {}, { containers: [box('web', { resources: { limits: { cpu: '1' } } })] }), quiet),
    APPLY(`${DEP}/d`, 'second', deployment('d', {}, { containers: [box('web', { resources: { limits: { cpu: '1000m' } } })] })),
  ]),
  one('number-as-string', 'the same port as a number and as a string is a conflict', [
    APPLY(`${SVC}/s`, 'first', service('s', { selector: { a: 'b' }, ports: [{ port: 80, targetPort: 8080 }] }), quiet),
    APPLY(`${SVC}/s`, 'second', service('s', { ports: [{ port: 80, targetPort: '8080' }] })),
  ]),
  one('not-owned-default', 'a defaulted field belongs to nobody when it was created by apply: any value may be applied', [APPLY(`${DEP}/d`, 'first', deployment('d'), quiet), APPLY(`${DEP}/d`, 'second', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { replicas: 5, revisionHistoryLimit: 3 } })]),
  one('owned-default-of-update', 'a defaulted field belongs to the manager of an update that created the object', [POST(DEP, deployment('d'), { ...by('updater'), ...quiet }), APPLY(`${DEP}/d`, 'second', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { replicas: 5, revisionHistoryLimit: 3 } })]),
  one('not-for-update', 'an update changes fields of an apply manager without conflict and takes them over', [APPLY(`${CM}/c`, 'first', cm('c', { a: '1', b: '1' }), quiet), PUT(`${CM}/c`, cm('c', { a: '2', b: '1' }), by('updater'))]),
  one('not-for-patch', 'a patch changes fields of an apply manager without conflict and takes them over', [APPLY(`${CM}/c`, 'first', cm('c', { a: '1', b: '1' }), quiet), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }, by('patcher'))]),
  one('own-field', 'a manager changes its own field without conflict', [APPLY(`${CM}/c`, 'first', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'first', cm('c', { a: '2' }))]),
  one('new-field-of-map', 'a new key of a map whose other keys belong to others', [POST(CM, cm('c', { a: '1' }), { ...by('updater'), ...quiet }), APPLY(`${CM}/c`, 'second', cm('c', { b: '2' }))]),
];

const forced = [
  one('forced', 'force takes the field from its owner', [APPLY(`${CM}/c`, 'first', cm('c', { a: '1', b: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '2' }), { force: true })]),
  one('forced-all-owners', 'force takes the field from all its owners, Update managers too', [
    POST(CM, cm('c', { a: '1', z: '1' }), { ...by('updater'), ...quiet }), APPLY(`${CM}/c`, 'first', cm('c', { a: '1', y: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '2' }), { force: true }),
  ]),
  one('forced-last-field', 'a manager that loses its last field loses its entry', [APPLY(`${CM}/c`, 'first', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '2' }), { force: true })]),
  one('forced-same-value', 'force with the same value still shares', [APPLY(`${CM}/c`, 'first', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '1' }), { force: true })]),
  one('forced-then-first-again', 'after force the first manager conflicts in turn', [APPLY(`${CM}/c`, 'first', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'second', cm('c', { a: '2' }), { ...quiet, force: true }), APPLY(`${CM}/c`, 'first', cm('c', { a: '1' }))]),
  one('forced-atomic', 'force replaces an atomic list', [
    APPLY(`${DEP}/d`, 'first', deployment('d', {}, { containers: [box('web', { args: ['a'] })] }), quiet),
    APPLY(`${DEP}/d`, 'second', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { template: { spec: { containers: [{ name: 'web', args: ['b', 'c'] }] } } } }, { force: true }),
  ]),
  one('forced-list-item-fields', 'force on fields of a list item: the item stays shared', [
    APPLY(`${DEP}/d`, 'first', deployment('d'), quiet), APPLY(`${DEP}/d`, 'second', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { template: { spec: { containers: [{ name: 'web', image: 'forced' }] } } } }, { force: true }),
  ]),
  one('options-a-b-c', 'the three ways out of a conflict: leave the field out, repeat the value, force', [
    APPLY(`${CM}/c`, 'first', cm('c', { a: '1' }), quiet),
    APPLY(`${CM}/c`, 'second', cm('c', { a: '2', b: '2' })), APPLY(`${CM}/c`, 'second', cm('c', { b: '2' })), APPLY(`${CM}/c`, 'second', cm('c', { a: '1', b: '2' })), APPLY(`${CM}/c`, 'second', cm('c', { a: '2', b: '2' }), { force: true }),
  ]),
  one('forced-pod-labels', 'labels of a pod forced by another manager', [APPLY(`${POD}/p`, 'first', pod('p', {}, { labels: { l: '1', m: '1' } }), quiet), APPLY(`${POD}/p`, 'second', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { l: '2' } } }, { force: true })]),
];

export default [...messages, ...emptied, ...none, ...forced];
