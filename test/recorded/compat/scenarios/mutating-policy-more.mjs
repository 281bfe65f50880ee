// MutatingAdmissionPolicy: values of all forms, more subresources, writes that change nothing, and apply among managers.
import { APPLY, DELETE, GET, PATCH, POST, PUT, SLEEP, scenario } from '../steps.ts';
import { CM, DEPLOYMENTS, PODS, cm, data, deployment, dry, only, pod, quiet, rule } from './kit/admission.mjs';
import { CRDS, GROUP, at, crd, object, serve, string, version, widget } from './kit/crd.mjs';
import { binding, cleanupOf, install, one, policy } from './kit/mutating-policy.mjs';

const spec = only('spec');
const pods = (o = {}) => [rule('pods', { operations: ['CREATE'], ...o })];
const onPod = (id, about, mutations, body = pod(), o = spec) => one(`more-${id}`, about, { rules: pods(), mutations }, [POST(PODS, body, o)]);
const containers = { pick: (b) => (b.kind === 'Status' ? b : b.spec.containers.map(({ name, image, args, env, resources, ports }) => ({ name, image, args: args ?? null, env: env ?? null, resources: resources ?? null, ports: ports ?? null }))) };

const values = [
  onPod('object-in-list', 'objects in an object as the value of a JSON patch', '[JSONPatch{op: "add", path: "/spec/securityContext", value: Object.spec.securityContext{sysctls: [Object.spec.securityContext.sysctls{name: "kernel.shm_rmid_forced", value: "1"}], runAsUser: 1000}}]'),
  onPod('maps-in-list', 'maps in a list of an apply configuration', 'Object{spec: Object.spec{containers: [{"name": "x", "image": "y"}]}}', pod(), containers),
  onPod('map-in-map', 'maps in maps of an apply configuration', 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{limits: {"cpu": "1"}}}]}}', pod(), containers),
  onPod('literal-in-literal', 'a map literal in a map literal', 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: {"limits": {"cpu": "1"}}}]}}', pod(), containers),
  onPod('json-literals', 'literals in literals as the value of a JSON patch', '[JSONPatch{op: "add", path: "/spec/containers/0/resources", value: {"limits": {"cpu": "1"}}}, JSONPatch{op: "add", path: "/spec/containers/0/args", value: ["a"] + ["b"]}]', pod(), containers),
  onPod('optional-items', 'optional items', 'Object{spec: Object.spec{containers: [?optional.none(), ?optional.of(Object.spec.containers{name: "o", image: "p"})]}}', pod(), containers),
  onPod('concatenated', 'lists that were added', 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "a", image: "p"}] + [Object.spec.containers{name: "b", image: "q"}]}}', pod(), containers),
  onPod('quantity-number', 'a number as a quantity', 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{limits: {"cpu": 2, "memory": 1000000}}}]}}', pod(), containers),
  onPod('quantity-wrong', 'a text that is no quantity', 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{limits: {"cpu": "many"}}}]}}', pod(), containers),
  onPod('port-by-name', 'an item whose key is a text where a number is wanted', 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", ports: [Object.spec.containers.ports{containerPort: "web"}]}]}}', pod(), containers),
  onPod('whole-number', 'a whole number with a fraction for an integer', 'Object{spec: Object.spec{terminationGracePeriodSeconds: 7.0}}'),
  onPod('from-params-of-object', 'values that were read from the object', 'Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name + "2", image: c.image, resources: Object.spec.containers.resources{limits: c.resources.limits}})}}', pod('p', { containers: [{ name: 'c', image: 'img', resources: { limits: { cpu: '1' } } }] }), containers),
  onPod('empty-lists', 'empty lists and maps', 'Object{spec: Object.spec{containers: [], initContainers: []}, metadata: Object.metadata{labels: {}}}', pod(), only('spec.containers', 'spec.initContainers', 'metadata.labels')),
  onPod('gates', 'scheduling gates, a list by key', 'Object{spec: Object.spec{schedulingGates: [Object.spec.schedulingGates{name: "example.com/g"}]}}', pod(), only('spec.schedulingGates')),
  one('more-time', 'a text for a time', { rules: [rule('events', { operations: ['CREATE'] })], mutations: 'Object{firstTimestamp: "2024-01-02T03:04:05Z", count: 3}' }, [POST('/api/v1/namespaces/$ns/events', { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: { namespace: '$ns', kind: 'Pod', name: 'p' } }, only('count', 'firstTimestamp'))]),
  one('more-timestamp', 'a timestamp for a time', { rules: [rule('events', { operations: ['CREATE'] })], mutations: 'Object{firstTimestamp: timestamp("2024-01-02T03:04:05Z")}' }, [POST('/api/v1/namespaces/$ns/events', { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: { namespace: '$ns', kind: 'Pod', name: 'p' } })]),
  one('more-wrong-time', 'a text that is no time', { rules: [rule('events', { operations: ['CREATE'] })], mutations: 'Object{firstTimestamp: "yesterday"}' }, [POST('/api/v1/namespaces/$ns/events', { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: { namespace: '$ns', kind: 'Pod', name: 'p' } })]),
  one('more-raw', 'a field that may hold anything is atomic', { rules: [rule('controllerrevisions', { operations: ['CREATE'], groups: ['apps'] })], mutations: 'Object{data: Object.data{a: 1}}' }, [POST('/apis/apps/v1/namespaces/$ns/controllerrevisions', { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'r' }, revision: 1, data: { b: 2 } })]),
];

const onMap = (id, about, mutations) => one(`more-${id}`, about, { mutations }, [POST(CM, cm(), data), POST(CM, cm('d', { a: '2' }), data)]);
const constructed = [
  onMap('conditional', 'one object or another', "object.data.a == '1' ? Object{data: {\"b\": \"one\"}} : Object{data: {\"c\": \"two\"}}"),
  onMap('conditional-empty', 'an object or nothing', "object.data.a == '1' ? Object{} : Object{data: {\"c\": \"two\"}}"),
  onMap('of-field', 'the field of an object that was constructed', 'Object{data: {"b": string(Object{a: object.data.a}.a), "has": string(has(Object{a: 1}.a)), "hasNot": string(has(Object{a: 1}.b))}}'),
  onMap('equal', 'objects that were constructed are compared', 'Object{data: {"same": string(Object{a: 1} == Object{a: 1}), "other": string(Object{a: 1} == Object{a: 2})}}'),
  onMap('type', 'the type of an object that was constructed', 'Object{data: {"type": string(type(Object{}) == Object)}}'),
  onMap('in-list', 'an object out of a list of objects', 'Object{data: {"b": string([Object.data{x: "1"}, Object.data{x: "2"}].filter(o, o.x == "2")[0].x)}}'),
  onMap('optional-object', 'an object in an optional', 'Object{?data: optional.of({"b": "2"})}'),
];

const writes = [
  one('more-nothing-changed', 'an update that the policy makes no change again', { mutations: 'Object{data: {"a": "1"}}' }, [POST(CM, cm(), { id: 'first', ...quiet }), PATCH(`${CM}/c`, 'merge', { data: { a: '9' } }), GET(`${CM}/c`)]),
  one('more-defended', 'a field that only the policy may set', { mutations: '[JSONPatch{op: "add", path: "/data/fixed", value: oldObject == null ? "x" : oldObject.data.fixed}]' }, [POST(CM, cm(), data), PATCH(`${CM}/c`, 'merge', { data: { fixed: 'y', b: '1' } }, data), PUT(`${CM}/c`, cm('c', { z: '1' }), data)]),
  one('more-managers', 'what a policy sets may be applied by anybody', { rules: [rule('configmaps', { operations: ['CREATE'] })], mutations: 'Object{data: {"p": "policy"}}' }, [APPLY(`${CM}/c`, 'one', cm()), APPLY(`${CM}/c`, 'two', cm('c', { p: 'mine' })), APPLY(`${CM}/c`, 'one', cm('c', {}))]),
  one('more-apply-update', 'an apply that the policy overrides', { mutations: 'Object{data: {"a": "policy"}}' }, [APPLY(`${CM}/c`, 'one', cm()), APPLY(`${CM}/c`, 'two', cm('c', { a: 'policy' })), APPLY(`${CM}/c`, 'two', cm('c', { a: 'x' }))]),
  one('more-deletion', 'an object that is being deleted', { rules: [rule('configmaps', { operations: ['UPDATE'] })], mutations: 'Object{data: {"deleting": string(has(object.metadata.deletionTimestamp))}}' }, [POST(CM, cm('c', {}, { finalizers: ['example.com/f'] }), data), DELETE(`${CM}/c`, undefined, quiet), PATCH(`${CM}/c`, 'merge', { data: { b: '1' } }, data), PATCH(`${CM}/c`, 'merge', { metadata: { finalizers: null } }, quiet), GET(`${CM}/c`, quiet)]),
  one('more-generation', 'a change by the policy alone raises the generation', { rules: [rule('deployments', { operations: ['UPDATE'], groups: ['apps'] })], mutations: 'Object{spec: Object.spec{replicas: 4}}' }, [POST(DEPLOYMENTS, deployment(), only('metadata.generation')), PATCH(`${DEPLOYMENTS}/d`, 'merge', { metadata: { labels: { a: 'b' } } }, only('metadata.generation', 'spec.replicas')), PATCH(`${DEPLOYMENTS}/d`, 'merge', { metadata: { labels: { a: 'c' } } }, only('metadata.generation', 'spec.replicas'))]),
  one('more-immutable', 'a change that an update may not make', { rules: [rule('pods', { operations: ['UPDATE'] })], mutations: 'Object{spec: Object.spec{serviceAccountName: "other"}}' }, [POST(PODS, pod(), quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, { pick: (b) => [b.code, b.reason, b.message?.slice(0, 120)] })]),
  one('more-resource-version', 'the resourceVersion of an update', { rules: [rule('configmaps', { operations: ['UPDATE'] })], mutations: 'Object{metadata: Object.metadata{resourceVersion: "1"}}' }, [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { data: { b: '1' } })]),
];

const subresources = [
  one('more-ephemeral', 'ephemeral containers', { rules: [rule('pods/ephemeralcontainers', { operations: ['UPDATE'] })], mutations: 'Object{spec: Object.spec{ephemeralContainers: [Object.spec.ephemeralContainers{name: "e", image: "debug"}]}}' }, [POST(PODS, pod(), quiet), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'f', image: 'x' }] } }, { pick: (b) => (b.kind === 'Status' ? b : b.spec.ephemeralContainers.map(({ name, image }) => ({ name, image }))) })]),
  one('more-resize', 'a resize', { rules: [rule('pods/resize', { operations: ['UPDATE'] })], mutations: 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{requests: {"cpu": "20m"}}}]}}' }, [POST(PODS, pod('p', { containers: [{ name: 'c', image: 'img', resources: { requests: { cpu: '5m' } } }] }), quiet), PATCH(`${PODS}/p/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '10m' } } }] } }, containers)]),
  one('more-json-eviction', 'an eviction by JSON patch', { rules: [rule('pods/eviction', { operations: ['CREATE'] })], mutations: '[JSONPatch{op: "add", path: "/deleteOptions", value: Object.deleteOptions{dryRun: ["All"]}}]' }, [POST(PODS, pod(), quiet), POST(`${PODS}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }, quiet), GET(`${PODS}/p`, quiet)]),
  one('more-json-token', 'a request for a token by JSON patch', { rules: [rule('serviceaccounts/token', { operations: ['CREATE'] })], mutations: '[JSONPatch{op: "replace", path: "/spec/expirationSeconds", value: 777}]' }, [POST('/api/v1/namespaces/$ns/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' } }, quiet), POST('/api/v1/namespaces/$ns/serviceaccounts/s/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 900 } }, only('spec.expirationSeconds'))]),
  one('more-access-review', 'reviews are not mutated', { rules: [rule('localsubjectaccessreviews', { operations: ['CREATE'], groups: ['authorization.k8s.io'] })], mutations: '[JSONPatch{op: "replace", path: "/spec/user", value: "other"}]' }, [POST('/apis/authorization.k8s.io/v1/namespaces/$ns/localsubjectaccessreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'LocalSubjectAccessReview', metadata: { namespace: '$ns' }, spec: { user: 'u', resourceAttributes: { namespace: '$ns', verb: 'get', resource: 'pods' } } }, only('spec.user'))]),
  one('more-dry-run-update', 'a dry run of an update', { mutations: 'Object{data: {"dry": string(request.dryRun)}}' }, [POST(CM, cm(), data), PATCH(`${CM}/c`, 'merge', { data: { b: '1' } }, { ...dry, ...data }), GET(`${CM}/c`, data)]),
];

const versions = crd({ versions: ['v1', 'v2', 'v3'].map((name) => version(name, { spec: object({ a: string(), b: string() }), storage: name === 'v2' })) });
const inVersion = (v, letter) => [policy({ name: `$ns-${v}`, rules: [rule('widgets', { groups: [GROUP], versions: [v], operations: ['CREATE'] })], mutations: `Object{metadata: Object.metadata{labels: {"${letter}": request.kind.version}}}` }), binding({ name: `$ns-${v}`, policyName: `$ns-${v}` })];
const acrossVersions = (id, about, objects, v) => scenario(`mutating-policy-more-${id}`, { section: '7', about, needs: 'mutating-policies', cleanup: [...cleanupOf(objects), `${CRDS}/${versions.metadata.name}`] }, [...serve(versions), ...install(...objects), SLEEP(6500), POST(at('', { v }), widget('w', { spec: { a: 'x' } }, { v }), only('apiVersion', 'metadata.labels', 'spec'))]);
const custom = [
  acrossVersions('v3-of-v1', 'a request in v3, a policy for v1', inVersion('v1', 'one'), 'v3'),
  acrossVersions('v1-of-v3', 'a request in v1, a policy for v3', inVersion('v3', 'three'), 'v1'),
  acrossVersions('v2-of-v2', 'a request in the version of the policy', inVersion('v2', 'two'), 'v2'),
];

export default [...values, ...constructed, ...writes, ...subresources, ...custom];
