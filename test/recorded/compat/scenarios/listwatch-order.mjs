// Which of several faults of a read is told, lists that are a look at one name, and conditions of deletions in the query.
import { scenario, GET, POST, DELETE } from '../steps.ts';
import { CM, EVENTS, cm, event, make, names, q, update } from './kit/listwatch.mjs';
import { at, crd, object, string, widget, withCrd } from './kit/crd.mjs';

const s = (id, about, steps, o = {}) => scenario(`listwatch-order-${id}`, { section: '4.3', about, ...o }, steps);
const yaml = { headers: { accept: 'application/yaml' } };
const faults = {
  'unknown-field': { fieldSelector: 'spec.nodeName=n' },
  'broken-selector': { labelSelector: '!!' },
  'broken-fields': { fieldSelector: 'a' },
  match: { resourceVersionMatch: 'Nope' },
  version: { resourceVersion: 'x' },
  limit: { limit: 'x' },
  continue: { continue: 'x' },
};
const pairs = Object.keys(faults).flatMap((a, i, all) => all.slice(i + 1).map((b) => [a, b])).filter(([a, b]) => !(a === 'unknown-field' && b === 'broken-fields'));
const verbs = {
  list: (params, o) => GET(q(CM, params), o),
  watch: (params, o) => GET(q(CM, { watch: 'true', timeoutSeconds: '1', ...params }), o),
  deletes: (params, o) => DELETE(q(CM, params), undefined, o),
};

const orders = Object.entries(verbs).flatMap(([verb, ask]) =>
  pairs.map(([a, b]) => s(`${verb}-${a}-${b}`, `${verb} with two faults: ${a} and ${b}`, [ask({ ...faults[a], ...faults[b] })])));
const accepts = Object.entries(verbs).flatMap(([verb, ask]) => [
  ...Object.entries(faults).map(([id, params]) => s(`${verb}-yaml-${id}`, `${verb} as YAML, which cannot be streamed, with a fault: ${id}`, [ask(params, yaml)])),
  ...Object.entries(faults).map(([id, params]) => s(`${verb}-no-type-${id}`, `${verb} in a form that nobody has, with a fault: ${id}`, [ask(params, { headers: { accept: 'text/csv' } })])),
]);

const seen = (b) => ({ names: names(b), data: b.items?.map((i) => i.data ?? null), continue: b.metadata?.continue !== undefined, remaining: b.metadata?.remainingItemCount ?? null });
const three = [...make(CM, cm('a', undefined, { data: { k: '1' } }), cm('b')), update(`${CM}/a`, { data: { k: '2' } })];
const name = 'metadata.name=a', rv = '${made_b.metadata.resourceVersion}';
const oneName = [
  ['limit', { limit: '500', resourceVersion: rv }], ['limit-1', { limit: '1', resourceVersion: rv }], ['no-limit', { resourceVersion: rv }],
  ['exact', { limit: '500', resourceVersion: rv, resourceVersionMatch: 'Exact' }], ['not-older', { limit: '500', resourceVersion: rv, resourceVersionMatch: 'NotOlderThan' }],
].map(([id, params]) => s(`one-name-${id}`, 'a list of one name at a version', [...three, GET(q(CM, { fieldSelector: name, ...params }), { pick: seen })]));
const otherNames = [
  s('one-name-label', 'a list of one name and a label at a version', [...three, GET(q(CM, { fieldSelector: name, labelSelector: '!x', limit: '500', resourceVersion: rv }), { pick: seen })]),
  s('one-name-and-namespace', 'a list of one name in a namespace named by the selector', [...three, GET(q('/api/v1/configmaps', { fieldSelector: `${name},metadata.namespace=$ns`, limit: '500', resourceVersion: rv }), { pick: seen })]),
  s('not-that-name', 'a list of all names but one at a version', [...three, GET(q(CM, { fieldSelector: 'metadata.name!=b', limit: '500', resourceVersion: rv }), { pick: seen })]),
  s('one-name-event', 'a list of one event at a version', [...make(EVENTS, event('a'), event('b')), update(`${EVENTS}/a`, { reason: 'R2' }), GET(q(EVENTS, { fieldSelector: name, limit: '500', resourceVersion: rv }), { pick: (b) => b.items?.map((i) => i.reason) })]),
];

/** The token that an expired one is answered with: from this name on, of whatever is there now. */
const latestFrom = (start) => Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: -1, start })).toString('base64url');
const counted = (b) => ({ names: names(b), remaining: b.metadata?.remainingItemCount ?? null });
const pages = [
  s('continue-latest', 'a list that goes on at the latest state: what remains', [
    ...make(CM, ...['a', 'b', 'c', 'd', 'e', 'f'].map((n) => cm(n))), GET(q(CM, { limit: '2', continue: latestFrom('b\u0000') }), { pick: counted, id: 'p' }),
    GET(q(CM, { limit: '3', continue: latestFrom('c\u0000') }), { pick: counted }), GET(q(CM, { continue: latestFrom('c\u0000') }), { pick: counted }),
  ]),
];

const left = GET(CM, { pick: names });
const conditions = [
  s('deletes-empty-version', 'a collection is deleted with an empty version or uid', [...make(CM, cm('a')), DELETE(`${CM}?resourceVersion=`, undefined, { compare: 'status' }), left, ...make(CM, cm('b')), DELETE(`${CM}?uid=`, undefined, { compare: 'status' }), left]),
  s('deletes-version', 'a collection is deleted with the version of one of its objects', [...make(CM, cm('a'), cm('b')), DELETE(`${CM}?resourceVersion=\${made_a.metadata.resourceVersion}`, undefined, { pick: (b) => b.kind }), left]),
  s('delete-empty-version', 'an object is deleted with an empty version or uid', [...make(CM, cm('a'), cm('b')), DELETE(`${CM}/a?resourceVersion=`, undefined, { compare: 'status' }), DELETE(`${CM}/b?uid=`, undefined, { compare: 'status' }), left]),
  s('delete-empty-in-body', 'an object is deleted with an empty version or uid in the body', [...make(CM, cm('a'), cm('b')), DELETE(`${CM}/a`, { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { resourceVersion: '' } }, { pick: (b) => b.message ?? b.status }), DELETE(`${CM}/b`, { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: '' } }, { pick: (b) => b.message ?? b.status }), left]),
];

const head = (path, o) => GET(path, { method: 'HEAD', compareHeaders: ['content-type', 'cache-control', 'warning'], ...o });
const spec = object({ a: string() });
const heads = [
  withCrd('crd-head', { section: '4.7', about: 'HEAD of custom objects and their lists' }, crd({ spec }), [
    POST(at(), widget('w', { spec: { a: 'x' } }), { compare: 'status' }), head(at('w')), head(at('none')), head(at()), head(at('', { cluster: true })), head(`${at()}?limit=x`), head(at('w', { v: 'v2' })), head(`${at('w')}/status`),
  ]),
  s('head-built-in', 'HEAD of built-in objects', [...make(CM, cm('a')), head(CM), head(`${CM}/a`), head('/api/v1/configmaps')]),
];

export default [...orders, ...accepts, ...oneName, ...otherNames, ...pages, ...conditions, ...heads];
