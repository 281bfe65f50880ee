// JSON Patch (RFC 6902) as PATCH with application/json-patch+json.
import { scenario, GET, POST, PATCH } from '../steps.ts';
import { CM, POD, DEP, cm, pod, deployment, box } from './kit/apply.mjs';

const jp = (path, ops, o) => PATCH(path, 'json-patch', ops, o);
const made = POST(CM, cm('c', { a: '1', b: '2' }), { compare: 'status' });
/** A scenario that patches the ConfigMap {a: 1, b: 2}: one step for each list of operations. */
const onMap = (id, about, ...patches) => scenario(`patch-json-${id}`, { section: '4.7', about }, [made, ...patches.map((p) => jp(`${CM}/c`, p))]);
/** Lists are patched in the args of a pod template, which the server neither sorts nor merges. */
const withArgs = POST(DEP, deployment('d', {}, { containers: [box('web', { args: ['zero', 'one', 'two'] })] }), { compare: 'status' });
const ARGS = '/spec/template/spec/containers/0/args';
const onList = (id, about, ...patches) => scenario(`patch-json-${id}`, { section: '4.7', about },
  [withArgs, ...patches.map((p) => jp(`${DEP}/d`, p, { pick: (b) => (b.kind === 'Status' ? b : b.spec.template.spec.containers[0].args ?? null) }))]);

const operations = [
  onMap('add-key', 'add sets a new key and the changed field belongs to the caller', [{ op: 'add', path: '/data/c', value: '3' }]),
  onMap('add-existing-key', 'add on a key that exists replaces its value', [{ op: 'add', path: '/data/a', value: 'new' }]),
  onMap('add-creates-parent-object', 'add of a whole object under a missing key', [{ op: 'add', path: '/metadata/labels', value: { x: 'y' } }]),
  onMap('add-below-missing-parent', 'add below an object that is absent fails with 422', [{ op: 'add', path: '/metadata/labels/x', value: 'y' }]),
  onMap('add-null', 'add of null to a map of strings stores an empty string', [{ op: 'add', path: '/data/c', value: null }]),
  onMap('remove-key', 'remove deletes a key', [{ op: 'remove', path: '/data/a' }]),
  onMap('remove-missing-key', 'remove of a key that is absent fails with 422', [{ op: 'remove', path: '/data/zz' }]),
  onMap('remove-below-missing-parent', 'remove below an object that is absent fails with 422', [{ op: 'remove', path: '/metadata/labels/x' }]),
  onMap('remove-last-keys', 'removing every key leaves an empty map that is not shown', [{ op: 'remove', path: '/data/a' }, { op: 'remove', path: '/data/b' }]),
  onMap('replace-key', 'replace sets the value of a key', [{ op: 'replace', path: '/data/a', value: 'new' }]),
  onMap('replace-object', 'replace of a whole map drops the keys it does not hold', [{ op: 'replace', path: '/data', value: { z: '26' } }]),
  onMap('replace-missing-key', 'replace of an absent key of a map adds it', [{ op: 'replace', path: '/data/zz', value: 'x' }]),
  onMap('replace-missing-parent', 'replace below an absent object fails with 422', [{ op: 'replace', path: '/metadata/labels/zz', value: 'x' }]),
  onMap('move-key', 'move renames a key', [{ op: 'move', from: '/data/a', path: '/data/z' }]),
  onMap('move-over-existing', 'move onto a key that exists replaces it', [{ op: 'move', from: '/data/a', path: '/data/b' }]),
  onMap('move-missing-from', 'move from an absent key fails with 422', [{ op: 'move', from: '/data/zz', path: '/data/z' }]),
  onMap('move-missing-from-parent', 'move from below an absent object fails with 422', [{ op: 'move', from: '/metadata/labels/zz', path: '/data/z' }]),
  onMap('move-missing-destination', 'move to below an absent object fails with 422', [{ op: 'move', from: '/data/a', path: '/metadata/labels/z' }]),
  onMap('move-to-itself', 'move of a key to itself changes nothing', [{ op: 'move', from: '/data/a', path: '/data/a' }]),
  onMap('copy-key', 'copy duplicates a key', [{ op: 'copy', from: '/data/a', path: '/data/z' }]),
  onMap('copy-missing-from', 'copy from an absent key of a map copies null', [{ op: 'copy', from: '/data/zz', path: '/data/z' }]),
  onMap('copy-missing-from-parent', 'copy from below an absent object fails with 422', [{ op: 'copy', from: '/metadata/labels/zz', path: '/data/z' }]),
  onMap('copy-missing-destination', 'copy to below an absent object fails with 422', [{ op: 'copy', from: '/data/a', path: '/metadata/labels/z' }]),
  onMap('copy-object', 'copy duplicates a whole map (data to labels)', [{ op: 'copy', from: '/data', path: '/metadata/labels' }]),
  onMap('test-holds', 'a test that holds lets the rest of the patch run', [{ op: 'test', path: '/data/a', value: '1' }, { op: 'replace', path: '/data/a', value: '9' }]),
  onMap('test-fails', 'a test that fails rejects the whole patch with 422', [{ op: 'replace', path: '/data/b', value: '9' }, { op: 'test', path: '/data/a', value: 'other' }]),
  onMap('test-missing-key', 'a test of an absent key fails', [{ op: 'test', path: '/data/zz', value: 'x' }]),
  onMap('test-missing-key-null', 'a test of an absent key against null holds', [{ op: 'test', path: '/data/zz', value: null }, { op: 'add', path: '/data/c', value: '3' }]),
  onMap('test-missing-parent', 'a test below an absent object fails', [{ op: 'test', path: '/metadata/labels/zz', value: 'x' }]),
  onMap('test-object', 'a test compares whole objects whatever the order of keys', [{ op: 'test', path: '/data', value: { b: '2', a: '1' } }, { op: 'add', path: '/data/c', value: '3' }]),
  onMap('test-object-differs', 'a test of a whole object fails when one key differs', [{ op: 'test', path: '/data', value: { a: '1' } }]),
  onMap('test-type-differs', 'a test of a string against a number fails', [{ op: 'test', path: '/data/a', value: 1 }]),
  onMap('several-operations-in-order', 'operations run one after the other, each on the result of the one before', [
    { op: 'add', path: '/data/c', value: '3' }, { op: 'move', from: '/data/c', path: '/data/d' }, { op: 'copy', from: '/data/d', path: '/data/e' }, { op: 'test', path: '/data/e', value: '3' }, { op: 'remove', path: '/data/a' },
  ]),
];

const lists = [
  onList('list-insert', 'add at an index inserts before the item that stands there', [{ op: 'add', path: `${ARGS}/1`, value: 'new' }]),
  onList('list-append-dash', 'add at - appends', [{ op: 'add', path: `${ARGS}/-`, value: 'new' }]),
  onList('list-append-at-length', 'add at the length of the list appends', [{ op: 'add', path: `${ARGS}/3`, value: 'new' }]),
  onList('list-insert-too-far', 'add beyond the length fails with 422', [{ op: 'add', path: `${ARGS}/4`, value: 'new' }]),
  onList('list-remove', 'remove at an index', [{ op: 'remove', path: `${ARGS}/1` }]),
  onList('list-remove-too-far', 'remove beyond the end fails with 422', [{ op: 'remove', path: `${ARGS}/3` }]),
  onList('list-remove-dash', 'remove at - fails with 422', [{ op: 'remove', path: `${ARGS}/-` }]),
  onList('list-replace', 'replace at an index', [{ op: 'replace', path: `${ARGS}/2`, value: 'new' }]),
  onList('list-replace-too-far', 'replace beyond the end fails with 422', [{ op: 'replace', path: `${ARGS}/3`, value: 'new' }]),
  onList('list-replace-dash', 'replace at - fails with 422', [{ op: 'replace', path: `${ARGS}/-`, value: 'new' }]),
  onList('list-not-a-number', 'an index that is no number fails with 422', [{ op: 'add', path: `${ARGS}/first`, value: 'new' }], [{ op: 'remove', path: `${ARGS}/first` }], [{ op: 'replace', path: `${ARGS}/first`, value: 'new' }]),
  onList('list-negative-index', 'a negative index counts from the end', [{ op: 'add', path: `${ARGS}/-1`, value: 'new' }], [{ op: 'replace', path: `${ARGS}/-1`, value: 'last' }], [{ op: 'remove', path: `${ARGS}/-2` }]),
  onList('list-negative-too-far', 'a negative index before the start fails with 422', [{ op: 'add', path: `${ARGS}/-9`, value: 'new' }], [{ op: 'replace', path: `${ARGS}/-9`, value: 'new' }], [{ op: 'remove', path: `${ARGS}/-9` }]),
  onList('list-leading-zero', 'an index with a leading zero is accepted', [{ op: 'replace', path: `${ARGS}/01`, value: 'new' }]),
  onList('list-move', 'move within a list', [{ op: 'move', from: `${ARGS}/0`, path: `${ARGS}/2` }]),
  onList('list-copy', 'copy within a list', [{ op: 'copy', from: `${ARGS}/0`, path: `${ARGS}/-` }]),
  onList('list-copy-too-far', 'copy from beyond the end fails with 422', [{ op: 'copy', from: `${ARGS}/7`, path: `${ARGS}/-` }]),
  onList('list-test', 'test of an item of a list and of the whole list', [{ op: 'test', path: `${ARGS}/1`, value: 'one' }, { op: 'test', path: ARGS, value: ['zero', 'one', 'two'] }, { op: 'remove', path: `${ARGS}/0` }], [{ op: 'test', path: ARGS, value: ['two', 'one'] }]),
  onList('list-below-scalar', 'a path that goes through a string fails with 422', [{ op: 'add', path: `${ARGS}/0/x`, value: 'new' }]),
];

const pointers = [
  onMap('escape-slash', '~1 stands for a slash in a key', [{ op: 'add', path: '/metadata/annotations', value: { 'example.com/a': 'x' } }], [{ op: 'replace', path: '/metadata/annotations/example.com~1a', value: 'y' }]),
  onMap('escape-tilde', '~0 stands for a tilde in a key', [{ op: 'add', path: '/data/x~0y', value: 'v' }]),
  onMap('escape-order', '~01 is a tilde followed by 1, not a slash', [{ op: 'add', path: '/data/x~01', value: 'v' }]),
  onMap('path-without-slash', 'the part before the first slash of a path is ignored', [{ op: 'add', path: 'data/c', value: '3' }]),
  onMap('path-empty-add', 'add at the empty path fails with 422', [{ op: 'add', path: '', value: {} }]),
  onMap('path-empty-replace', 'replace of the whole document must still give a valid object', [{ op: 'replace', path: '', value: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: '$ns' }, data: { only: 'this' } } }]),
  onMap('path-empty-replace-scalar', 'replace of the whole document by a string has no effect and no error', [{ op: 'replace', path: '', value: 'x' }]),
  onMap('path-empty-remove', 'remove of the whole document fails', [{ op: 'remove', path: '' }]),
  onMap('path-empty-test', 'test of the whole document fails when it differs', [{ op: 'test', path: '', value: {} }]),
  onMap('path-root-slash', 'the path / names the empty key, an unknown field of the object', [{ op: 'add', path: '/', value: 'x' }]),
  onMap('path-trailing-slash', 'a trailing slash names an empty key below', [{ op: 'add', path: '/data/', value: 'x' }]),
];

const invalid = [
  ['not-json', 'a body that is not JSON is 400', '[{"op":'],
  ['object-instead-of-list', 'a body that is an object is 400', { op: 'add', path: '/data/c', value: '3' }],
  ['string-body', 'a body that is a string is 400', '"x"'],
  ['null-body', 'a body that is null is an empty list of operations', 'null'],
  ['empty-body', 'an empty body is 400', ''],
  ['list-of-strings', 'operations that are no objects are 400', ['x']],
  ['list-with-null', 'an operation that is null is 422', [null]],
  ['unknown-op', 'an unknown op is 422', [{ op: 'merge', path: '/data/c', value: '3' }]],
  ['op-case', 'op is case sensitive', [{ op: 'Add', path: '/data/c', value: '3' }]],
  ['no-op', 'a missing op is 422', [{ path: '/data/c', value: '3' }]],
  ['no-path', 'a missing path is 422', [{ op: 'add', value: '3' }]],
  ['no-value-add', 'add without value is add of null', [{ op: 'add', path: '/data/c' }]],
  ['no-value-replace', 'replace without value is replace by null', [{ op: 'replace', path: '/data/a' }]],
  ['no-value-test', 'test without value of a key that exists fails', [{ op: 'test', path: '/data/a' }]],
  ['no-from-move', 'move without from is 422', [{ op: 'move', path: '/data/c' }]],
  ['no-from-copy', 'copy without from is 422', [{ op: 'copy', path: '/data/c' }]],
  ['op-not-string', 'an op that is a number is 400', [{ op: 1, path: '/data/c', value: '3' }]],
  ['path-not-string', 'a path that is a number is 400', [{ op: 'add', path: 1, value: '3' }]],
  ['path-null', 'a path that is null is 422', [{ op: 'add', path: null, value: '3' }]],
  ['unknown-member', 'an unknown member of an operation warns', [{ op: 'add', path: '/data/c', value: '3', extra: 1 }]],
  ['trailing-data', 'data after the list is 400', '[{"op":"add","path":"/data/c","value":"3"}] x'],
].map(([id, about, body]) => scenario(`patch-json-invalid-${id}`, { section: '4.7', about }, [made, PATCH(`${CM}/c`, 'json-patch', body, { compareHeaders: ['warning'] })]));

const strictness = ['Strict', 'Warn', 'Ignore'].flatMap((level) => [
  scenario(`patch-json-member-${level.toLowerCase()}`, { section: '4.9', about: `an unknown and a duplicate member of an operation with fieldValidation=${level}` }, [
    made,
    jp(`${CM}/c`, [{ op: 'add', path: '/data/c', value: '3', extra: 1 }], { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
    jp(`${CM}/c`, '[{"op":"add","path":"/data/d","path":"/data/e","value":"4"}]', { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
  ]),
  scenario(`patch-json-member-again-${level.toLowerCase()}`, { section: '4.9', about: `members given three times with fieldValidation=${level}` }, [
    made,
    jp(`${CM}/c`, '[{"op":"add","op":"add","op":"add","path":"/data/d","value":"4","z":1,"z":2,"z":3}]', { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
  ]),
  scenario(`patch-json-unknown-field-${level.toLowerCase()}`, { section: '4.9', about: `a patch that adds an unknown field with fieldValidation=${level}` }, [
    made,
    jp(`${CM}/c`, [{ op: 'add', path: '/nope', value: 1 }, { op: 'add', path: '/metadata/nix', value: 'x' }, { op: 'add', path: '/data/c', value: '3' }], { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
  ]),
]);

const results = [
  scenario('patch-json-wrong-type', { section: '4.7', about: 'a result that does not decode is 422 and quotes the patched document' }, [made, jp(`${CM}/c`, [{ op: 'add', path: '/data', value: 'x' }])]),
  scenario('patch-json-number-in-string-map', { section: '4.7', about: 'a number in a map of strings is 422' }, [made, jp(`${CM}/c`, [{ op: 'add', path: '/data/n', value: 5 }])]),
  scenario('patch-json-invalid-object', { section: '4.7', about: 'a result that fails validation is 422 Invalid with causes' }, [made, jp(`${CM}/c`, [{ op: 'add', path: '/data/bad key', value: 'x' }])]),
  scenario('patch-json-no-effect', { section: '4.7', about: 'a patch that changes nothing keeps the resourceVersion' }, [
    POST(CM, cm('c', { a: '1' })), jp(`${CM}/c`, [{ op: 'replace', path: '/data/a', value: '1' }]), GET(`${CM}/c`),
  ]),
  scenario('patch-json-empty-list', { section: '4.7', about: 'an empty list of operations changes nothing' }, [POST(CM, cm('c', { a: '1' })), jp(`${CM}/c`, [])]),
  scenario('patch-json-missing-object', { section: '4.7', about: 'a patch of an absent object is 404' }, [jp(`${CM}/none`, [{ op: 'add', path: '/data/c', value: '3' }])]),
  scenario('patch-json-missing-object-bad-patch', { section: '4.7', about: 'a malformed patch of an absent object is 404 too: the object is looked for first' }, [jp(`${CM}/none`, 'not json')]),
  scenario('patch-json-on-status', { section: '4.7', about: 'a patch of /status changes only the status' }, [
    POST(POD, pod('p'), { compare: 'status' }),
    jp(`${POD}/p/status`, [{ op: 'add', path: '/status/message', value: 'hello' }, { op: 'add', path: '/spec/nodeName', value: 'ignored' }, { op: 'add', path: '/metadata/labels', value: { l: 'kept' } }]),
    jp(`${POD}/p`, [{ op: 'add', path: '/status/message', value: 'ignored' }]),
  ]),
  scenario('patch-json-on-scale', { section: '4.7', about: 'a patch of /scale answers with a Scale' }, [
    POST(DEP, deployment('d'), { compare: 'status' }),
    jp(`${DEP}/d/scale`, [{ op: 'replace', path: '/spec/replicas', value: 3 }]),
    GET(`${DEP}/d`),
  ]),
];

const preconditions = [
  scenario('patch-json-resource-version-matches', { section: '4.7', about: 'a resourceVersion in the result that is current is accepted' }, [
    POST(CM, cm('c', { a: '1' }), { id: 'c' }),
    jp(`${CM}/c`, [{ op: 'replace', path: '/metadata/resourceVersion', value: '${c.metadata.resourceVersion}' }, { op: 'add', path: '/data/b', value: '2' }]),
  ]),
  scenario('patch-json-resource-version-stale', { section: '4.7', about: 'a resourceVersion in the result that is stale is 409' }, [
    POST(CM, cm('c', { a: '1' }), { id: 'c' }),
    jp(`${CM}/c`, [{ op: 'add', path: '/data/b', value: '2' }]),
    jp(`${CM}/c`, [{ op: 'replace', path: '/metadata/resourceVersion', value: '${c.metadata.resourceVersion}' }, { op: 'add', path: '/data/c', value: '3' }]),
  ]),
  scenario('patch-json-resource-version-removed', { section: '4.7', about: 'a patch may remove the resourceVersion: the write is unconditional' }, [
    made, jp(`${CM}/c`, [{ op: 'remove', path: '/metadata/resourceVersion' }, { op: 'add', path: '/data/b', value: '2' }]),
  ]),
  scenario('patch-json-resource-version-garbage', { section: '4.7', about: 'a resourceVersion that is no number is 500' }, [
    made, jp(`${CM}/c`, [{ op: 'replace', path: '/metadata/resourceVersion', value: 'abc' }]),
  ]),
  scenario('patch-json-test-resource-version', { section: '4.7', about: 'test on /metadata/resourceVersion as a precondition: the failure is 422, not 409' }, [
    POST(CM, cm('c', { a: '1' }), { id: 'c' }),
    jp(`${CM}/c`, [{ op: 'test', path: '/metadata/resourceVersion', value: '${c.metadata.resourceVersion}' }, { op: 'add', path: '/data/b', value: '2' }]),
    jp(`${CM}/c`, [{ op: 'test', path: '/metadata/resourceVersion', value: '${c.metadata.resourceVersion}' }, { op: 'add', path: '/data/c', value: '3' }]),
  ]),
  ...[
    ['name', '/metadata/name', 'other', 'a patch that changes the name is 400'],
    ['namespace', '/metadata/namespace', 'other', 'a patch that changes the namespace is 400'],
    ['uid', '/metadata/uid', '11111111-2222-3333-4444-555555555555', 'a patch that changes the uid is 422'],
    ['kind', '/kind', 'Secret', 'a patch that changes the kind is rejected'],
    ['api-version', '/apiVersion', 'apps/v1', 'a patch that changes the apiVersion is rejected'],
    ['creation-timestamp', '/metadata/creationTimestamp', '2001-01-01T00:00:00Z', 'a patch cannot change the creationTimestamp'],
    ['deletion-timestamp', '/metadata/deletionTimestamp', '2001-01-01T00:00:00Z', 'a patch cannot set the deletionTimestamp'],
    ['generation', '/metadata/generation', 7, 'a patch of the generation'],
    ['self-link', '/metadata/selfLink', '/x', 'a patch of the selfLink'],
    ['generate-name', '/metadata/generateName', 'g-', 'a patch of generateName'],
  ].map(([id, path, value, about]) => scenario(`patch-json-changes-${id}`, { section: '4.7', about }, [made, jp(`${CM}/c`, [{ op: 'add', path, value }])])),
  ...[['name', '/metadata/name'], ['namespace', '/metadata/namespace'], ['uid', '/metadata/uid'], ['kind', '/kind'], ['api-version', '/apiVersion'], ['creation-timestamp', '/metadata/creationTimestamp'], ['metadata', '/metadata']]
    .map(([id, path]) => scenario(`patch-json-removes-${id}`, { section: '4.7', about: `a patch that removes ${path}` }, [made, jp(`${CM}/c`, [{ op: 'remove', path }])])),
];

const many = (n) => Array.from({ length: n }, () => ({ op: 'test', path: '/data/a', value: '1' }));
const limits = [
  scenario('patch-json-limit-10000', { section: '8', about: '10,000 operations are accepted' }, [made, jp(`${CM}/c`, many(10000))]),
  scenario('patch-json-limit-10001', { section: '8', about: '10,001 operations are 413' }, [made, jp(`${CM}/c`, many(10001))]),
  scenario('patch-json-copy-too-large', { section: '8', about: 'copies that together grow the document beyond the limit are rejected' }, [
    POST(CM, cm('c', { a: 'x'.repeat(400000) }), { compare: 'status' }),
    jp(`${CM}/c`, Array.from({ length: 8 }, (_, i) => ({ op: 'copy', from: '/data/a', path: `/data/b${i}` }))),
  ]),
  scenario('patch-json-copy-below-limit', { section: '8', about: 'copies below the limit of growth meet the size limit of the object instead' }, [
    POST(CM, cm('c', { a: 'x'.repeat(400000) }), { compare: 'status' }),
    jp(`${CM}/c`, Array.from({ length: 2 }, (_, i) => ({ op: 'copy', from: '/data/a', path: `/data/b${i}` })), { pick: (b) => ({ ...b, message: b.message?.slice(0, 200) }) }),
  ]),
];

export default [...operations, ...lists, ...pointers, ...invalid, ...strictness, ...results, ...preconditions, ...limits];
