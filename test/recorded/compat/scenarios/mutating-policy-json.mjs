// MutatingAdmissionPolicy: JSON patches.
import { APPLY, GET, PATCH, POST } from '../steps.ts';
import { CM, DEPLOYMENTS, PODS, cm, data, deployment, only, pod, rule } from './kit/admission.mjs';
import { one } from './kit/mutating-policy.mjs';

const spec = only('spec');
const shown = { pick: (b) => (b.kind === 'Status' ? b : { labels: b.metadata.labels ?? null, annotations: b.metadata.annotations ?? null, finalizers: b.metadata.finalizers ?? null, data: b.data ?? null, immutable: b.immutable ?? null, name: b.metadata.name }) };
const onMap = (id, about, mutations, steps = [POST(CM, cm('c', { a: '1', b: '2' }, { labels: { x: 'y' } }), shown)], o = {}) => one(`json-${id}`, about, { mutations, ...o }, steps);
const op = (fields) => `[JSONPatch{${fields}}]`;
const value = (text) => op(`op: "add", path: "/metadata/annotations", value: ${text}`);

const operations = [
  ['add', 'add', op('op: "add", path: "/data/c", value: "3"')],
  ['add-parent-missing', 'add below what is not there', op('op: "add", path: "/metadata/annotations/a", value: "b"')],
  ['add-whole', 'the whole map', op('op: "add", path: "/data", value: {"z": "0"}')],
  ['replace', 'replace', op('op: "replace", path: "/data/a", value: "9"')],
  ['replace-missing', 'replace what is not there', op('op: "replace", path: "/data/nope", value: "9"')],
  ['remove', 'remove', op('op: "remove", path: "/data/a"')],
  ['remove-missing', 'remove what is not there', op('op: "remove", path: "/data/nope"')],
  ['move', 'move', op('op: "move", from: "/data/a", path: "/data/c"')],
  ['move-missing', 'move what is not there', op('op: "move", from: "/data/nope", path: "/data/c"')],
  ['copy', 'copy', op('op: "copy", from: "/data/a", path: "/data/c"')],
  ['copy-missing', 'copy what is not there', op('op: "copy", from: "/data/nope", path: "/data/c"')],
  ['test', 'test that holds', '[JSONPatch{op: "test", path: "/data/a", value: "1"}, JSONPatch{op: "replace", path: "/data/a", value: "9"}]'],
  ['test-fails', 'test that does not hold: nothing is done, and no error', '[JSONPatch{op: "replace", path: "/data/a", value: "9"}, JSONPatch{op: "test", path: "/data/a", value: "1"}]'],
  ['test-missing', 'test of what is not there', op('op: "test", path: "/data/nope", value: "1"')],
  ['unknown-op', 'an operation that there is not', op('op: "merge", path: "/data/a", value: "1"')],
  ['no-op', 'without an operation', op('path: "/data/a", value: "1"')],
  ['no-path', 'without a path', op('op: "add", value: "1"')],
  ['bad-path', 'a path without a slash', op('op: "add", path: "data", value: "1"')],
  ['no-value', 'add without a value', op('op: "add", path: "/data/c"')],
  ['no-from', 'move without from', op('op: "move", path: "/data/c"')],
  ['empty', 'no operations', '[JSONPatch{}].filter(p, false)'],
  ['several', 'several operations', '[JSONPatch{op: "add", path: "/data/c", value: "3"}, JSONPatch{op: "copy", from: "/data/c", path: "/data/d"}, JSONPatch{op: "remove", path: "/data/a"}]'],
  ['conditional', 'operations under a condition', 'has(object.data.a) ? [JSONPatch{op: "remove", path: "/data/a"}] : [JSONPatch{op: "add", path: "/data/none", value: "1"}]'],
  ['mapped', 'an operation for each entry', 'object.data.map(k, JSONPatch{op: "replace", path: "/data/" + k, value: object.data[k] + "!"})'],
  ['escape', 'escapeKey', op('op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/a~b"), value: "c"'), [POST(CM, cm('c', {}, { labels: { x: 'y' } }), shown)]],
  ['escape-valid', 'escapeKey of a label with a slash', op('op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/a"), value: "c"')],
  ['unescaped', 'a slash that is not escaped', op('op: "add", path: "/metadata/labels/example.com/a", value: "c"')],
  ['object-value', 'a value that is an object', op('op: "add", path: "/metadata", value: Object.metadata{name: "c", labels: {"a": "b"}}')],
  ['object-wrong-name', 'an object with a wrong type name', op('op: "add", path: "/metadata", value: Object.metadata{name: "c", labels: Object.wrong{a: "b"}}')],
  ['object-any-name', 'the name of the first type does not matter', op('op: "add", path: "/data", value: Object.what.ever{q: "r"}')],
  ['number-for-text', 'a number where a text is wanted', op('op: "add", path: "/data/c", value: 3')],
  ['unknown-field', 'a field that the kind does not have', op('op: "add", path: "/nothing", value: 3')],
  ['unknown-deep', 'one in metadata', op('op: "add", path: "/metadata/nothing", value: 3')],
  ['null', 'null as value', op('op: "add", path: "/data/a", value: null')],
  ['null-map', 'null for a map', op('op: "replace", path: "/data", value: null')],
  ['kind', 'another kind', op('op: "replace", path: "/kind", value: "Secret"')],
  ['api-version', 'another version', op('op: "replace", path: "/apiVersion", value: "v2"')],
  ['no-kind', 'the kind removed', op('op: "remove", path: "/kind"')],
  ['root', 'the root replaced', op('op: "replace", path: "", value: Object{apiVersion: "v1", kind: "ConfigMap", metadata: Object.metadata{name: "c"}, data: {"whole": "new"}}')],
  ['evaluation', 'an evaluation that fails', op('op: "add", path: "/data/c", value: object.data.nope')],
  ['path-dyn', 'a path that is no text', op('op: "add", path: dyn(1), value: "1"')],
  ['timestamp', 'a timestamp as value', op('op: "add", path: "/data/t", value: timestamp("2024-01-02T03:04:05.006Z")')],
  ['duration', 'a duration as value', op('op: "add", path: "/data/t", value: duration("90m1.5s")')],
  ['bytes', 'bytes as value', op('op: "add", path: "/data/t", value: b"abc"')],
  ['type', 'a type as value', op('op: "add", path: "/data/t", value: type(1)')],
  ['quantity', 'a quantity as value', op('op: "add", path: "/data/t", value: quantity("1Gi")')],
  ['optional', 'an optional as value', op('op: "add", path: "/data/t", value: optional.of("x")')],
  ['optional-field', 'an optional field', op('op: "add", path: "/data/t", ?value: optional.of("x")')],
  ['patch-as-value', 'an operation as value', op('op: "add", path: "/data/t", value: JSONPatch{op: "add"}')],
  ['quoted', 'quotes and signs beyond ASCII in path and value', op('op: "add", path: "/data/q", value: "ä\\"\\n\\u2028✓"')],
  ['path-unicode', 'a path beyond ASCII', op('op: "add", path: "/metadata/annotations/\\u00e4\\"", value: "x"'), [POST(CM, cm('c', {}, { annotations: { x: 'y' } }), shown)]],
  ['set-finalizer', 'the end of a list', op('op: "add", path: "/metadata/finalizers/-", value: "example.com/b"'), [POST(CM, cm('c', {}, { finalizers: ['example.com/a'] }), { ...shown, query: { dryRun: 'All' } })]],
  ['index', 'an index beyond the end', op('op: "add", path: "/metadata/finalizers/5", value: "example.com/b"'), [POST(CM, cm('c', {}, { finalizers: ['example.com/a'] }), shown)]],
  ['name', 'another name', op('op: "replace", path: "/metadata/name", value: "other"')],
  ['managed-fields', 'managedFields removed', op('op: "remove", path: "/metadata/managedFields"'), [POST(CM, cm()), GET(`${CM}/c`, only('metadata.managedFields'))]],
  ['by-apply', 'an apply', op('op: "add", path: "/data/c", value: "3"'), [APPLY(`${CM}/c`, 'm', cm()), APPLY(`${CM}/c`, 'm', cm('c', { a: '4' }))]],
  ['update', 'a patch that is patched', op('op: "add", path: "/data/old", value: oldObject == null ? "none" : oldObject.data.a'), [POST(CM, cm(), data), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }, data)]],
].map(([id, about, expression, steps]) => onMap(id, about, { patchType: 'JSONPatch', jsonPatch: { expression } }, steps));

const values = [
  ['int', '{"a": string(1)}'], ['mixed', 'dyn({"a": dyn("x")})'], ['from-object', 'object.metadata.labels'], ['from-data', 'object.data'], ['nested', '{"a": "b"}.transformMap(k, v, v + k)'], ['list', '["a"]'], ['text', '"a"'],
].map(([id, text]) => onMap(`value-${id}`, `the value ${text}`, value(text)));

const kinds = [
  one('json-atomic', 'a JSON patch may replace atomics', { rules: [rule('pods', { operations: ['CREATE'] })], mutations: '[JSONPatch{op: "add", path: "/spec/nodeSelector", value: {"a": "b"}}, JSONPatch{op: "add", path: "/spec/containers/0/args", value: ["x", "y"]}]' }, [POST(PODS, pod(), spec)]),
  one('json-container', 'an item that is an object', { rules: [rule('pods', { operations: ['CREATE'] })], mutations: '[JSONPatch{op: "add", path: "/spec/containers/-", value: Object.spec.containers{name: "s", image: "i", ports: [Object.spec.containers.ports{containerPort: 80}], env: [Object.spec.containers.env{name: "A", value: "b"}]}}]' }, [POST(PODS, pod(), spec)]),
  one('json-number', 'a number', { rules: [rule('deployments', { operations: ['CREATE'], groups: ['apps'] })], mutations: '[JSONPatch{op: "replace", path: "/spec/replicas", value: object.spec.replicas * 3}]' }, [POST(DEPLOYMENTS, deployment('d', { replicas: 2 }), spec)]),
  one('json-fraction', 'a number with a fraction for an integer', { rules: [rule('deployments', { operations: ['CREATE'], groups: ['apps'] })], mutations: '[JSONPatch{op: "replace", path: "/spec/replicas", value: 1.5}]' }, [POST(DEPLOYMENTS, deployment(), spec)]),
  one('json-big', 'a number beyond what JSON numbers carry', { rules: [rule('deployments', { operations: ['CREATE'], groups: ['apps'] })], mutations: '[JSONPatch{op: "replace", path: "/spec/replicas", value: 9007199254740993}]' }, [POST(DEPLOYMENTS, deployment(), spec)]),
  one('json-ignored', 'failurePolicy Ignore: operations that fail', { failurePolicy: 'Ignore', mutations: ['[JSONPatch{op: "remove", path: "/data/nope"}]', '[JSONPatch{op: "add", path: "/data/ok", value: "1"}]'] }, [POST(CM, cm(), data)]),
  one('json-ignored-decoding', 'failurePolicy Ignore: an object that cannot be decoded', { failurePolicy: 'Ignore', mutations: '[JSONPatch{op: "add", path: "/nothing", value: "1"}]' }, [POST(CM, cm(), data)]),
];

export default [...operations, ...values, ...kinds];
