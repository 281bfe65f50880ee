// serviceaccounts/token: shapes and bounds of a TokenRequest; the token itself is compared by its claims (§4.2, §5).
import { scenario, GET, POST, PUT, DELETE } from '../steps.ts';
import { at, on, pod, secret, serviceAccount, node } from './kit/meta.mjs';

const s = (id, about, steps, o = {}) => scenario(`meta-token-${id}`, { section: '4.2', about, ...o }, [POST(at('serviceaccounts'), serviceAccount(), { id: 'sa', compare: 'status' }), ...steps]);
const path = at('serviceaccounts', 'sa', 'token');
const request = (spec = {}, metadata) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', ...(metadata ? { metadata } : {}), spec });
/** The answer without the token, whose claims are shown instead: times as seconds after iat. */
const claims = { pick: (b, raw, norm) => {
  if (b.kind !== 'TokenRequest') return b;
  const { token, ...status } = b.status;
  if (!token) return { ...b, status };
  const [head, body] = raw.status.token.split('.').slice(0, 2).map((x) => JSON.parse(Buffer.from(x, 'base64url')));
  const { iat, exp, nbf, jti, 'kubernetes.io': k, ...rest } = body;
  const { warnafter, ...kube } = k;
  const round = (n) => Math.round(n / 10) * 10;
  return { ...b, status: { ...status, lifetime: round((Date.parse(raw.status.expirationTimestamp) / 1000) - iat) }, header: { alg: head.alg, kid: !!head.kid },
    claims: { ...norm.value(rest), life: round(exp - iat), nbf: nbf - iat, jti: !!jti, ...(warnafter ? { warnafter: round(warnafter - iat) } : {}), 'kubernetes.io': norm.value(kube) } };
} };
const ask = (spec, o = {}) => POST(path, request(spec), { ...claims, ...o });
const bound = (kind, name, rest = {}) => ({ boundObjectRef: { apiVersion: 'v1', kind, name, ...rest } });

export default [
  s('default', 'an empty request: one hour, the audience of the server', [ask({})]),
  s('audiences', 'audiences are kept in order, the empty list is the default', [ask({ audiences: ['b', 'a'] }), ask({ audiences: [] }), ask({ audiences: [''] }), ask({ audiences: ['x', 'x'] })]),
  ...[[600, 'the least'], [599, 'below the least'], [0, 'zero'], [-1, 'negative'], [3600, 'an hour'], [3607, 'the number of kubelet'], [86400, 'a day'], [4294967296, 'the most'], [4294967297, 'over the most']].map(([n, t]) => s(`expiration-${String(n).replace('-', 'minus-')}`, `expirationSeconds ${n}: ${t}`, [ask({ expirationSeconds: n })])),
  s('expiration-null', 'expirationSeconds null, fraction and text', [ask({ expirationSeconds: null }), ask({ expirationSeconds: 1.5 }), ask({ expirationSeconds: '3600' })]),
  s('bound-pod', 'bound to a pod that uses the account', [POST(at('pods'), pod('p', {}, { serviceAccountName: 'sa' }), { id: 'p', compare: 'status' }), ask(bound('Pod', 'p')), ask(bound('Pod', 'p', { uid: '${p.metadata.uid}' }))]),
  s('bound-pod-node', 'bound to a pod on a node: the node is in the claims', [POST(on('nodes'), node('$ns-n'), { compare: 'status' }), POST(at('pods'), pod('p', {}, { serviceAccountName: 'sa', nodeName: '$ns-n' }), { compare: 'status' }), ask(bound('Pod', 'p'))], { cleanup: [on('nodes', '$ns-n')] }),
  s('bound-pod-node-missing', 'bound to a pod on a node that does not exist', [POST(at('pods'), pod('p', {}, { serviceAccountName: 'sa', nodeName: '$ns-none' }), { compare: 'status' }), ask(bound('Pod', 'p'))]),
  s('bound-pod-extended', 'a pod token of 3607 seconds lives a year and warns after', [POST(at('pods'), pod('p', {}, { serviceAccountName: 'sa' }), { compare: 'status' }), ask({ expirationSeconds: 3607, ...bound('Pod', 'p') }), ask({ expirationSeconds: 3607, audiences: ['other'], ...bound('Pod', 'p') }), ask({ expirationSeconds: 3600, ...bound('Pod', 'p') })]),
  s('bound-pod-other-account', 'bound to a pod of another account', [POST(at('pods'), pod('p', {}, { serviceAccountName: 'other' }), { compare: 'status' }), ask(bound('Pod', 'p'))]),
  s('bound-pod-no-account', 'bound to a pod without an account', [POST(at('pods'), pod('p'), { compare: 'status' }), ask(bound('Pod', 'p'))]),
  s('bound-pod-missing', 'bound to a missing pod', [ask(bound('Pod', 'none'))]),
  s('bound-pod-uid', 'bound to a pod with another uid', [POST(at('pods'), pod('p', {}, { serviceAccountName: 'sa' }), { compare: 'status' }), ask(bound('Pod', 'p', { uid: '11111111-2222-3333-4444-555555555555' }))]),
  s('bound-pod-terminating', 'bound to a terminating pod', [POST(at('pods'), pod('p', { finalizers: ['example.com/a'] }, { serviceAccountName: 'sa' }), { compare: 'status' }), DELETE(at('pods', 'p'), undefined, { compare: 'status' }), ask(bound('Pod', 'p'))]),
  s('bound-secret', 'bound to a secret', [POST(at('secrets'), secret('s'), { compare: 'status' }), ask(bound('Secret', 's')), ask(bound('Secret', 'none')), ask(bound('Secret', 's', { uid: '11111111-2222-3333-4444-555555555555' }))]),
  s('bound-node', 'bound to a node', [POST(on('nodes'), node('$ns-n'), { compare: 'status' }), ask(bound('Node', '$ns-n')), ask(bound('Node', '$ns-none'))], { cleanup: [on('nodes', '$ns-n')] }),
  s('bound-other-kind', 'bound to a kind that cannot be bound', [ask(bound('ConfigMap', 'c')), ask({ boundObjectRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } }), ask({ boundObjectRef: { apiVersion: 'v2', kind: 'Pod', name: 'p' } }), ask({ boundObjectRef: { kind: 'Pod', name: 'p' } }), ask({ boundObjectRef: {} })]),
  s('account-missing', 'a token for a missing account', [POST(at('serviceaccounts', 'none', 'token'), request())]),
  s('account-terminating', 'a token for a marked account', [POST(at('serviceaccounts'), serviceAccount('held', { finalizers: ['example.com/a'] }), { compare: 'status' }), DELETE(at('serviceaccounts', 'held'), undefined, { compare: 'status' }), POST(at('serviceaccounts', 'held', 'token'), request(), claims)]),
  s('metadata', 'metadata of the request: name, uid, namespace, labels', [
    POST(path, request({}, { name: 'sa' }), claims), POST(path, request({}, { name: 'other' }), claims), POST(path, request({}, { namespace: 'other' }), claims), POST(path, request({}, { uid: '11111111-2222-3333-4444-555555555555' }), claims), POST(path, request({}, { uid: '${sa.metadata.uid}' }), claims), POST(path, request({}, { labels: { a: 'b' } }), claims), POST(path, request({}, { generateName: 'g-' }), claims)]),
  s('status-ignored', 'a status in the request', [POST(path, { ...request(), status: { token: 'x', expirationTimestamp: '2001-02-03T04:05:06Z' } }, claims)]),
  s('bodies', 'bodies of other kinds and versions', [POST(path, {}, claims), POST(path, { apiVersion: 'v1', kind: 'TokenRequest', spec: {} }, claims), POST(path, pod()), POST(path, { apiVersion: 'authentication.k8s.io/v1beta1', kind: 'TokenRequest', spec: {} }, claims), POST(path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: {} })]),
  s('methods', 'methods that it does not have', [GET(path), PUT(path, request()), DELETE(path)]),
  s('dry-run', 'a dry run answers a token too', [ask({}, { query: { dryRun: 'All' } })]),
  s('unknown-field', 'unknown fields', [POST(path, request({ colour: 'red' }), { compareHeaders: ['warning'], ...claims }), POST(path, request({ colour: 'red' }), { query: { fieldValidation: 'Strict' } })]),
  s('forbidden', 'who may ask for a token', [POST(path, request(), { as: 'alice' }), POST(path, request(), { as: null })]),
  s('use', 'the token authenticates as the account', [
    POST(path, request(), { id: 't', compare: 'status' }),
    POST('/apis/authentication.k8s.io/v1/tokenreviews', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '${t.status.token}' } }, { pick: (b) => { const { 'authentication.kubernetes.io/credential-id': id, ...extra } = b.status.user?.extra ?? {}; return { status: { ...b.status, user: { ...b.status.user, extra, credential: /^JTI=/.test(id?.[0] ?? '') } } }; } }),
    POST('/apis/authentication.k8s.io/v1/selfsubjectreviews', { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }, { headers: { authorization: 'Bearer ${t.status.token}' }, pick: (b) => ({ ...b.status?.userInfo, extra: Object.keys(b.status?.userInfo?.extra ?? {}) }) }),
    GET(at('pods'), { headers: { authorization: 'Bearer ${t.status.token}' } })]),
  s('use-other-audience', 'a token for another audience does not authenticate here', [
    POST(path, request({ audiences: ['other'] }), { id: 't', compare: 'status' }), GET(at('pods'), { headers: { authorization: 'Bearer ${t.status.token}' } }),
    POST('/apis/authentication.k8s.io/v1/tokenreviews', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '${t.status.token}' } }, { pick: (b) => b.status })]),
  s('use-deleted-account', 'a token of a deleted account stops working', [POST(path, request(), { id: 't', compare: 'status' }), DELETE(at('serviceaccounts', 'sa'), undefined, { compare: 'status' }), { ...GET(at('pods'), { headers: { authorization: 'Bearer ${t.status.token}' } }), kind: 'poll', until: (_, st) => st === 401, ms: 20000 }]),
];
