// The set-ups themselves: certificates, tokens and webhooks that the runner makes reach the server (§5, §6).
import { scenario, GET, HOOKED, POST, TOKEN } from '../steps.ts';
import { tokenReview, whoami } from './kit/access.mjs';
import { allow, deny, fails, knows, noOpinion } from './kit/hooks.mjs';

const s = (id, needs, about, steps, o = {}) => scenario(`setups-${id}`, { section: '5', about, needs, namespace: false, ...o }, steps);
const review = (token, o = {}) => POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token, ...o } });
const pods = '/api/v1/namespaces/$ns/pods';

export default [
  s('certificate', 'client-certificates', 'the subject of a client certificate is the user', [
    whoami({ as: { cert: { cn: '$ns-u', o: ['dev', 'ops'] } } }),
    whoami({ as: { cert: { cn: '$ns-u', uid: '$ns-uid' } } }),
    whoami({ as: { cert: { cn: '$ns-u', ca: 'unknown' } } }),
    whoami({ as: { cert: { cn: '$ns-u', usage: ['server'] } } }),
    whoami({ as: { cert: { cn: '$ns-u', endsIn: -60 } } }),
  ]),
  ...['blanks', 'no-groups', 'twice', 'quoted "token"', 'five', 'no-name', 'admin-token '].map((token, i) => s(`token-file-${['blanks', 'no-groups', 'twice', 'quoted', 'five-columns', 'no-name', 'blank-after'][i]}`, 'token-file', `the token ${JSON.stringify(token)} of a token file`, [tokenReview(token)])),
  s('front-proxy', 'client-certificates', 'headers of a front proxy with its certificate', [
    whoami({ as: { cert: { ca: 'proxy', cn: 'front-proxy' } }, headers: { 'x-remote-user': '$ns-u', 'x-remote-group': ['a', 'b'], 'x-remote-extra-scopes': 'all' } }),
    whoami({ as: { cert: { ca: 'proxy', cn: 'other-proxy' } }, headers: { 'x-remote-user': '$ns-u' } }),
    whoami({ as: { cert: { ca: 'client', cn: 'front-proxy' } }, headers: { 'x-remote-user': '$ns-u' } }),
  ]),
  s('two-issuers', 'two-issuers', 'tokens of two issuers', [
    whoami({ as: { token: { issuer: 'one', claims: { groups: ['a', 'b'] } } } }),
    whoami({ as: { token: { issuer: 'one', key: 'ec' } } }),
    whoami({ as: { token: { issuer: 'two', key: 'rsa-2', claims: { uid: '7', team: 'x', aud: ['other'] } } } }),
    whoami({ as: { token: { issuer: 'two', key: 'rsa-2', claims: { sub: 'root' } } } }),
    whoami({ as: { token: { issuer: 'two', key: 'rsa' } }, note: 'key of the other issuer' }),
    whoami({ as: { token: { issuer: 'one', expIn: -60 } } }),
    whoami({ as: { token: { issuer: 'one', nbfIn: 600 } } }),
    whoami({ as: { token: { issuer: 'one', alg: 'none' } } }),
    whoami({ as: { token: { issuer: 'one', alg: 'HS256' } } }),
    whoami({ as: { token: { issuer: 'one', key: 'service-account', header: { kid: 'rsa' } } } }),
  ]),
  s('two-issuers-review', 'two-issuers', 'a TokenReview of a token of an issuer', [TOKEN('good', { issuer: 'one' }), TOKEN('late', { issuer: 'one', expIn: -60 }), review('${good}'), review('${late}'), review('${good}', { audiences: ['compat', 'more'] }), review('${good}', { audiences: ['more'] })]),
  s('token-webhook', 'token-webhook', 'a webhook knows whose a token is, and is asked once', [
    whoami({ as: { token: '$ns-token' } }),
    whoami({ as: { token: '$ns-token' } }),
    HOOKED('tokens'),
  ], { hooks: { tokens: knows({ username: 'carol', uid: '3', groups: ['dev'], extra: { a: ['b'] } }) } }),
  s('token-webhook-fails', 'token-webhook', 'a webhook that fails is asked again', [whoami({ as: { token: '$ns-token' } }), HOOKED('tokens', { calls: 5, pick: (calls) => calls.length })], { hooks: { tokens: fails() } }),
  ...Object.entries({ allow, deny, 'no-opinion': noOpinion, fails: fails(503) }).map(([name, answer]) =>
    s(`authorization-webhook-${name}`, 'authorization-webhook', `an authorization webhook answers: ${name}`, [GET(pods, { headers: { 'impersonate-user': '$ns-u', 'impersonate-group': 'dev' } }), HOOKED('access')], { namespace: true, hooks: { access: answer } })),
];
