// Managers: names, entries, what a client may write into managedFields, resetting, the limit on Update entries.
import { scenario, GET, POST, PUT, PATCH, APPLY, SLEEP } from '../steps.ts';
import { CM, DEP, cm, deployment } from './kit/apply.mjs';

const one = (id, about, steps, o = {}) => scenario(`apply-managers-${id}`, { section: '2.3', about, ...o }, steps);
const quiet = { compare: 'status' };
const by = (fieldManager, o) => ({ query: { fieldManager }, ...o });
const entry = (fields, o) => ({ manager: 'hand', operation: 'Update', apiVersion: 'v1', time: '2020-01-01T00:00:00Z', fieldsType: 'FieldsV1', fieldsV1: fields, ...o });
const owned = { 'f:data': { 'f:a': {} } };
const made = POST(CM, cm('c', { a: '1', b: '2' }), { ...by('u'), id: 'c', ...quiet });

const names = [
  ...[
    ['plain', 'curl/8.0', 'the part of the user agent before the first slash'],
    ['spaces', 'My Client 1.0/x', 'spaces are kept'],
    ['no-slash', 'tool', 'a user agent without slash is taken as it is'],
    ['empty', '', 'an empty user agent gives unknown'],
    ['leading-slash', '/1.0', 'a user agent that starts with a slash gives unknown'],
    ['long', `${'a'.repeat(200)}/1`, 'a long user agent is cut to 128 bytes'],
    ['control', 'a\tb/1', 'what cannot be printed is left out'],
    ['go-client', 'kubectl/v1.33.0 (linux/amd64) kubernetes/abc', 'kubectl'],
  ].map(([id, agent, about]) => one(`user-agent-${id}`, `without fieldManager, the manager comes from the user agent: ${about}`, [POST(CM, cm('c', { a: '1' }), { headers: { 'user-agent': agent } })])),
  one('user-agent-absent', 'without fieldManager and user agent the manager is unknown', [POST(CM, cm('c', { a: '1' }), { headers: { 'user-agent': null } })]),
  one('field-manager-wins', 'fieldManager goes before the user agent', [POST(CM, cm('c', { a: '1' }), { ...by('named'), headers: { 'user-agent': 'agent/1' } })]),
  one('user-agent-not-for-apply', 'apply never takes the user agent', [PATCH(`${CM}/c`, 'apply-yaml', cm('c', { a: '1' }))]),
  one('post-manager-limits', 'the rules for fieldManager hold for POST and PUT too', [POST(CM, cm('c', { a: '1' }), by('m'.repeat(129))), made, PUT(`${CM}/c`, cm('c', { a: '1' }), by('a\nb'))]),
  one('put-creates', 'a PUT that creates (leases may be created so) gives an Update entry', [PUT('/apis/coordination.k8s.io/v1/namespaces/$ns/leases/l', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: { holderIdentity: 'h' } }, by('u'))]),
  one('two-updaters', 'two Update managers have two entries', [made, PATCH(`${CM}/c`, 'merge', { data: { c: '3' } }, by('v'))]),
  one('two-appliers', 'two Apply managers have two entries', [APPLY(`${CM}/c`, 'm1', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'm2', cm('c', { b: '1' }))]),
  one('case-sensitive', 'names of managers differ by case', [APPLY(`${CM}/c`, 'Mgr', cm('c', { a: '1' }), quiet), APPLY(`${CM}/c`, 'mgr', cm('c', { a: '2' }))]),
];

const writes = [
  one('put-same', 'a PUT that sends back managedFields as read changes nothing', [made, GET(`${CM}/c`, { id: 'read' }), PUT(`${CM}/c`, { ...cm('c', { a: '1', b: '2' }), metadata: '${read.metadata}' }, by('v'))]),
  one('put-without', 'a PUT without managedFields keeps them', [made, PUT(`${CM}/c`, cm('c', { a: '1', b: '3' }), by('v'))]),
  one('put-empty-list', 'a PUT with an empty list of managedFields takes them away', [made, PUT(`${CM}/c`, cm('c', { a: '1', b: '2' }, { managedFields: [] }), by('v')), PUT(`${CM}/c`, cm('c', { a: '1', b: '3' }), by('v'))]),
  one('put-null', 'a PUT with managedFields null keeps them', [made, PUT(`${CM}/c`, cm('c', { a: '1', b: '2' }, { managedFields: null }), by('v'))]),
  one('put-reset', 'a PUT with managedFields [{}] takes them away', [made, PUT(`${CM}/c`, cm('c', { a: '1', b: '2' }, { managedFields: [{}] }), by('v'))]),
  one('put-reset-and-change', 'a PUT with managedFields [{}] and a change takes them away too: the change is not tracked', [made, PUT(`${CM}/c`, cm('c', { a: '1', b: '3', c: '4' }, { managedFields: [{}] }), by('v'))]),
  one('put-own', 'a PUT may set managedFields as it likes', [made, PUT(`${CM}/c`, cm('c', { a: '1', b: '2' }, { managedFields: [entry(owned)] }), by('v'))]),
  one('put-own-and-change', 'a PUT that sets managedFields and changes a field', [made, PUT(`${CM}/c`, cm('c', { a: '9', b: '2', c: '3' }, { managedFields: [entry({ 'f:data': { 'f:a': {}, 'f:b': {} } })] }), by('v'))]),
  one('patch-merge-empty', 'a merge patch with an empty list of managedFields takes them away', [made, PATCH(`${CM}/c`, 'merge', { metadata: { managedFields: [] } }, by('v'))]),
  one('patch-merge-reset', 'a merge patch with managedFields [{}] takes them away until the next apply', [made, PATCH(`${CM}/c`, 'merge', { metadata: { managedFields: [{}] } }, by('v')), PATCH(`${CM}/c`, 'merge', { data: { c: '3' } }, by('v')), APPLY(`${CM}/c`, 'm', cm('c', { d: '4' }))]),
  one('patch-merge-null', 'a merge patch with managedFields null keeps them', [made, PATCH(`${CM}/c`, 'merge', { metadata: { managedFields: null } }, by('v'))]),
  one('patch-strategic-reset', 'a strategic merge patch with managedFields [{}] takes them away', [made, PATCH(`${CM}/c`, 'strategic', { metadata: { managedFields: [{}] } }, by('v'))]),
  one('patch-json-reset', 'a JSON patch that replaces managedFields by [{}] takes them away', [made, PATCH(`${CM}/c`, 'json-patch', [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }], by('v'))]),
  one('patch-json-remove', 'a JSON patch that removes managedFields changes nothing', [made, PATCH(`${CM}/c`, 'json-patch', [{ op: 'remove', path: '/metadata/managedFields' }], by('v'))]),
  one('patch-json-remove-one', 'a JSON patch that removes one entry', [made, PATCH(`${CM}/c`, 'merge', { data: { c: '3' } }, by('v', quiet)), PATCH(`${CM}/c`, 'json-patch', [{ op: 'remove', path: '/metadata/managedFields/0' }], { ...by('v'), pick: (b) => b.metadata?.managedFields?.length ?? b })]),
  one('patch-json-rename', 'a JSON patch that renames a manager and makes it an Apply entry, as kubectl does when it migrates', [made, PATCH(`${CM}/c`, 'json-patch', [
    { op: 'test', path: '/metadata/resourceVersion', value: '${c.metadata.resourceVersion}' }, { op: 'replace', path: '/metadata/managedFields/0/manager', value: 'kubectl' }, { op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Apply' },
  ], by('v')), APPLY(`${CM}/c`, 'kubectl', cm('c', { a: '9' }))]),
  one('post-with-entries', 'POST with managedFields: the given entries are ignored', [POST(CM, cm('c', { a: '1', b: '2' }, { managedFields: [entry(owned)] }), by('u'))]),
  one('post-empty-list', 'POST with an empty list of managedFields is tracked as usual', [POST(CM, cm('c', { a: '1' }, { managedFields: [] }), by('u'))]),
  one('post-reset', 'POST with managedFields [{}] is tracked as usual', [POST(CM, cm('c', { a: '1' }, { managedFields: [{}] }), by('u'))]),
  one('status-reset-ignored', 'managedFields [{}] through /status has no effect', [
    POST(DEP, deployment('d'), by('u', quiet)), PATCH(`${DEP}/d/status`, 'merge', { metadata: { managedFields: [{}] }, status: { replicas: 1 } }, { ...by('v'), pick: (b) => ({ managedFields: b.metadata.managedFields, status: b.status }) }),
  ]),
];

const invalid = [
  ['operation', 'an unknown operation', entry(owned, { operation: 'Bogus' })],
  ['operation-empty', 'no operation', entry(owned, { operation: undefined })],
  ['fields-type', 'an unknown fieldsType', entry(owned, { fieldsType: 'FieldsV2' })],
  ['fields-type-empty', 'no fieldsType', entry(owned, { fieldsType: undefined })],
  ['fields-empty', 'no fieldsV1', entry(undefined)],
  ['fields-bad-prefix', 'a path element without prefix', entry({ data: {} })],
  ['fields-bad-key', 'a k: element that is no JSON', entry({ 'k:{x': {} })],
  ['fields-bad-index', 'an i: element that is no number', entry({ 'i:x': {} })],
  ['fields-index', 'an i: element', entry({ 'f:data': { 'i:0': {} } })],
  ['fields-unknown-prefix', 'an unknown prefix', entry({ 'x:data': {} })],
  ['fields-leaf-value', 'a leaf that is no object', entry({ 'f:data': 1 })],
  ['fields-unknown-field', 'a field that the kind does not have', entry({ 'f:nope': { 'f:x': {} } })],
  ['fields-absent-field', 'a field that the object does not have', entry({ 'f:data': { 'f:zz': {} } })],
  ['fields-metadata-name', 'a field that is never owned', entry({ 'f:metadata': { 'f:name': {}, 'f:uid': {} }, 'f:data': { 'f:a': {} } })],
  ['api-version-empty', 'no apiVersion', entry(owned, { apiVersion: undefined })],
  ['api-version-unknown', 'an unknown version', entry(owned, { apiVersion: 'v99' })],
  ['api-version-other-group', 'the version of another group', entry(owned, { apiVersion: 'apps/v1' })],
  ['api-version-bad', 'a version that does not parse', entry(owned, { apiVersion: 'a/b/c' })],
  ['manager-empty', 'no manager', entry(owned, { manager: '' })],
  ['manager-long', 'a long manager', entry(owned, { manager: 'm'.repeat(129) })],
  ['manager-control', 'a manager that cannot be printed', entry(owned, { manager: 'a\tb' })],
  ['time-absent', 'no time', entry(owned, { time: undefined })],
  ['subresource', 'a subresource that does not exist', entry(owned, { subresource: 'nope' })],
].map(([id, about, e]) => one(`given-${id}`, `managedFields given by a PUT: ${about}`, [made, PUT(`${CM}/c`, cm('c', { a: '1', b: '2' }, { managedFields: [e] }), by('v')), PATCH(`${CM}/c`, 'merge', { data: { c: '3' } }, by('w')), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }))]));
const twice = [
  one('given-duplicate', 'managedFields given by a PUT: the same entry twice', [made, PUT(`${CM}/c`, cm('c', { a: '1', b: '2' }, { managedFields: [entry(owned), entry({ 'f:data': { 'f:b': {} } })] }), by('v'))]),
  one('given-wrong-type', 'managedFields that do not decode', [made, PUT(`${CM}/c`, cm('c', { a: '1' }, { managedFields: 'x' }), by('v')), PATCH(`${CM}/c`, 'merge', { metadata: { managedFields: [{ manager: 1 }] } }, by('v')), PATCH(`${CM}/c`, 'merge', { metadata: { managedFields: [{ fieldsV1: 'x' }] } }, by('v'))]),
  one('given-unordered', 'managedFields given by a PUT are sorted', [made, PUT(`${CM}/c`, cm('c', { a: '1', b: '2' }, { managedFields: [entry(owned, { manager: 'z', time: '2020-01-03T00:00:00Z' }), entry({ 'f:data': { 'f:b': {} } }, { manager: 'y', time: '2020-01-02T00:00:00Z' }), entry(owned, { manager: 'x', operation: 'Apply', time: '2020-01-04T00:00:00Z' })] }), by('v'))], { times: true }),
];

/** n patches, each by a manager of its own, each adding a key. */
const many = (n, from = 1, o = quiet) => Array.from({ length: n }, (_, i) => PATCH(`${CM}/c`, 'merge', { data: { [`k${String(i + from).padStart(2, '0')}`]: 'x' } }, { ...by(`w${String(i + from).padStart(2, '0')}`), ...o }));
const short = (b) => ({ managedFields: b.metadata.managedFields.map(({ manager, operation, apiVersion, fieldsV1, subresource }) => ({ manager, operation, apiVersion, fieldsV1, ...(subresource ? { subresource } : {}) })) });
const start = POST(CM, cm('c', { k00: 'x' }), { ...by('w00'), ...quiet });
const capped = [
  one('cap-ten', 'ten Update entries stay', [start, ...many(9), GET(`${CM}/c`, { pick: short })], { section: '8' }),
  one('cap-eleven', 'with the eleventh Update entry the two oldest become ancient-changes', [start, ...many(10), GET(`${CM}/c`, { pick: short })], { section: '8' }),
  one('cap-fifteen', 'further entries are merged into ancient-changes', [start, ...many(14), GET(`${CM}/c`, { pick: short })], { section: '8' }),
  one('cap-ancient-again', 'a manager that was merged gets a new entry when it writes again', [start, ...many(11), SLEEP(1100), PATCH(`${CM}/c`, 'merge', { data: { k00: 'y' } }, by('w00', quiet)), GET(`${CM}/c`, { pick: short })], { section: '8' }),
  one('cap-not-for-apply', 'Apply entries are not counted and not merged', [start, ...Array.from({ length: 12 }, (_, i) => APPLY(`${CM}/c`, `a${String(i).padStart(2, '0')}`, cm('c', { [`l${i}`]: 'x' }), quiet)), GET(`${CM}/c`, { pick: short })], { section: '8' }),
  one('cap-with-apply', 'an apply does not merge Update entries', [start, ...many(9), APPLY(`${CM}/c`, 'applier', cm('c', { z: '1' }), { pick: short })], { section: '8' }),
  one('cap-per-subresource', 'entries of a subresource count too', [
    POST(DEP, deployment('d'), by('w00', quiet)),
    ...Array.from({ length: 10 }, (_, i) => PATCH(`${DEP}/d${i % 2 ? '/status' : ''}`, 'merge', { metadata: { annotations: { [`k${i}`]: 'x' } } }, by(`w${String(i + 1).padStart(2, '0')}`, quiet))),
    GET(`${DEP}/d`, { pick: short }),
  ], { section: '8' }),
  one('cap-oldest-by-time', 'the oldest by time are merged, not the first by name', [
    POST(CM, cm('c', { k00: 'x' }), by('zz', quiet)), PATCH(`${CM}/c`, 'merge', { data: { k01: 'x' } }, by('yy', quiet)), SLEEP(1100), ...many(9, 2), GET(`${CM}/c`, { pick: short }),
  ], { section: '8' }),
  one('cap-renewed', 'a manager that wrote again counts as young', [start, ...many(8), SLEEP(1100), PATCH(`${CM}/c`, 'merge', { data: { k00: 'y' } }, by('w00', quiet)), ...many(2, 20), GET(`${CM}/c`, { pick: short })], { section: '8' }),
];

export default [...names, ...writes, ...invalid, ...twice, ...capped];
