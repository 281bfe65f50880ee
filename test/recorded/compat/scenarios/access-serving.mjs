// Flags of how requests are served: CORS, Strict-Transport-Security, the pages behind gates, deletes without a garbage collector.
import { scenario, GET, POST, DELETE } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const s = (id, about, steps, o = {}) => scenario(`serving-${id}`, { section: '4.4', about, needs: 'serving', ...o }, steps);
const bare = { namespace: false };
const names = ['date', 'content-length', 'connection', 'keep-alive', 'transfer-encoding', 'audit-id'];
/** All headers but those that differ from run to run. */
const all = (h) => ({ ...Object.fromEntries(Object.entries(h).filter(([n]) => !names.includes(n) && !n.startsWith('x-kubernetes-pf'))), hasLength: h['content-length'] !== undefined });
/** A page of some kilobytes has a length or not. */
const page = (h) => { const { hasLength, ...others } = all(h); return others; };
const look = { pickHeaders: all, pick: () => null };
const cm = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const from = (origin, o = {}) => ({ headers: { origin }, ...look, ...o });
const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
const options = (path, origin, o = {}) => GET(path, { method: 'OPTIONS', as: null, headers: { origin, ...preflight }, ...look, ...o });
/** The first lines of a page. Since 1.35, the fourth is a flag, with a random separator. */
const title = (body) => String(body).split('\n').slice(0, 4).map((line) => line.replace(/^(admission-control)\W.*/, '$1'));

export default [
  s('cors-allowed', 'answers to a site that is allowed', [GET('/version', from('https://ok.example.org')), GET('/version', from('http://ok.example.org:8080')), GET('/version', from('https://a.test')), POST(`${core}/configmaps`, cm('a'), from('https://b.test')), GET(`${core}/configmaps/none`, from('https://b.test'))]),
  s('cors-refused', 'answers to others are as without an origin', [GET('/version', from('https://ok.example.org.evil.test')), GET('/version', from('https://c.test')), GET('/version', from('null')), GET('/version', from('https://a.test:443')), GET('/version', from('HTTPS://A.TEST')), GET('/version', from(''))], bare),
  s('cors-of-refusals', 'nobody, and somebody without rights', [GET('/version', from('https://a.test', { as: null })), GET(`${core}/configmaps`, from('https://a.test', { as: 'bob' })), GET('/version', { headers: { origin: 'https://a.test', authorization: 'Bearer nobody' }, ...look }), GET('/nothing', from('https://a.test'))]),
  s('cors-preflight', 'a preflight is answered before anybody asks who it is', [options(`${core}/configmaps`, 'https://a.test'), options('/nothing', 'https://a.test'), options('/version', 'https://ok.example.org'), options(`${core}/configmaps`, 'https://a.test', { headers: { origin: 'https://a.test', authorization: 'Bearer nobody' } })]),
  s('cors-preflight-refused', 'one of another site goes its way', [options(`${core}/configmaps`, 'https://c.test'), options('/version', 'https://c.test'), options('/version', 'https://c.test', { as: 'admin' })]),
  s('cors-twice', 'of two origins the first', [GET('/version', { headers: { origin: ['https://a.test', 'https://c.test'] }, ...look }), GET('/version', { headers: { origin: ['https://c.test', 'https://a.test'] }, ...look })], bare),
  s('transport-security', 'every answer asks for HTTPS', [GET('/version', look), GET('/healthz', look), GET('/nothing', look), GET('/version', { as: null, ...look }), GET(`${core}/configmaps`, { as: 'bob', ...look }), GET(`${core}/configmaps?watch=1&timeoutSeconds=1`, look)]),
  s('flagz', 'the page of flags', [GET('/flagz', { headers: { accept: 'text/plain' }, pickHeaders: page, text: true, pick: title }), GET('/flagz', { headers: { accept: '*/*' }, pickHeaders: page, text: true, pick: title }), GET('/flagz', { headers: { accept: 'application/json' }, pickHeaders: page, text: true }), GET('/flagz/', { headers: { accept: 'text/plain' }, compare: 'status' }), GET('/flagz', { as: 'bob', headers: { accept: 'text/plain' } }), GET('/flagz', { method: 'POST', headers: { accept: 'text/plain' }, pickHeaders: page, text: true, pick: title })], bare),
  s('statusz', 'the page of the process', [GET('/statusz', { headers: { accept: 'text/plain' }, text: true, pick: title }), GET('/statusz', { headers: { accept: 'text/html' }, pickHeaders: all, text: true }), GET('/statusz', { as: 'bob', headers: { accept: 'text/plain' } })], bare),
  s('monitoring', 'who may see these pages', [GET('/apis/rbac.authorization.k8s.io/v1/clusterroles/system:monitoring', { pick: (role) => role.rules })], bare),
  s('deletes-without-collector', 'deletes that ask for dependents to go first', [POST(`${core}/configmaps`, cm('a'), { compare: 'status' }), DELETE(`${core}/configmaps/a`, { propagationPolicy: 'Foreground' }), GET(`${core}/configmaps/a`), POST(`${core}/configmaps`, cm('b'), { compare: 'status' }), DELETE(`${core}/configmaps/b`, { propagationPolicy: 'Orphan' }), GET(`${core}/configmaps/b`), POST(`${core}/configmaps`, { ...cm('c'), metadata: { name: 'c', finalizers: ['foregroundDeletion', 'example.org/x'] } }, { compare: 'status' }), DELETE(`${core}/configmaps/c`, { propagationPolicy: 'Background' }), GET(`${core}/configmaps/c`)], { needs: 'no-garbage-collector' }),
  s('deletes-by-workers', 'a collection', [...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => POST(`${core}/configmaps`, cm(name), { compare: 'status' })), DELETE(`${core}/configmaps?labelSelector=!x`, undefined, { compare: 'status' }), GET(`${core}/configmaps`, { pick: ({ items }) => items.map(({ metadata }) => metadata.name) })], { needs: 'no-garbage-collector' }),
];
