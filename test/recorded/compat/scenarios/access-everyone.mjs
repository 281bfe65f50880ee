// A server with every authenticator: who it takes a caller for, what a TokenReview says of each token, who is asked first, and what is audited (§5).
import { scenario, AUDITED, GET, HOOKED, POST, TOKEN } from '../steps.ts';
import { as, tokenReview, whoami } from './kit/access.mjs';
import { fails, knows, knowsNobody } from './kit/hooks.mjs';

const s = (id, about, steps, o = {}) => scenario(`everyone-${id}`, { section: '5', about, needs: 'every-authenticator', ...o }, steps);
const carol = { username: '$carol', uid: 'c-1', groups: ['hooked'], extra: { 'example.com/scopes': ['a', 'b'] } };
const hooked = { hooks: { tokens: knows(carol) } };
const cluster = { namespace: false };
const quiet = { compare: 'status' };

const accounts = '/api/v1/namespaces/$ns/serviceaccounts';
const account = [POST(accounts, { metadata: { name: 'sa' } }, { ...quiet, id: 'sa' })];
const tokenOf = (id, spec = {}) => POST(`${accounts}/sa/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }, { ...quiet, id });
const bearer = (id) => ({ as: { token: `\${${id}.status.token}` } });

/** A bootstrap token, in a namespace that all share: its id is the scenario's own. */
const bootstrap = (id, data = {}) => POST('/api/v1/namespaces/kube-system/secrets', { metadata: { name: `bootstrap-token-${id}` }, type: 'bootstrap.kubernetes.io/token', stringData: { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true', ...data } }, quiet);
const bootstrapPath = (id) => `/api/v1/namespaces/kube-system/secrets/bootstrap-token-${id}`;
const boot = (id) => ({ as: { token: `${id}.0123456789abcdef` } });

const proxy = { ca: 'proxy', cn: 'front-proxy' };
const remote = { 'x-remote-user': '$ns-remote', 'x-remote-group': ['r1', 'r2'], 'x-remote-uid': 'r-uid', 'x-remote-extra-example.com%2fscopes': ['a', 'b'] };
const certificate = { cn: '$ns-cert', o: ['c1', 'c2'], uid: 'c-uid' };
const issued = { issuer: 'one', claims: { groups: ['g'] } };

const whole = { pick: (b) => b };
const selfReviews = [
  s('self-token-file', 'SelfSubjectReview: a token of the file, in full', [whoami({ as: 'alice', ...whole })], cluster),
  s('self-certificate', 'SelfSubjectReview: a client certificate', [whoami({ as: { cert: certificate } }), whoami({ as: { cert: { cn: '$ns-cert' } } }), whoami({ as: { cert: { o: ['only-groups'] } }, note: 'no common name' })], cluster),
  s('self-front-proxy', 'SelfSubjectReview: the front proxy', [whoami({ as: { cert: proxy }, headers: remote }), whoami({ as: { cert: proxy }, headers: { 'x-remote-user': '$ns-remote' } })], cluster),
  s('self-issuer', 'SelfSubjectReview: a token of an OpenID issuer', [whoami({ as: { token: issued } }), whoami({ as: { token: { issuer: 'one', claims: { jti: '$ns-jti' } } }, ...whole })], cluster),
  s('self-webhook', 'SelfSubjectReview: a token that the webhook knows', [whoami({ as: { token: '$ns-token' } })], { ...hooked, ...cluster }),
  s('self-account', 'SelfSubjectReview: a token of a service account', [...account, tokenOf('t'), whoami(bearer('t'))]),
  s('self-account-of-pod', 'SelfSubjectReview: a token that is bound to a pod', [
    ...account, POST('/api/v1/namespaces/$ns/pods', { metadata: { name: 'p' }, spec: { serviceAccountName: 'sa', containers: [{ name: 'c', image: 'i' }] } }, { ...quiet, id: 'p' }), tokenOf('t', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } }), whoami(bearer('t')),
  ]),
  s('self-bootstrap', 'SelfSubjectReview: a bootstrap token', [bootstrap('aa0001'), { ...whoami(boot('aa0001')), kind: 'poll', ms: 5000, until: (b) => b?.kind !== 'Status' }, bootstrap('aa0002', { 'auth-extra-groups': 'system:bootstrappers:x,system:bootstrappers:y' }), { ...whoami(boot('aa0002')), kind: 'poll', ms: 5000, until: (b) => b?.kind !== 'Status' }], { ...cluster, cleanup: [bootstrapPath('aa0001'), bootstrapPath('aa0002')] }),
  s('self-anonymous', 'SelfSubjectReview: nobody', [whoami({ as: null })], cluster),
  s('self-impersonated', 'SelfSubjectReview: an impersonated user, whoever impersonates', [whoami({ headers: as('$ns-i', { groups: ['x'], uid: 'i-1', extra: { k: ['v'] } }) }), whoami({ as: { cert: { cn: '$ns-cert', o: ['system:masters'] } }, headers: as('$ns-i') })], cluster),
];

const tokenReviews = [
  s('review-token-file', 'TokenReview: a token of the file', [tokenReview('alice-token'), tokenReview('alice-token', ['other']), tokenReview('alice-token', ['https://kubernetes.default.svc', 'other']), tokenReview('nobody')], cluster),
  s('review-issuer', 'TokenReview: a token of an OpenID issuer', [TOKEN('good', issued), TOKEN('late', { ...issued, expIn: -60 }), TOKEN('early', { ...issued, nbfIn: 600 }), TOKEN('other', { ...issued, claims: { aud: 'other' } }), ...['good', 'late', 'early', 'other'].map((t) => tokenReview(`\${${t}}`, undefined, { note: t })), tokenReview('${good}', ['compat'])], cluster),
  s('review-webhook', 'TokenReview: a token that the webhook knows', [tokenReview('$ns-token'), tokenReview('$ns-token', ['https://kubernetes.default.svc']), HOOKED('tokens', { calls: 2 })], { ...hooked, ...cluster }),
  s('review-webhook-audiences', 'TokenReview: audiences go to the webhook, and what it answers counts', [tokenReview('$ns-token', ['one', 'two']), tokenReview('$ns-token', ['three']), HOOKED('tokens', { calls: 2 })], { hooks: { tokens: knows(carol, { audiences: ['two', 'four'] }) }, ...cluster }),
  s('review-webhook-no', 'TokenReview: a token that the webhook does not know', [tokenReview('$ns-token'), HOOKED('tokens', { pick: (calls) => calls.length })], { hooks: { tokens: knowsNobody }, ...cluster }),
  s('review-webhook-fails', 'TokenReview: the webhook fails', [tokenReview('$ns-token')], { hooks: { tokens: fails(400) }, ...cluster }),
  s('review-account', 'TokenReview: a token of a service account', [...account, tokenOf('t'), tokenOf('v', { audiences: ['vault'] }), tokenReview('${t.status.token}'), tokenReview('${v.status.token}', undefined, { note: 'other audience' }), tokenReview('${v.status.token}', ['vault']), tokenReview('${v.status.token}', ['vault', 'other'])]),
  s('review-bootstrap', 'TokenReview: a bootstrap token', [bootstrap('bb0001'), { ...tokenReview('bb0001.0123456789abcdef'), kind: 'poll', ms: 5000, until: (b) => b?.status?.authenticated }, tokenReview('bb0001.fedcba9876543210'), tokenReview('bb0002.0123456789abcdef')], { ...cluster, cleanup: [bootstrapPath('bb0001')] }),
  s('review-blank', 'TokenReview: a blank is the token of system:anonymous', [tokenReview(' ')], cluster),
  s('review-malformed', 'TokenReview: no token, and what is none', [tokenReview(''), tokenReview('a b'), tokenReview('a.b.c'), tokenReview('..')], cluster),
];

const order = [
  s('order-proxy-first', 'the front proxy comes before a token', [whoami({ as: { cert: proxy, token: 'alice-token' }, headers: remote }), whoami({ as: { cert: proxy, token: 'nobody' }, headers: remote, note: 'bad token' })], cluster),
  s('order-proxy-without-user', 'a proxy that names no user: its token counts', [whoami({ as: { cert: proxy, token: 'alice-token' } }), whoami({ as: { cert: proxy } }), whoami({ as: { cert: proxy }, headers: { 'x-remote-group': 'system:masters' } })], cluster),
  s('order-certificate-first', 'a certificate comes before a token', [whoami({ as: { cert: certificate, token: 'alice-token' } }), whoami({ as: { cert: certificate, token: 'nobody' }, note: 'bad token' }), whoami({ as: { cert: { ...certificate, ca: 'unknown' }, token: 'alice-token' }, note: 'certificate of another CA' }), whoami({ as: { cert: { ...certificate, usage: ['server'] }, token: 'alice-token' }, note: 'certificate of a server' })], cluster),
  s('order-certificate-and-headers', 'headers of a proxy with a client certificate that is none of a proxy', [whoami({ as: { cert: certificate }, headers: remote }), whoami({ as: { cert: { cn: 'front-proxy' } }, headers: remote, note: 'of the client CA' }), whoami({ as: 'alice', headers: remote })], cluster),
  s('order-file-before-webhook', 'a token of the file is not shown to the webhook', [whoami({ as: 'alice' }), HOOKED('tokens', { calls: 0, pick: (calls) => calls.length })], { ...hooked, ...cluster }),
  s('order-issuer-before-webhook', 'a token of an issuer is not shown to the webhook, a bad one is', [whoami({ as: { token: issued } }), HOOKED('tokens', { calls: 0, pick: (calls) => calls.length }), whoami({ as: { token: { issuer: 'one', expIn: -60, claims: { sub: '$ns-late' } } } })], { ...hooked, ...cluster }),
  s('order-wrong-webhook', 'a webhook that claims a user of the system is believed', [whoami({ as: { token: '$ns-token' } }), GET('/api/v1/namespaces/kube-system/secrets?limit=1', { as: { token: '$ns-token' }, compare: 'status' })], { hooks: { tokens: knows({ username: 'system:admin', groups: ['system:masters', 'system:unauthenticated'] }) }, ...cluster }),
  s('order-extra-groups', 'system:authenticated is added to all but those who name it', [whoami({ as: { cert: { cn: '$ns-cert', o: ['system:authenticated'] } } }), whoami({ as: { cert: { cn: '$ns-cert', o: ['system:unauthenticated'] } }, pick: (b) => b.message ?? b.status }), whoami({ as: { cert: proxy }, headers: { 'x-remote-user': '$ns-remote', 'x-remote-group': 'system:authenticated' } })], cluster),
];

const audited = [
  s('audited-certificate', 'audit: a client certificate', [whoami({ as: { cert: certificate }, ...quiet }), AUDITED(1)], cluster),
  s('audited-front-proxy', 'audit: the front proxy', [whoami({ as: { cert: proxy }, headers: remote, ...quiet }), AUDITED(1)], cluster),
  s('audited-issuer', 'audit: a token of an issuer', [whoami({ as: { token: issued }, ...quiet }), AUDITED(1)], cluster),
  s('audited-webhook', 'audit: a token that the webhook knows', [whoami({ as: { token: '$ns-token' }, ...quiet }), AUDITED(1)], { ...hooked, ...cluster }),
  s('audited-account', 'audit: a token of a service account, and the request that made it', [...account, tokenOf('t'), whoami({ ...bearer('t'), ...quiet }), AUDITED(3)]),
  s('audited-bad', 'audit: credentials that nobody has', [GET('/version', { as: { token: '$ns-token' }, ...quiet }), GET('/version', { as: { cert: { ...certificate, ca: 'unknown' } }, ...quiet }), AUDITED(2)], cluster),
  s('audited-review', 'audit: a TokenReview', [tokenReview('$ns-token', undefined, quiet), AUDITED(1)], { ...hooked, ...cluster }),
];

export default [...selfReviews, ...tokenReviews, ...order, ...audited];
