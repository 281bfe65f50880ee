// ValidatingAdmissionPolicy: parameters. Most are ServiceAccounts, a kind that the server watches anyway, so that its view of them is never old for long.
import { POST, PATCH, DELETE } from '../steps.ts';
import { CM, cm, rule, policy, binding, guarded, quiet, dry, warned, data } from './kit/admission.mjs';

const paramKind = { apiVersion: 'v1', kind: 'ServiceAccount' };
const ACCOUNTS = '/api/v1/namespaces/$ns/serviceaccounts';
/** A parameter object; what it says stands in its annotations. */
const account = (name = 'p', annotations = { want: '2' }, labels = { app: 'x' }) => POST(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, annotations, labels } }, quiet);
const wants = { expression: "object.data.a == params.metadata.annotations.want", messageExpression: "'wanted ' + params.metadata.annotations.want + ' of ' + params.metadata.name" };
const byName = (o = {}) => ({ paramRef: { name: 'p', parameterNotFoundAction: 'Deny', ...o } });
const bySelector = (o = {}) => ({ paramRef: { selector: { matchLabels: { app: 'x' } }, parameterNotFoundAction: 'Deny', ...o } });
const one = (id, about, ref, steps, { before = [account()], settings = {}, actions, ...o } = {}) =>
  guarded(`policy-params-${id}`, about, [policy({ paramKind, validations: [wants], ...settings }), binding({ ...ref, ...(actions ? { actions } : {}) })], steps, { before, ...o });
const post = POST(CM, cm());
/** Repeats a dry run until it is answered with that status. */
const until = (status, o = {}) => ({ ...POST(CM, cm(), { ...dry, ...o }), kind: 'poll', ms: 8000, until: (_, s) => s === status });

const named = [
  one('name', 'a parameter by name, in the namespace of the request', byName(), [post, POST(CM, cm('d', { a: '2' }), data)]),
  one('name-and-namespace', 'a parameter by name and namespace', byName({ namespace: '$ns' }), [post]),
  one('missing-deny', 'a parameter that is not there: Deny', byName({ name: 'nope' }), [post]),
  one('missing-allow', 'a parameter that is not there: Allow', byName({ name: 'nope', parameterNotFoundAction: 'Allow' }), [POST(CM, cm(), data)]),
  one('missing-deny-ignore', 'Deny with failurePolicy Ignore', byName({ name: 'nope' }), [POST(CM, cm(), data)], { settings: { failurePolicy: 'Ignore' } }),
  one('missing-deny-warn', 'Deny in a binding that only warns denies all the same', byName({ name: 'nope' }), [POST(CM, cm(), warned)], { actions: ['Warn'] }),
  one('other-namespace', 'a parameter that is only in another namespace', byName({ namespace: 'default', name: '$ns-nope' }), [post]),
  one('changed', 'a changed parameter counts', byName(), [post, PATCH(`${ACCOUNTS}/p`, 'merge', { metadata: { annotations: { want: '1' } } }, quiet), until(201, quiet)]),
  one('deleted', 'a deleted parameter is missed', byName(), [post, DELETE(`${ACCOUNTS}/p`, undefined, quiet), { ...POST(CM, cm(), dry), kind: 'poll', ms: 8000, until: (b) => /no params found/.test(b?.message) }]),
  one('created-later', 'a parameter that comes later counts', byName(), [post, account('p', { want: '1' }), until(201, quiet)], { before: [] }),
];
const selected = [
  one('selector', 'a selector with one match', bySelector(), [post]),
  one('selector-several', 'several matches: all must hold', bySelector(), [post, POST(CM, cm('d', { a: '2' }), data)], { before: [account('p', { want: '2' }), account('q', { want: '2' })], settings: { validations: [{ expression: 'object.data.a == params.metadata.annotations.want', message: 'no' }] } }),
  one('selector-one-fails', 'several matches, one of which does not hold', bySelector(), [post], { before: [account('p', { want: '1' }), account('q', { want: '2' })] }),
  one('selector-warns', 'several matches that do not hold: a warning each', bySelector(), [POST(CM, cm(), { ...quiet, pickHeaders: (h) => ({ warnings: (h.warning ?? '').match(/wanted \d of \w/g)?.sort() }) })], { before: [account('p', { want: '2' }), account('q', { want: '3' })], actions: ['Warn'] }),
  one('selector-none-deny', 'a selector without a match: Deny', bySelector({ selector: { matchLabels: { app: 'y' } } }), [post]),
  one('selector-none-allow', 'a selector without a match: Allow', bySelector({ selector: { matchLabels: { app: 'y' } }, parameterNotFoundAction: 'Allow' }), [POST(CM, cm(), data)]),
  one('selector-empty', 'an empty selector matches all of the namespace', bySelector({ selector: {} }), [post], { before: [account('p', { want: '2' }, {})] }),
  one('selector-expressions', 'a selector with expressions', bySelector({ selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'z'] }] } }), [post]),
];
const odd = [
  one('no-ref', 'a binding without paramRef: params is null', {}, [post], { settings: { validations: [{ expression: 'params != null', messageExpression: "'params is null: ' + string(params == null)" }] } }),
  one('no-ref-used', 'a binding without paramRef: a field of params is an error', {}, [post]),
  guarded('policy-params-no-kind', 'a paramRef without paramKind is ignored', [policy({ validations: [{ expression: 'false', message: 'no params here' }] }), binding(byName({ name: 'nope' }))], [post]),
  one('type-meta', 'kind and apiVersion of a parameter', byName(), [post], { settings: { validations: [{ expression: 'false', messageExpression: "params.apiVersion + ' ' + params.kind + ' ' + params.metadata.namespace" }] } }),
  one('missing-key', 'a key that the parameter lacks', byName(), [post], { settings: { validations: ['object.data.a == params.metadata.annotations.nope'] } }),
  one('match-condition', 'match conditions may use params', byName(), [post, POST(CM, cm('d', { a: '2' }), data)], { settings: { matchConditions: [{ name: 'c', expression: 'object.data.a != params.metadata.annotations.want' }], validations: [{ expression: 'false', message: 'matched' }] } }),
  one('variables', 'variables may use params', byName(), [post], { settings: { variables: [{ name: 'want', expression: 'params.metadata.annotations.want' }], validations: [{ expression: 'object.data.a == variables.want', messageExpression: "'want is ' + variables.want" }] } }),
  guarded('policy-params-two-bindings', 'two bindings with a parameter each', [policy({ paramKind, validations: [wants] }), binding({ ...byName(), actions: ['Warn'] }), binding({ name: '$ns-binding-2', ...byName({ name: 'q' }), actions: ['Warn'] })], [POST(CM, cm(), { ...quiet, pickHeaders: (h) => ({ warnings: (h.warning ?? '').match(/wanted \d of \w/g)?.sort() }) })], { before: [account('p', { want: '2' }), account('q', { want: '3' })] }),
];
const PRIORITY = '/apis/scheduling.k8s.io/v1/priorityclasses';
const priority = POST(PRIORITY, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: '$ns-p', labels: { owner: '$ns' } }, value: 7 }, quiet);
const cluster = { before: [priority], cleanup: [`${PRIORITY}/$ns-p`], settings: { paramKind: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' }, validations: [{ expression: 'object.data.a == string(params.value)', messageExpression: "'wanted ' + string(params.value)" }] } };
const scoped = [
  one('cluster-scoped', 'a cluster-scoped parameter', { paramRef: { name: '$ns-p', parameterNotFoundAction: 'Deny' } }, [post, POST(CM, cm('d', { a: '7' }), data)], cluster),
  one('cluster-scoped-selector', 'cluster-scoped parameters by selector', { paramRef: { selector: { matchLabels: { owner: '$ns' } }, parameterNotFoundAction: 'Deny' } }, [post], cluster),
  one('cluster-scoped-namespace', 'a namespace for a cluster-scoped parameter', { paramRef: { name: '$ns-p', namespace: '$ns', parameterNotFoundAction: 'Deny' } }, [post], cluster),
  guarded('policy-params-of-cluster-scoped', 'a namespaced parameter for a cluster-scoped object needs a namespace', [policy({ paramKind, rules: [rule('priorityclasses', { groups: ['scheduling.k8s.io'] })], constraints: { namespaceSelector: {}, objectSelector: { matchLabels: { owner: '$ns' } } }, validations: 'true' }), binding({ ...byName(), resources: { namespaceSelector: {}, objectSelector: { matchLabels: { owner: '$ns' } } } })], [priority].map((s) => ({ ...s, compare: undefined })), { before: [account()], cleanup: [`${PRIORITY}/$ns-p`] }),
];
const unknown = [
  ['kind', { apiVersion: 'v1', kind: 'Nothing' }], ['version', { apiVersion: 'v9', kind: 'ServiceAccount' }], ['group', { apiVersion: '$ns.example.com/v1', kind: 'Widget' }],
].flatMap(([id, kind]) => [
  one(`unknown-${id}`, `a paramKind that is not served (${id})`, byName(), [post], { settings: { paramKind: kind } }),
  ...(id === 'kind' ? [one('unknown-kind-ignore', 'the same with failurePolicy Ignore', byName(), [POST(CM, cm(), data)], { settings: { paramKind: kind, failurePolicy: 'Ignore' } }), one('unknown-kind-not-matching', 'the same for a request that does not match', byName(), [POST('/api/v1/namespaces/$ns/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }, quiet)], { settings: { paramKind: kind } })] : []),
]);

export default [...named, ...selected, ...odd, ...scoped, ...unknown];
