// MutatingAdmissionPolicy: apply configurations on built-in kinds: what is merged, what is refused.
import { APPLY, GET, PATCH, POST, PUT } from '../steps.ts';
import { CM, DEPLOYMENTS, PODS, cm, data, deployment, dry, only, pod, quiet, rule } from './kit/admission.mjs';
import { one } from './kit/mutating-policy.mjs';

const spec = only('spec');
const pods = [rule('pods', { operations: ['CREATE'] })];
const deployments = [rule('deployments', { operations: ['CREATE', 'UPDATE'], groups: ['apps'] })];
const services = [rule('services', { operations: ['CREATE'] })];
const SERVICES = '/api/v1/namespaces/$ns/services';
const service = (spec = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { clusterIP: 'None', ports: [{ name: 'a', port: 80 }], ...spec } });
const onMap = (id, about, mutations, steps = [POST(CM, cm(), data)], o = {}) => one(`apply-${id}`, about, { mutations }, steps, o);
const onPod = (id, about, mutations, body = pod(), o = spec) => one(`apply-${id}`, about, { rules: pods, mutations }, [POST(PODS, body, o)]);
const onDeployment = (id, about, mutations, steps = [POST(DEPLOYMENTS, deployment(), spec)], o = {}) => one(`apply-${id}`, about, { rules: deployments, mutations, ...o }, steps);
const container = (fields) => `Object{spec: Object.spec{containers: [Object.spec.containers{${fields}}]}}`;

const merges = [
  onMap('whole', 'the whole answer: managedFields do not know of the mutation', 'Object{data: {"b": "2"}}', [POST(CM, cm()), GET(`${CM}/c`)]),
  onMap('map', 'entries of a map are added and replaced', 'Object{data: {"a": "2", "b": string(object.data.a)}}'),
  onMap('nothing', 'an empty configuration', 'Object{}', [POST(CM, cm())]),
  onMap('labels', 'labels and annotations', 'Object{metadata: Object.metadata{labels: {"a": "b"}, annotations: {"c/d": "e"}}}', [POST(CM, cm('c', {}, { labels: { x: 'y' } }), only('metadata.labels', 'metadata.annotations'))]),
  onMap('object-for-map', 'entries of a map as fields of an object', 'Object{data: Object.data{b: "2"}}'),
  onMap('optional', 'optional fields', 'Object{data: {"b": "2"}, ?immutable: has(object.data.nope) ? optional.of(true) : optional.none()}', [POST(CM, cm(), only('data', 'immutable'))]),
  onMap('computed-map', 'a map that a comprehension makes', 'Object{data: object.data.transformMapEntry(k, v, {k + "2": v})}'),
  onMap('finalizers', 'a set: items are added once', 'Object{metadata: Object.metadata{finalizers: ["example.com/a", "example.com/b"]}}', [POST(CM, cm('c', {}, { finalizers: ['example.com/b', 'example.com/c'] }), { ...dry, ...only('metadata.finalizers') })]),
  onMap('owner-references', 'a list by key: ownerReferences', 'Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "7"}]}}', [POST(CM, cm('c', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'p', uid: '8' }] }), only('metadata.ownerReferences'))]),
  onMap('several', 'mutations see what those before them did', ['Object{data: {"b": object.data.a + "b"}}', 'Object{data: {"c": object.data.b + "c"}}', '[JSONPatch{op: "add", path: "/data/d", value: object.data.c + "d"}]']),
  onMap('update', 'an update and a patch', 'Object{data: {"n": string(object.data.size()), "old": string(oldObject == null ? "none" : oldObject.data.n)}}', [POST(CM, cm(), data), PUT(`${CM}/c`, cm('c', { x: '1' }), data), PATCH(`${CM}/c`, 'merge', { data: { y: '2' } }, data)]),
  onMap('by-apply', 'an apply: what a policy sets belongs to nobody', 'Object{data: {"b": "2"}}', [APPLY(`${CM}/c`, 'm', cm()), APPLY(`${CM}/c`, 'm', cm('c', { a: '3' }))]),
  onMap('dry-run', 'a dry run', 'Object{data: {"b": string(request.dryRun)}}', [POST(CM, cm(), { ...dry, ...data }), GET(`${CM}/c`, quiet)]),
  onPod('add-container', 'a list by key: a new item', container('name: "sidecar", image: "side"')),
  onPod('change-container', 'a list by key: an item that is there', container('name: "c", image: "other", env: [Object.spec.containers.env{name: "A", value: "1"}]'), pod('p', { containers: [{ name: 'c', image: 'img', env: [{ name: 'B', value: '2' }, { name: 'A', value: '0' }] }] })),
  onPod('ports', 'a list with two keys, one of them with a default', container('name: "c", ports: [Object.spec.containers.ports{containerPort: 80, name: "web"}, Object.spec.containers.ports{containerPort: 80, protocol: "UDP"}]'), pod('p', { containers: [{ name: 'c', image: 'img', ports: [{ containerPort: 80 }] }] })),
  onPod('node-selector', 'nodeSelector, which is atomic', 'Object{spec: Object.spec{nodeSelector: {"a": "b"}}}'),
  onPod('tolerations', 'tolerations, which are atomic', 'Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: "a", operator: "Exists"}]}}'),
  onPod('args', 'a list of texts, which is atomic, in an item', container('name: "c", args: ["a"]')),
  onPod('two-atomics', 'two atomics', 'Object{spec: Object.spec{nodeSelector: {"a": "b"}, dnsConfig: Object.spec.dnsConfig{nameservers: ["10.0.0.1"]}}}', pod(), { pick: (b) => (b.kind === 'Status' ? b.message.split(': ').at(-1).split(', ').sort() : b.spec) }),
  onPod('map-everywhere', 'resources of every container', 'Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, resources: Object.spec.containers.resources{limits: {"cpu": "1"}}})}}', pod('p', { containers: [{ name: 'c', image: 'img' }, { name: 'd', image: 'img', resources: { limits: { memory: '1Gi' } } }] })),
  onPod('filtered', 'items that a filter leaves over', 'Object{spec: Object.spec{containers: object.spec.containers.filter(c, !has(c.terminationMessagePath) || c.name == "c").map(c, Object.spec.containers{name: c.name, stdin: true})}}', pod('p', { containers: [{ name: 'c', image: 'img' }, { name: 'd', image: 'img' }] })),
  onPod('whole-items', 'items of the object itself, with more', 'Object{spec: Object.spec{containers: object.spec.containers + [Object.spec.containers{name: "e", image: "x"}]}}'),
  onPod('bool-and-int', 'numbers and booleans', 'Object{spec: Object.spec{terminationGracePeriodSeconds: 5, enableServiceLinks: false, hostNetwork: false}}'),
  onPod('defaulted', 'defaults come after the mutation', container('name: "n", image: "x", livenessProbe: Object.spec.containers.livenessProbe{httpGet: Object.spec.containers.livenessProbe.httpGet{port: 80}}')),
  onDeployment('replicas', 'a number', 'Object{spec: Object.spec{replicas: object.spec.replicas + 2}}', [POST(DEPLOYMENTS, deployment(), spec), PATCH(`${DEPLOYMENTS}/d`, 'merge', { metadata: { labels: { a: 'b' } } }, only('spec.replicas', 'metadata.generation'))]),
  onDeployment('deep', 'fields far below', 'Object{spec: Object.spec{template: Object.spec.template{metadata: Object.spec.template.metadata{annotations: {"a": "b"}}, spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "c", env: [Object.spec.template.spec.containers.env{name: "A", valueFrom: Object.spec.template.spec.containers.env.valueFrom{fieldRef: Object.spec.template.spec.containers.env.valueFrom.fieldRef{fieldPath: "metadata.name"}}}]}]}}}}'),
  onDeployment('selector', 'matchLabels of a selector, which is atomic', 'Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"b": "c"}}}}'),
  onDeployment('int-or-string', 'a number or text', 'Object{spec: Object.spec{strategy: Object.spec.strategy{rollingUpdate: Object.spec.strategy.rollingUpdate{maxSurge: "50%", maxUnavailable: 2}}}}'),
  one('apply-service-ports', 'ports of a Service, by port and protocol', { rules: services, mutations: 'Object{spec: Object.spec{ports: [Object.spec.ports{port: 80, targetPort: "web"}, Object.spec.ports{port: 81, name: "b"}]}}' }, [POST(SERVICES, service(), only('spec.ports'))]),
  one('apply-secret', 'a Secret: data is base64', { rules: [rule('secrets', { operations: ['CREATE'] })], mutations: 'Object{data: {"b": "eA=="}, stringData: {"c": "y"}}' }, [POST('/api/v1/namespaces/$ns/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { a: 'eA==' } }, only('data', 'stringData'))]),
];

const faults = [
  ['unknown-field', 'a field that the kind does not have', 'Object{nothing: 1}'],
  ['unknown-deep', 'one further down', 'Object{metadata: Object.metadata{nothing: "x"}}'],
  ['wrong-type', 'a text where a map is wanted', 'Object{data: "a"}'],
  ['wrong-value', 'a number where a text is wanted', 'Object{data: {"a": 1}}'],
  ['wrong-bool', 'a text where a boolean is wanted', 'Object{immutable: "yes"}'],
  ['type-name', 'a type whose name is not the path of the field', 'Object{metadata: Object.meta{}}'],
  ['type-name-list', 'one in a list', 'Object{metadata: Object.metadata{ownerReferences: [Object.metadata.owners{}]}}'],
  ['null', 'null', 'Object{data: null}'],
  ['null-entry', 'null in a map', 'Object{data: {"a": null}}'],
  ['missing-key', 'an item without its key', 'Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{name: "a"}]}}'],
  ['duplicate-key', 'two items with a key', 'Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{uid: "1", name: "a"}, Object.metadata.ownerReferences{uid: "1", name: "b"}]}}'],
  ['duplicate-set', 'an item twice in a set', 'Object{metadata: Object.metadata{finalizers: ["example.com/a", "example.com/a"]}}'],
  ['int-key', 'a map with numbers as keys', 'Object{data: {1: "a"}}'],
  ['evaluation', 'an evaluation that fails', 'Object{data: {"b": object.data.nope}}'],
  ['kind', 'another kind', 'Object{kind: "Secret", apiVersion: "v2"}'],
  ['name', 'another name', 'Object{metadata: Object.metadata{name: "other"}}'],
  ['namespace', 'another namespace', 'Object{metadata: Object.metadata{namespace: "other"}}'],
  ['uid', 'a uid', 'Object{metadata: Object.metadata{uid: "7", resourceVersion: "8", generation: 9}}'],
  ['managed-fields', 'managedFields', 'Object{metadata: Object.metadata{managedFields: []}}'],
  ['invalid', 'what validation refuses', 'Object{data: {"not valid!": "x"}}'],
  ['timestamp', 'a timestamp in a field', 'Object{metadata: Object.metadata{annotations: {"t": timestamp("2024-01-01T00:00:00Z")}}}'],
  ['duration', 'a duration in a field', 'Object{metadata: Object.metadata{annotations: {"t": duration("1h")}}}'],
  ['bytes', 'bytes in binaryData', 'Object{binaryData: {"b": b"abc"}}'],
  ['binary', 'a text in binaryData', 'Object{binaryData: {"b": "YWJj"}}'],
  ['uint', 'an unsigned number', 'Object{metadata: Object.metadata{generation: 5u}}'],
  ['double', 'a number with a fraction', 'Object{metadata: Object.metadata{generation: 5.5}}'],
  ['type', 'a type as value', 'Object{metadata: Object.metadata{labels: {"a": type(1)}}}'],
  ['nested-map', 'a map in a map', 'Object{metadata: Object.metadata{labels: {"a": {"b": "c"}}}}'],
].map(([id, about, expression]) => onMap(`fault-${id}`, about, expression, [POST(CM, cm(), { pick: (b) => (b.kind === 'Status' ? b : { metadata: { ...b.metadata, managedFields: 0, uid: 0, creationTimestamp: 0, resourceVersion: 0 }, data: b.data ?? null, binaryData: b.binaryData ?? null }) })]));

const ignored = [
  one('apply-ignored', 'failurePolicy Ignore: a mutation that fails is left out, those around it are made', { failurePolicy: 'Ignore', mutations: ['Object{data: {"b": "1"}}', 'Object{nothing: 1}', 'Object{data: {"c": "1"}}'] }, [POST(CM, cm(), data)]),
  one('apply-two-faults', 'two mutations that fail: a cause each', { mutations: ['Object{nothing: 1}', 'Object{data: {"b": object.data.nope}}'] }, [POST(CM, cm())]),
  onPod('duplicate-env', 'an object that has an item twice already', container('name: "c", image: "x"'), pod('p', { containers: [{ name: 'c', image: 'img', env: [{ name: 'A', value: '1' }, { name: 'A', value: '2' }] }] })),
];

export default [...merges, ...faults, ...ignored];
