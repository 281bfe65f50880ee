// Token webhooks: what they are asked, what their answers mean, and how long they are kept (§5).
import { scenario, HOOKED, POST, SLEEP } from '../steps.ts';
import { whoami } from './kit/access.mjs';
import { cuts, fails, garbage, inTurn, knows, knowsNobody } from './kit/hooks.mjs';

const s = (id, needs, about, tokens, steps) => scenario(`authn-webhook-${id}`, { section: '5', about, needs, namespace: false, hooks: { tokens } }, steps);
const v1 = 'token-webhook', v1beta1 = 'token-webhook-v1beta1';
const me = (o = {}) => whoami({ as: { token: '$ns-token' }, ...o });
const count = (calls = 1) => HOOKED('tokens', { calls, pick: (all) => all.length });
const review = (o = {}, token = '$ns-token') => POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token, ...o } });
const user = { username: 'carol', uid: '3', groups: ['dev'], extra: { a: ['b'] } };
const says = (status) => (asked) => ({ apiVersion: asked.apiVersion, kind: asked.kind, status });
const raw = (object) => () => object;

export default [
  s('v1beta1', v1beta1, 'a review of v1beta1', knows(user), [me(), HOOKED('tokens')]),
  s('headers', v1, 'how it is asked', knows(user), [me(), HOOKED('tokens')]),
  s('not-kept', v1beta1, 'answers are not kept for 0 s, but for the 10 s of all tokens', knows(user), [me(), me(), count()]),
  s('nobody-not-kept', v1beta1, 'that nobody has a token is not kept for 0 s', says({ authenticated: false }), [me(), me(), count(2)]),
  s('nobody-kept', v1, 'that nobody has a token is kept', says({ authenticated: false }), [me(), me(), count()]),
  s('nobody-kept-for-a-while', v1, 'it is asked again after its time', inTurn(says({ authenticated: false }), knows(user)), [me(), SLEEP(3000), me(), count(2)]),
  s('error-not-kept', v1, 'an answer with an error is not kept', inTurn(knowsNobody, knows(user)), [me(), me(), count(2)]),
  s('error-review', v1, 'a review tells the error', knowsNobody, [review()]),
  s('no-status', v1, 'an answer without a status', raw({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' }), [review()]),
  s('no-kind', v1, 'an answer without kind and version', raw({ status: { authenticated: true, user } }), [review()]),
  s('no-user', v1, 'authenticated, but no user', says({ authenticated: true }), [review(), me()]),
  s('no-name', v1, 'a user without a name', says({ authenticated: true, user: { groups: ['g'] } }), [review(), me()]),
  s('user-not-authenticated', v1, 'a user that is not authenticated', says({ user }), [review(), me()]),
  s('authenticated-with-error', v1, 'authenticated, with an error', says({ authenticated: true, user, error: 'but' }), [review(), me()]),
  s('groups', v1, 'groups of the answer', knows({ username: 'u', groups: ['system:masters', 'a', 'a', ''] }), [me()]),
  s('unauthenticated-group', v1, 'the group of those who are not authenticated', knows({ username: 'u', groups: ['system:unauthenticated'] }), [me()]),
  s('extra', v1, 'extra attributes', knows({ username: 'u', extra: { 'Example.com/Key': ['a', 'b'], empty: [] } }), [me()]),
  s('unknown-fields', v1, 'fields that nobody knows', (asked) => ({ ...says({ authenticated: true, user: { ...user, x: 1 }, y: 2 })(asked), z: 3 }), [me()]),
  s('other-version', v1, 'an answer of another version', raw({ apiVersion: 'authentication.k8s.io/v1beta1', kind: 'TokenReview', status: { authenticated: true, user } }), [me()]),
  s('other-kind', v1, 'an answer of another kind', raw({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status: { allowed: true } }), [me()]),
  s('garbage', v1, 'an answer that is none', garbage, [me(), count()]),
  s('wrong-types', v1, 'an answer with wrong types', says({ authenticated: 'true', user }), [me()]),
  s('groups-wrong-type', v1, 'groups that are no list', says({ authenticated: true, user: { username: 'u', groups: 'g' } }), [me()]),
  s('status-201', v1, 'an answer with 201', (asked) => ({ status: 201, body: says({ authenticated: true, user })(asked) }), [me()]),
  ...[400, 401, 403, 404, 429, 500, 502, 503].map((status) => s(`status-${status}`, v1, `an answer with ${status}`, fails(status), [me(), count([429, 500].includes(status) ? 5 : 1)])),
  s('cut', v1, 'a connection that is cut', cuts, [me()]),
  s('passing-failure', v1, 'a failure that passes', inTurn(fails(500), knows(user)), [me(), count(2)]),
  s('audiences', v1, 'audiences that are asked for', knows(user, { audiences: ['a', 'b'] }), [review({ audiences: ['b', 'c', 'a'] }), HOOKED('tokens')]),
  s('audiences-others', v1, 'audiences that the token does not have', knows(user, { audiences: ['a'] }), [review({ audiences: ['c'] }), review(), me()]),
  s('audiences-unaware', v1, 'a webhook that knows nothing of audiences', knows(user), [review(), review({ audiences: ['other'] }), review({ audiences: ['other', 'https://kubernetes.default.svc'] })]),
  s('after-others', v1, 'tokens of others are not asked for', knows(user), [whoami({ as: 'alice' }), whoami({ as: null }), me(), count()]),
];
