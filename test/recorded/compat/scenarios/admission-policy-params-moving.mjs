// ValidatingAdmissionPolicy: parameters, policies and bindings that change and vanish between requests.
import { APPLY, DELETE, PATCH, POST, PUT } from '../steps.ts';
import { CM, REG, binding, cm, dry, guarded, policy, quiet } from './kit/admission.mjs';

const paramKind = { apiVersion: 'v1', kind: 'ServiceAccount' };
const ACCOUNTS = '/api/v1/namespaces/$ns/serviceaccounts';
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const body = (name, want, labels = { app: 'x' }) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, annotations: want === undefined ? {} : { want }, labels } });
const account = (name = 'p', want = '2', labels) => POST(ACCOUNTS, body(name, want, labels), quiet);
const wants = { expression: "object.data.a == params.metadata.annotations.want", messageExpression: "'wanted ' + params.metadata.annotations.want + ' of ' + params.metadata.name" };
const byName = (o = {}) => ({ paramRef: { name: 'p', parameterNotFoundAction: 'Deny', ...o } });
const bySelector = (o = {}) => ({ paramRef: { selector: { matchLabels: { app: 'x' } }, parameterNotFoundAction: 'Deny', ...o } });
const one = (id, about, ref, steps, { before = [account()], settings = {}, actions, ...o } = {}) =>
  guarded(`policy-moving-${id}`, about, [policy({ paramKind, validations: [wants], ...settings }), binding({ ...ref, ...(actions ? { actions } : {}) })], steps, { before, ...o });
const outcome = { pick: (b) => (b?.kind === 'Status' ? b.message : 'accepted') };
const post = (values = { a: '1' }) => POST(CM, cm('c', values), { ...dry, ...outcome });
/** Repeats a dry run until the answer says so, or, for null, until it is accepted. */
const until = (text, values = { a: '1' }) => ({ ...POST(CM, cm('c', values), { ...dry, ...outcome }), kind: 'poll', ms: 10000, until: (b, s) => (text === null ? s === 201 : b?.message?.includes(text) === true) });
const change = (name, fields) => PATCH(`${ACCOUNTS}/${name}`, 'merge', { metadata: fields }, quiet);
const want = (name, value) => change(name, { annotations: { want: value } });
const remove = (name) => DELETE(`${ACCOUNTS}/${name}`, undefined, quiet);
const ofBinding = (spec) => PATCH(`${REG}/validatingadmissionpolicybindings/$ns-binding`, 'merge', { spec }, quiet);
const ofPolicy = (spec) => PATCH(`${REG}/validatingadmissionpolicies/$ns-policy`, 'merge', { spec }, quiet);

export default [
  one('there-and-back', 'a parameter that changes twice', byName(), [post(), want('p', '1'), until(null), want('p', '2'), until('wanted 2')]),
  one('replaced', 'a parameter that is deleted and made anew', byName(), [post(), remove('p'), until('no params found'), account('p', '1'), until(null)]),
  one('replaced-put', 'a parameter that is replaced', byName(), [post(), PUT(`${ACCOUNTS}/p`, body('p', '3'), quiet), until('wanted 3')]),
  one('applied', 'a parameter that is applied', byName(), [post(), APPLY(`${ACCOUNTS}/p`, 'm', body('p', '4'), { force: true, ...quiet }), until('wanted 4')]),
  one('loses-key', 'a parameter that loses what the expression reads', byName(), [post(), want('p', null), until('no such key')]),
  one('loses-key-ignored', 'the same with failurePolicy Ignore', byName(), [post(), want('p', null), until(null)], { settings: { failurePolicy: 'Ignore' } }),
  one('vanishes-allow', 'one that vanishes: Allow', byName({ parameterNotFoundAction: 'Allow' }), [post(), remove('p'), until(null)]),
  one('vanishes-ignored', 'one that vanishes: failurePolicy Ignore', byName(), [post(), remove('p'), until(null)], { settings: { failurePolicy: 'Ignore' } }),
  one('selector-more', 'a selector selects one more', bySelector(), [post({ a: '2' }), account('q', '3'), until('wanted 3 of q', { a: '2' })]),
  one('selector-fewer', 'a selector selects one less', bySelector(), [post({ a: '2' }), remove('q'), until(null, { a: '2' })], { before: [account(), account('q', '3')] }),
  one('selector-relabelled', 'a parameter that gets and loses the label', bySelector(), [post({ a: '2' }), change('q', { labels: { app: 'x' } }), until('wanted 3 of q', { a: '2' }), change('q', { labels: { app: null } }), until(null, { a: '2' })], { before: [account(), account('q', '3', {})] }),
  one('selector-none-left', 'the last one goes: Deny', bySelector(), [post(), change('p', { labels: { app: 'z' } }), until('no params found')]),
  one('selector-none-left-allow', 'the last one goes: Allow', bySelector({ parameterNotFoundAction: 'Allow' }), [post(), remove('p'), until(null)]),
  one('finalizer', 'one that is about to vanish counts until it has', byName(), [post(), change('p', { finalizers: ['example.com/wait'] }), remove('p'), post(), change('p', { finalizers: null }), until('no params found')]),
  one('other-name', 'a binding that names another parameter', byName(), [post(), ofBinding({ paramRef: { name: 'q' } }), until('wanted 5 of q')], { before: [account(), account('q', '5')] }),
  one('no-longer-named', 'a binding that names none any more', byName(), [post(), ofBinding({ paramRef: null }), until('no such overload')]),
  one('to-selector', 'a binding that goes from a name to a selector', byName(), [post(), ofBinding({ paramRef: { name: null, selector: { matchLabels: { app: 'y' } } } }), until('wanted 6 of r')], { before: [account(), account('r', '6', { app: 'y' })] }),
  one('other-kind', 'a policy that takes another kind of parameter', byName({ name: '$ns-p' }), [post(), ofPolicy({ paramKind: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' }, validations: [{ expression: 'object.data.a == string(params.value)', messageExpression: "'wanted ' + string(params.value)" }] }), until('wanted 7')], { before: [account('$ns-p', '2'), POST(CLASSES, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: '$ns-p' }, value: 7 }, quiet)], cleanup: [`${CLASSES}/$ns-p`] }),
  one('other-expression', 'a policy whose expression changes', byName(), [post(), ofPolicy({ validations: [{ expression: 'params.metadata.annotations.want == "9"', message: 'not nine' }] }), until('not nine'), want('p', '9'), until(null)]),
  one('unbound', 'a binding that goes', byName(), [post(), DELETE(`${REG}/validatingadmissionpolicybindings/$ns-binding`, undefined, quiet), until(null)]),
];
