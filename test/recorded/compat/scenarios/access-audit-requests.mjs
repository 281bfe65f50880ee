// Audit events of requests that are something special: who makes them, from where, and what is refused (§12).
import { scenario, AUDITED, GET, POST, TOKEN, WATCH, WATCHED } from '../steps.ts';
import { grantAll } from './kit/audit.mjs';

const s = (id, about, steps, o = {}) => scenario(`audit-requests-${id}`, { section: '12', about, needs: 'audit', ...o }, steps);
const maps = '/api/v1/namespaces/$ns/configmaps';
const map = (name, more = {}) => ({ metadata: { name }, data: { a: '1' }, ...more });
const quiet = { compare: 'status' };
const ua = { 'user-agent': 'oracle/1.0 ($ns)' };
const as = (headers) => ({ headers: { ...ua, ...headers } });
const who = (level, more = []) => ({ as: { cert: { cn: '$ns-u', o: [`audit-${level}`, '$ns-all', ...more] } } });

export default [
  s('given-id', 'the Audit-ID of the client', [GET(maps, as({ 'audit-id': 'id of $ns' })), AUDITED(2)]),
  s('long-id', 'is not cut', [GET(maps, as({ 'audit-id': `$ns-${'x'.repeat(100)}` })), AUDITED(2)]),
  s('long-agent', 'a user agent of more than 1024 characters is cut', [GET(maps, { headers: { 'user-agent': `$ns ${'a'.repeat(1100)}` } }), AUDITED(2)]),
  s('forwarded', 'addresses of proxies come first', [GET(maps, as({ 'x-forwarded-for': '1.2.3.4, 10.0.0.1' })), AUDITED(2)]),
  s('forwarded-odd', 'what is not an address is left out', [GET(maps, as({ 'x-forwarded-for': 'me, 1.2.3, ::ffff:1.2.3.4, 2001:DB8::0:1 , 010.1.2.3' })), AUDITED(2)]),
  s('real-ip', 'then X-Real-Ip', [GET(maps, as({ 'x-forwarded-for': '1.2.3.4', 'x-real-ip': '5.6.7.8' })), AUDITED(2)]),
  s('real-ip-twice', 'unless it is among them', [GET(maps, as({ 'x-forwarded-for': '1.2.3.4, 5.6.7.8', 'x-real-ip': '1.2.3.4' })), AUDITED(2)]),
  s('remote-last', 'the connection is not named twice in a row', [GET(maps, as({ 'x-forwarded-for': '1.2.3.4, 127.0.0.1' })), AUDITED(2)]),
  s('uri', 'the URI is as it was sent', [GET(`${maps}/a%2Fb?x=%20y&z`), AUDITED(2)]),
  s('impersonate', 'who impersonates, and whom', [GET(maps, as({ 'impersonate-user': 'bob' })), AUDITED(2)]),
  s('impersonate-all', 'with groups, uid and extra', [GET(maps, as({ 'impersonate-user': 'bob', 'impersonate-group': 'g1', 'impersonate-uid': '7', 'impersonate-extra-scopes': 'v' })), AUDITED(2)]),
  s('impersonate-account', 'a service account', [GET(maps, as({ 'impersonate-user': 'system:serviceaccount:$ns:default' })), AUDITED(2)]),
  s('impersonate-anonymous', 'the anonymous user', [GET(maps, as({ 'impersonate-user': 'system:anonymous' })), AUDITED(2)]),
  s('impersonate-refused', 'who may not is not shown as another', [GET(maps, { as: 'alice', ...as({ 'impersonate-user': 'bob' }) }), AUDITED(2)]),
  s('impersonate-nobody', 'a group without a user', [GET(maps, as({ 'impersonate-group': 'g1' })), AUDITED(2)]),
  s('forbidden', 'a 403', [GET(maps, { as: 'bob' }), AUDITED(2)]),
  s('forbidden-create', 'a create that is refused has no body', [POST(maps, map('m'), { as: 'bob' }), AUDITED(2)]),
  s('forbidden-watch', 'a watch that is refused has three stages', [GET(`${maps}?watch=1`, { as: 'bob' }), AUDITED(3)]),
  s('unauthenticated', 'a 401 has one stage', [GET(maps, { as: { token: '$ns-token' } }), AUDITED(1)]),
  s('unauthenticated-post', 'whatever the verb', [POST(maps, map('m'), { as: { token: '$ns-token' } }), AUDITED(1)]),
  s('unauthenticated-watch', 'and for a watch', [GET(`${maps}?watch=1`, { as: { token: '$ns-token' } }), AUDITED(1)]),
  s('unauthenticated-path', 'and a path', [GET('/version?$ns', { as: { token: '$ns-token' } }), AUDITED(1)]),
  s('anonymous', 'nobody', [GET(maps, { as: null }), AUDITED(2)]),
  s('anonymous-path', 'nobody at a path that all may read', [GET('/version?$ns', { as: null, ...quiet }), AUDITED(2)]),
  s('bad-timeout', 'a timeout that cannot be parsed has one stage and no user', [GET(`${maps}?timeout=x`), AUDITED(1)]),
  s('service-account', 'a token of a service account says which', [
    POST('/api/v1/namespaces/$ns/serviceaccounts', { metadata: { name: 'sa' } }, { ...quiet, id: 'sa' }), AUDITED(2, quiet),
    TOKEN('t', { key: 'service-account', claims: { iss: 'https://kubernetes.default.svc', aud: ['https://kubernetes.default.svc'], sub: 'system:serviceaccount:$ns:sa', jti: '11111111-1111-1111-1111-111111111111', 'kubernetes.io': { namespace: '$ns', serviceaccount: { name: 'sa', uid: '${sa.metadata.uid}' } } } }),
    GET(maps, { as: { token: '${t}' }, ...quiet }), AUDITED(2),
  ]),
  s('certificate', 'a certificate has an id', [...grantAll, AUDITED(4, quiet), GET(maps, { ...who('metadata'), ...quiet }), AUDITED(2)]),
  s('rbac-reason', 'why it was allowed', [...grantAll, AUDITED(4, quiet), POST(maps, map('m'), { ...who('metadata'), ...quiet }), GET(`${maps}/m`, { ...who('request'), ...quiet }), AUDITED(4)]),
  s('none', 'nothing at None', [...grantAll, AUDITED(4, quiet), POST(maps, map('m'), { ...who('none'), ...quiet }), GET(`${maps}?watch=1&timeoutSeconds=1`, { ...who('none'), text: true, ...quiet }), AUDITED(0)]),
  s('bare', 'no managed fields', [
    ...grantAll, AUDITED(4, quiet), POST(maps, map('m'), { ...who('response-bare'), ...quiet }), GET(maps, { ...who('response-bare'), ...quiet }),
    GET(`${maps}/m?includeObject=Object`, { ...who('response-bare'), headers: { ...ua, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }, ...quiet }), AUDITED(6, { ignore: ['*.responseObject.rows.*.cells', '*.responseObject.columnDefinitions.*.description'] }),
  ]),
  s('complete-only', 'stages that are left out', [...grantAll, AUDITED(4, quiet), GET(`${maps}?watch=1&timeoutSeconds=1`, { ...who('complete-only'), text: true, ...quiet }), GET(maps, { ...who('complete-only'), ...quiet }), AUDITED(2)]),
  s('received-only', 'all but the first', [...grantAll, AUDITED(4, quiet), GET(`${maps}?watch=1&timeoutSeconds=1`, { ...who('received-only'), text: true, ...quiet }), POST(maps, map('m'), { ...who('received-only'), ...quiet }), AUDITED(2)]),
  s('watch-end', 'a watch that ends by its time', [GET(`${maps}?watch=1&timeoutSeconds=1`, { text: true, ...quiet }), AUDITED(3)]),
  s('watch-path', 'the old path of a watch', [GET('/api/v1/watch/namespaces/$ns/configmaps?timeoutSeconds=1', { text: true, ...quiet }), AUDITED(3)]),
  s('watch-name', 'a watch of one object', [GET(`${maps}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dm`, { text: true, ...quiet }), AUDITED(3)]),
  s('watch-bad', 'a watch that fails', [GET(`${maps}?watch=1&resourceVersion=x`), AUDITED(3)]),
  s('watch-left', 'a watch whose client goes', [WATCH('w', maps, { query: { watch: 1 } }), POST(maps, map('m'), quiet), WATCHED('w', quiet), AUDITED(5)]),
];
