// Lists in pages: limit and continue.
import { scenario, GET, SLEEP } from '../steps.ts';
import { CM, PODS, SECRETS, EVENTS, NODES, q, cm, pod, secret, event, node, update, remove, tick, LIST, make } from './kit/listwatch.mjs';

const five = ['a', 'b', 'c', 'd', 'e'];
const setup = (all = five) => [...make(CM, ...all.map((n) => cm(n))), tick()];
/** The pages of a list: the first with `params`, then one for each further set of parameters, which replace them. */
const pages = (path, first, ...more) => [LIST(path, first, { id: 'page0', listRv: true }),
  ...more.map((m, i) => LIST(path, { ...m, continue: `\${page${i}.metadata.continue}` }, { id: `page${i + 1}`, listRv: true }))];
const token = (o) => Buffer.from(typeof o === 'string' ? o : JSON.stringify(o)).toString('base64url');

const badTokens = {
  'not-base64': '%%%', 'not-json': token('not json'), 'empty-object': token({}), 'other-format-version': token({ v: 'meta.k8s.io/v9', rv: 5, start: 'a\0' }),
  'no-version': token({ v: 'meta.k8s.io/v1', start: 'a\0' }), 'zero-version': token({ v: 'meta.k8s.io/v1', rv: 0, start: 'a\0' }), 'no-start': token({ v: 'meta.k8s.io/v1', rv: 5 }),
  'empty-start': token({ v: 'meta.k8s.io/v1', rv: 5, start: '' }), 'start-outside': token({ v: 'meta.k8s.io/v1', rv: 5, start: '../other/a\0' }), 'start-double-slash': token({ v: 'meta.k8s.io/v1', rv: 5, start: 'a//b\0' }),
  'version-as-text': token({ v: 'meta.k8s.io/v1', rv: '5', start: 'a\0' }), padded: Buffer.from('{"v":"meta.k8s.io/v1","rv":5,"start":"a\\u0000"').toString('base64'), 'standard-alphabet': 'a+/b', word: 'garbage', future: token({ v: 'meta.k8s.io/v1', rv: 999999999, start: 'a\0' }),
};

const badLimits = { word: 'abc', fraction: '1.5', 'too-large': '99999999999999999999', hex: '0x10', space: ' 1', exponent: '1e2' };

const onNodes = () => [...make(PODS, ...[['a', 'n1'], ['b', 'n2'], ['c', 'n1'], ['d', 'n1'], ['e', 'n3']].map(([name, nodeName]) => pod(name, undefined, { nodeName }))), tick(), SLEEP(300)];
const byNode = (id, about, ...steps) => scenario(`page-by-node-${id}`, { section: '4.6', about }, [...onNodes(), ...steps]);
const n1 = { fieldSelector: 'spec.nodeName=n1' };

export default [
  byNode('one', 'one of three on a node, then the others', ...pages(PODS, { ...n1, limit: '1' }, { ...n1, limit: '1' }, { ...n1, limit: '1' })),
  byNode('two', 'two of three on a node, then the other', ...pages(PODS, { ...n1, limit: '2' }, { ...n1, limit: '2' })),
  byNode('all', 'as many as there are on a node, and more', LIST(PODS, { ...n1, limit: '3' }), LIST(PODS, { ...n1, limit: '4' }), LIST(PODS, { fieldSelector: 'spec.nodeName=n2', limit: '1' }), LIST(PODS, { fieldSelector: 'spec.nodeName=n3', limit: '1' })),
  byNode('memory', 'with a version: from memory or not', LIST(PODS, { ...n1, limit: '1', resourceVersion: '0' }), LIST(PODS, { fieldSelector: 'spec.nodeName=n2', limit: '1', resourceVersion: '${made_e.metadata.resourceVersion}' }), LIST(PODS, { fieldSelector: 'spec.nodeName=n2', limit: '1', resourceVersion: '${made_e.metadata.resourceVersion}', resourceVersionMatch: 'Exact' })),
  byNode('other', 'by a field that is no index: phase, and not the node', LIST(PODS, { fieldSelector: 'spec.nodeName!=n1', limit: '1' }), LIST(PODS, { fieldSelector: 'status.phase=Pending', limit: '4' }), LIST(PODS, { fieldSelector: 'status.phase=Running', limit: '1' }), LIST(PODS, { fieldSelector: 'spec.nodeName=n1,status.phase=Running', limit: '1' })),
  byNode('name', 'by name', LIST(PODS, { fieldSelector: 'metadata.name=a', limit: '1' }), LIST('/api/v1/pods', { fieldSelector: 'metadata.name=a,metadata.namespace=$ns', limit: '1' })),
  scenario('page-chunks-of-two', { section: '4.6', about: 'five items in pages of two: the version stays, remainingItemCount counts down and is absent on the last page' }, [
    ...setup(), ...pages(CM, { limit: '2' }, { limit: '2' }, { limit: '2' })]),
  scenario('page-chunks-of-one', { section: '4.6', about: 'three items in pages of one' }, [...setup(['a', 'b', 'c']), ...pages(CM, { limit: '1' }, { limit: '1' }, { limit: '1' })]),
  scenario('page-full-bodies', { section: '4.6', about: 'the items of every page in full' }, [
    ...setup(['a', 'b']), GET(q(CM, { limit: '1' }), { id: 'p' }), GET(q(CM, { limit: '1', continue: '${p.metadata.continue}' }))]),
  scenario('page-exact-multiple', { section: '4.6', about: 'four items in pages of two: the second page has no token' }, [...setup(['a', 'b', 'c', 'd']), ...pages(CM, { limit: '2' }, { limit: '2' })]),
  scenario('page-limit-equals-count', { section: '4.6', about: 'a limit of exactly the number of items gives the whole list without token' }, [...setup(), LIST(CM, { limit: '5' })]),
  scenario('page-limit-one-less', { section: '4.6', about: 'a limit one below the number of items leaves one' }, [...setup(), ...pages(CM, { limit: '4' }, { limit: '4' })]),
  scenario('page-limit-above-count', { section: '4.6', about: 'a limit above the number of items gives the whole list without token' }, [...setup(), LIST(CM, { limit: '6' }), LIST(CM, { limit: '9223372036854775807' })]),
  scenario('page-empty-collection', { section: '4.6', about: 'a limit on an empty collection' }, [GET(q(CM, { limit: '1' }))]),
  scenario('page-limit-zero', { section: '4.6', about: 'limit=0 means no limit' }, [...setup(), LIST(CM, { limit: '0' })]),
  scenario('page-limit-empty', { section: '4.6', about: 'an empty limit' }, [...setup(), LIST(CM, { limit: '' })]),
  scenario('page-limit-negative', { section: '4.6', about: 'a negative limit' }, [...setup(), LIST(CM, { limit: '-1' }), LIST(CM, { limit: '-1', resourceVersion: '0' })]),
  ...Object.entries(badLimits).map(([id, limit]) => scenario(`page-limit-bad-${id}`, { section: '4.6', namespace: false, about: `limit=${limit} is refused` }, [GET(q(CM, { limit }))])),
  scenario('page-limit-explicit-plus', { section: '4.6', about: 'limit=+2 is a number' }, [...setup(), GET(`${CM}?limit=%2B2`, { pick: (b) => b.items?.length ?? b })]),
  scenario('page-changed-limit', { section: '4.6', about: 'each page may ask for another limit' }, [...setup(), ...pages(CM, { limit: '1' }, { limit: '3' }, { limit: '1' })]),
  scenario('page-continue-without-limit', { section: '4.6', about: 'a token without limit gives all that is left' }, [...setup(), ...pages(CM, { limit: '2' }, {})]),
  scenario('page-continue-limit-zero', { section: '4.6', about: 'a token with limit=0 gives all that is left' }, [...setup(), ...pages(CM, { limit: '2' }, { limit: '0' })]),
  scenario('page-token-twice', { section: '4.6', about: 'a token can be used again' }, [...setup(), LIST(CM, { limit: '2' }, { id: 'p' }), LIST(CM, { limit: '2', continue: '${p.metadata.continue}' }), LIST(CM, { limit: '2', continue: '${p.metadata.continue}' })]),
  scenario('page-empty-token', { section: '4.6', about: 'an empty token means the start' }, [...setup(), LIST(CM, { limit: '2', continue: '' })]),

  scenario('page-snapshot-created', { section: '4.6', about: 'an object made after the first page is not on a later page' }, [
    ...setup(['a', 'b', 'd']), LIST(CM, { limit: '1' }, { id: 'p' }), ...make(CM, cm('c')), LIST(CM, { continue: '${p.metadata.continue}' }), LIST(CM)]),
  scenario('page-snapshot-deleted', { section: '4.6', about: 'an object deleted after the first page is still on a later page' }, [
    ...setup(['a', 'b', 'c']), LIST(CM, { limit: '1' }, { id: 'p' }), remove(`${CM}/b`), LIST(CM, { continue: '${p.metadata.continue}' }), LIST(CM)]),
  scenario('page-snapshot-updated', { section: '4.6', about: 'an object changed after the first page shows its former state on a later page' }, [
    ...setup(['a', 'b']), LIST(CM, { limit: '1' }, { id: 'p' }), update(`${CM}/b`, { data: { x: 'new' } }), GET(q(CM, { continue: '${p.metadata.continue}' })), GET(q(CM, { fieldSelector: 'metadata.name=b' }))]),
  scenario('page-snapshot-remaining', { section: '4.6', about: 'remainingItemCount of a later page counts what the snapshot holds' }, [
    ...setup(['a', 'b', 'c', 'd']), LIST(CM, { limit: '1' }, { id: 'p' }), remove(`${CM}/c`), ...make(CM, cm('e'), cm('f')), LIST(CM, { limit: '1', continue: '${p.metadata.continue}' })]),
  scenario('page-start-deleted', { section: '4.6', about: 'paging goes on after the last object of the first page was deleted' }, [
    ...setup(['a', 'b', 'c']), LIST(CM, { limit: '2' }, { id: 'p' }), remove(`${CM}/b`), LIST(CM, { limit: '2', continue: '${p.metadata.continue}' })]),

  scenario('page-label-selector', { section: '4.6', about: 'pages with a label selector are full and give no remainingItemCount' }, [
    ...make(CM, ...five.map((n, i) => cm(n, { odd: String(i % 2) })), cm('f', { odd: '0' })), tick(), ...pages(CM, { limit: '2', labelSelector: 'odd=0' }, { limit: '2', labelSelector: 'odd=0' })]),
  scenario('page-label-selector-last-match', { section: '4.6', about: 'a page that ends with the last match while other objects follow' }, [
    ...make(CM, cm('a', { l: 'x' }), cm('b', { l: 'x' }), cm('c')), tick(), LIST(CM, { limit: '2', labelSelector: 'l=x' }, { id: 'p' })]),
  scenario('page-label-selector-none', { section: '4.6', about: 'a limit with a selector that matches nothing' }, [...setup(['a', 'b', 'c']), LIST(CM, { limit: '1', labelSelector: 'l=x' })]),
  scenario('page-label-selector-all-fit', { section: '4.6', about: 'a selector whose matches fit within the limit' }, [
    ...make(CM, cm('a', { l: 'x' }), cm('b'), cm('c', { l: 'x' })), tick(), LIST(CM, { limit: '2', labelSelector: 'l=x' }), LIST(CM, { limit: '3', labelSelector: 'l=x' })]),
  scenario('page-field-selector', { section: '4.6', about: 'pages with a field selector give no remainingItemCount' }, [
    ...setup(), ...pages(CM, { limit: '2', fieldSelector: 'metadata.name!=b' }, { limit: '2', fieldSelector: 'metadata.name!=b' })]),
  scenario('page-field-selector-name', { section: '4.6', about: 'a limit with metadata.name=x' }, [...setup(['a', 'b', 'c']), LIST(CM, { limit: '1', fieldSelector: 'metadata.name=b' })]),
  scenario('page-empty-selectors', { section: '4.6', about: 'empty selectors count as none: remainingItemCount is given' }, [...setup(['a', 'b', 'c']), LIST(CM, { limit: '1', labelSelector: '', fieldSelector: '' })]),
  scenario('page-selector-added', { section: '4.6', about: 'a selector added on the second page filters what is left' }, [
    ...make(CM, cm('a'), cm('b', { l: 'x' }), cm('c'), cm('d', { l: 'x' })), tick(), ...pages(CM, { limit: '1' }, { limit: '1', labelSelector: 'l=x' })]),
  scenario('page-selector-dropped', { section: '4.6', about: 'a selector dropped on the second page' }, [
    ...make(CM, cm('a', { l: 'x' }), cm('b'), cm('c', { l: 'x' }), cm('d')), tick(), ...pages(CM, { limit: '1', labelSelector: 'l=x' }, { limit: '2' })]),

  scenario('page-secrets', { section: '4.6', about: 'pages of another kind' }, [...make(SECRETS, secret('a'), secret('b'), secret('c')), ...make(CM, cm('t')), ...pages(SECRETS, { limit: '2' }, { limit: '2' })]),
  scenario('page-events', { section: '4.6', about: 'pages of events, a kind that is not cached' }, [...make(EVENTS, event('a'), event('b'), event('c')), tick(), ...pages(EVENTS, { limit: '2' }, { limit: '2' })]),
  scenario('page-nodes', { section: '4.6', namespace: false, cleanup: ['a', 'b', 'c'].map((n) => `${NODES}/$ns-${n}`), about: 'pages of a cluster-scoped kind' }, [
    ...make(NODES, ...['a', 'b', 'c'].map((n) => node(`$ns-${n}`, { own: '$ns' }))), LIST(NODES, { limit: '2', labelSelector: 'own=$ns' }, { id: 'p' }), LIST(NODES, { limit: '2', labelSelector: 'own=$ns', continue: '${p.metadata.continue}' })]),
  scenario('page-all-namespaces', { section: '4.6', about: 'a token of a list across namespaces' }, [
    ...make(CM, cm('a', { own: '$ns' }), cm('b', { own: '$ns' }), cm('c', { own: '$ns' })), LIST('/api/v1/configmaps', { limit: '2', labelSelector: 'own=$ns' }, { id: 'p' }), LIST('/api/v1/configmaps', { limit: '2', labelSelector: 'own=$ns', continue: '${p.metadata.continue}' })]),
  scenario('page-foreign-token', { section: '4.6', about: 'the token of another kind is accepted: its position applies here' }, [
    ...make(SECRETS, secret('b'), secret('x')), ...make(CM, cm('a'), cm('b'), cm('c')), LIST(SECRETS, { limit: '1' }, { id: 'p' }), LIST(CM, { limit: '5', continue: '${p.metadata.continue}' })]),

  scenario('page-token-of-wider-list', { section: '4.6', about: 'the token of a list across namespaces in a list of one: its position namespace/name is taken as a name' }, [
    ...make(CM, cm('a', { own: '$ns' }), cm('b', { own: '$ns' }), cm('z', { own: '$ns' })), LIST('/api/v1/configmaps', { limit: '1', labelSelector: 'own=$ns' }, { id: 'p' }), LIST(CM, { continue: '${p.metadata.continue}' })]),
  scenario('page-token-of-narrower-list', { section: '4.6', about: 'the token of a list of one namespace in a list across namespaces: its position is taken as a namespace' }, [
    ...make(CM, cm('a', { own: '$ns' }), cm('b', { own: '$ns' })), LIST(CM, { limit: '1' }, { id: 'p' }), LIST('/api/v1/configmaps', { labelSelector: 'own=$ns', continue: '${p.metadata.continue}' })]),

  scenario('page-continue-version', { section: '4.5', about: 'a token with a resourceVersion other than 0 is refused' }, [
    ...setup(['a', 'b', 'c']), LIST(CM, { limit: '1' }, { id: 'p' }), LIST(CM, { limit: '1', continue: '${p.metadata.continue}', resourceVersion: '${p.metadata.resourceVersion}' }), LIST(CM, { continue: '${p.metadata.continue}', resourceVersion: '1' }), LIST(CM, { continue: '${p.metadata.continue}', resourceVersion: 'x' })]),
  scenario('page-continue-version-zero', { section: '4.5', about: 'a token with resourceVersion=0 or an empty one goes on from the token' }, [
    ...setup(['a', 'b', 'c']), LIST(CM, { limit: '1' }, { id: 'p' }), LIST(CM, { limit: '1', continue: '${p.metadata.continue}', resourceVersion: '0' }), LIST(CM, { limit: '1', continue: '${p.metadata.continue}', resourceVersion: '' })]),
  ...[['exact', 'Exact'], ['notolderthan', 'NotOlderThan'], ['unknown', 'Sometimes']].flatMap(([id, resourceVersionMatch]) => [
    scenario(`page-continue-match-${id}`, { section: '4.5', about: `a token with resourceVersionMatch=${resourceVersionMatch} is refused` }, [
      ...setup(['a', 'b']), LIST(CM, { limit: '1' }, { id: 'p' }), LIST(CM, { continue: '${p.metadata.continue}', resourceVersionMatch }), LIST(CM, { continue: '${p.metadata.continue}', resourceVersionMatch, resourceVersion: '0' }),
      LIST(CM, { continue: '${p.metadata.continue}', resourceVersionMatch, resourceVersion: '${p.metadata.resourceVersion}' })])]),

  ...Object.entries(badTokens).map(([id, t]) => scenario(`page-token-bad-${id}`, { section: '4.6', about: `a continue token that is not right: ${id}` }, [...make(CM, cm('a'), cm('b')), LIST(CM, { continue: t }), LIST(CM, { continue: t, limit: '1' })])),
  scenario('page-token-inconsistent', { section: '4.6', about: 'a token with version -1 goes on with the current state (it is what a 410 for an expired token offers)' }, [
    ...setup(['a', 'b', 'c', 'd']), LIST(CM, { limit: '1', continue: token({ v: 'meta.k8s.io/v1', rv: -1, start: 'a\0' }) }, { id: 'p' }), ...make(CM, cm('bb')), LIST(CM, { continue: '${p.metadata.continue}' })]),
  scenario('page-token-past-end', { section: '4.6', about: 'a token whose position lies after the last object' }, [
    ...setup(['a']), LIST(CM, { limit: '1', continue: token({ v: 'meta.k8s.io/v1', rv: -1, start: 'z\0' }) })]),
  scenario('page-at-version-zero', { section: '4.5', about: 'resourceVersion=0 with a limit: the whole list' }, [...setup(['a', 'b', 'c']), SLEEP(300), LIST(CM, { limit: '1', resourceVersion: '0' })]),
  scenario('page-deletecollection-limit', { section: '4.6', about: 'deletecollection with a limit' }, [
    ...setup(['a', 'b', 'c']), { kind: 'request', method: 'DELETE', path: `${CM}?limit=2` }, LIST(CM)]),
];
