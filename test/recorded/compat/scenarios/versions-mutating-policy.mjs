// MutatingAdmissionPolicy and its bindings, which only --runtime-config serves: what they look like and what is refused.
import { kind, table } from './kit/kinds-groups.mjs';
import { APPLY, DELETE, GET, PATCH, POST, PUT, scenario } from '../steps.ts';

const needs = 'all-versions';
const apiVersion = 'admissionregistration.k8s.io/v1alpha1';
const needing = (scenarios) => scenarios.map((one) => ({ ...one, needs }));
const rule = (o = {}) => ({ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'], ...o });
const apply = (expression) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patch = (expression) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const spec = (o = {}) => ({ matchConstraints: { resourceRules: [rule()] }, mutations: [apply('Object{}')], reinvocationPolicy: 'Never', ...o });
const made = (...list) => list.map((expression) => ({ 'spec.mutations': [apply(expression)] }));
const patched = (...list) => list.map((expression) => ({ 'spec.mutations': [patch(expression)] }));

const policies = kind({ apiVersion, resource: 'mutatingadmissionpolicies', kind: 'MutatingAdmissionPolicy', cluster: true, base: { spec: spec() }, label: 'versions-mutatingpolicy' });
const bindings = kind({ apiVersion, resource: 'mutatingadmissionpolicybindings', kind: 'MutatingAdmissionPolicyBinding', cluster: true, base: { spec: { policyName: 'none' } }, label: 'versions-mutatingbinding' });

const life = (plural, kindName, object, edit) => {
  const root = `/apis/${apiVersion}/${plural}`;
  const item = `${root}/$ns-x`;
  const body = { apiVersion, kind: kindName, metadata: { name: '$ns-x', labels: { l: '$ns' } }, spec: object };
  return scenario(`versions-${kindName.toLowerCase()}-life`, { section: '9.1', about: `${kindName}: create, get, list, table, patch, apply, put, delete`, needs, cleanup: [item] }, [
    POST(root, body), POST(root, body), GET(item), GET(root, { query: { labelSelector: 'l=$ns' } }), table(item),
    PATCH(item, 'merge', edit), PATCH(item, 'merge', edit), PATCH(item, 'merge', { metadata: { labels: { a: 'b' } } }),
    APPLY(item, 'm', { ...body, metadata: { name: '$ns-x', labels: { applied: 'yes' } } }, { force: true }),
    GET(item, { id: 'last' }), PUT(item, { ...body, metadata: { name: '$ns-x' } }),
    PUT(item, { ...body, metadata: { name: '$ns-x', resourceVersion: '${last.metadata.resourceVersion}' } }),
    GET(`${item}/status`), GET(root, { query: { fieldSelector: 'spec.nothing=1' } }), DELETE(item), GET(item),
  ]);
};

const param = { apiVersion: 'v1', kind: 'ConfigMap' };

export default [
  life('mutatingadmissionpolicies', 'MutatingAdmissionPolicy', spec(), { spec: { failurePolicy: 'Ignore' } }),
  life('mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding', { policyName: 'none' }, { spec: { policyName: 'other' } }),
  ...needing([
    ...policies.creates({
      whole: { spec: spec({ paramKind: param, failurePolicy: 'Ignore', reinvocationPolicy: 'IfNeeded', variables: [{ name: 'n', expression: '3' }], mutations: [apply('Object{spec: Object.spec{replicas: variables.n}}'), patch('[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: "c"}]')] }) },
      conditions: { spec: spec({ paramKind: param, matchConditions: [{ name: 'c', expression: 'object.spec.replicas > params.data.n' }], mutations: [apply('Object{spec: Object.spec{replicas: params.data.n}}')] }) },
    }),
    ...policies.accepts({
      objects: made('Object{spec: Object.spec{replicas: object.spec.replicas + 1}}', 'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "a", image: "b"}]}}}}', 'Object{metadata: Object.metadata{annotations: {"a": "b"}, ?labels: optional.of({"c": "d"})}}', ' Object{} ', '.Object{}', 'has(object.spec) ? Object{} : Object{spec: Object.spec{}}', 'object.spec.replicas == 1 ? Object{a: 1} : Object{a: "b"}', 'Object{spec: Object.wrong{}}', 'Object{a: Object{}.b}', 'Object{a: Object{b: [1]}.b.size()}'),
      patches: patched('[JSONPatch{op: "test", path: "/spec/replicas", value: 1}, JSONPatch{op: "replace", path: "/spec/replicas", value: 3}]', '[JSONPatch{op: "move", from: "/a", path: "/b"}]', '[JSONPatch{}]', '[JSONPatch{op: "none", path: "no path", value: Object.spec{a: 1}}]', 'object.spec.items.map(i, JSONPatch{op: "remove", path: "/" + string(i)})', 'has(object.a) ? [JSONPatch{op: "remove", path: "/a"}] : [JSONPatch{}]', '[JSONPatch{?value: optional.none()}]', '[JSONPatch{op: object.a, value: dyn(1)}]'),
    }),
    ...policies.refuses({
      objects: made('', '  ', 'Object{', 'Objects{}', 'Object.spec{}', 'JSONPatch{}', '[Object{}]', '{}', 'object', '1', 'null', 'dyn(Object{})', 'Object', 'Object.spec', 'Object{a: b}', 'Objects{a: b}', 'Object{?a: 1}', 'Object{a: [1, "b"]}', 'Object{a: [Object.a{}, Object.b{}]}', 'string{}', 'request{}', 'int{a: 1}', 'Object{} == 1', 'Object{}.a.b()', 'Object{a: 1 + "b"}', 'Object{a: variables.none}', 'Object{a: params}', 'Object{a: "a".matches("(")}'),
      patches: patched('', '[]', 'JSONPatch{}', '[JSONPatch{op: 1}]', '[JSONPatch{path: 1, from: true}]', '[JSONPatch{?op: optional.of(1)}]', '[Object{}]', '[JSONPatch{}, Object{}]', '[dyn(JSONPatch{})]', '[JSONPatch{value: none}]', '[JSONPatch{path: jsonpatch.escapeKey(1)}]', '[JSONPatch{path: jsonpatch.other("a")}]', '[JSONPatch{path: null}]', '[null]', '[[JSONPatch{}]]', '[JSONPatch{path: JSONPatch{}}]'),
      mutations: [{ 'spec.mutations': undefined }, { 'spec.mutations': [{}] }, { 'spec.mutations': [{ patchType: 'Merge' }] }, { 'spec.mutations': [{ patchType: 'JSONPatch' }] }, { 'spec.mutations': [{ patchType: 'ApplyConfiguration' }] }, { 'spec.mutations': [{ ...apply('Object{}'), jsonPatch: { expression: '[JSONPatch{}]' } }] }, { 'spec.mutations': [{ patchType: 'JSONPatch', applyConfiguration: { expression: 'none' } }] }, { 'spec.mutations': [{ patchType: 'JSONPatch', jsonPatch: {} }] }, { 'spec.mutations': [apply('a'), patch('b')] }],
      fields: [{ 'spec.failurePolicy': 'Never' }, { 'spec.reinvocationPolicy': undefined }, { 'spec.reinvocationPolicy': 'Always' }, { 'spec.paramKind': { apiVersion: 'a/b/c', kind: 'D_' } }, { 'spec.matchConstraints': undefined }, { 'spec.matchConstraints': {} }, { 'spec.matchConstraints.resourceRules': [rule({ operations: ['DELETE'] }), rule({ operations: ['CREATE', 'DELETE', 'NONE'] })], 'spec.matchConditions': [{ name: 'a', expression: 'none' }] }, { 'spec.matchConstraints.resourceRules': [rule({ operations: ['*'] })], 'spec.matchConstraints.excludeResourceRules': [rule({ operations: ['DELETE'] })], 'spec.reinvocationPolicy': '' }, { spec: undefined }, { 'metadata.name': 'A_b' }],
      conditions: [{ 'spec.matchConditions': [{ name: 'a', expression: 'Object{}' }, { name: 'a', expression: 'variables.a == 1' }, { name: '', expression: 'params == 1' }] }, { 'spec.variables': [{ name: 'a', expression: 'Object{}' }] }, { 'spec.variables': [{ name: 'a', expression: '1' }, { name: 'b', expression: 'variables.a + "c"' }, { name: 'in', expression: '' }], 'spec.mutations': [apply('Object{a: variables.a + "d"}')] }],
    }),
    ...policies.updates({ spec: [{ spec: { mutations: [patch('[]')] } }, { spec: { reinvocationPolicy: 'IfNeeded' } }, { spec: { mutations: [] } }, { spec: { matchConditions: [{ name: 'a', expression: '1' }] } }] }),
    ...policies.puts(),
    ...bindings.creates({ whole: { spec: { policyName: 'a.b', paramRef: { name: 'p', namespace: 'n', parameterNotFoundAction: 'Deny' }, matchResources: { resourceRules: [rule()] } } } }),
    ...bindings.refuses({
      fields: [{ 'spec.policyName': undefined }, { 'spec.policyName': 'A_' }, { spec: undefined }, { 'spec.paramRef': {} }, { 'spec.paramRef': { name: 'a', selector: {}, parameterNotFoundAction: 'Ask' } }, { 'spec.matchResources': { resourceRules: [rule({ operations: ['DELETE', 'UPDATE'] }), {}] } }, { 'spec.matchResources': { matchPolicy: 'Some' } }],
    }),
    ...bindings.updates({ spec: [{ spec: { policyName: '' } }, { spec: { policyName: 'other' } }] }),
    ...bindings.puts(),
  ]),
];
