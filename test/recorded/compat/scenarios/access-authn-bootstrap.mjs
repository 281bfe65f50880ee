// Bootstrap tokens: Secrets of kube-system that are bearer tokens (§5).
import { scenario, DELETE, GET, PATCH, POST } from '../steps.ts';
import { whoami } from './kit/access.mjs';

const secrets = '/api/v1/namespaces/kube-system/secrets';
const secret = '0123456789abcdef';
const tokenOf = (id, part = secret) => ({ token: `${id}.${part}` });
/** A Secret; `more` are further entries, null removes one. */
const write = (id, more = {}, rest = {}) => POST(secrets, {
  metadata: { name: `bootstrap-token-${id}`, ...rest.metadata }, type: rest.type ?? 'bootstrap.kubernetes.io/token',
  stringData: Object.fromEntries(Object.entries({ 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true', ...more }).filter(([, v]) => v !== null)),
}, { compare: 'status' });
/** Waits until the authenticator has seen a Secret: then it has seen those that were written before. */
const until = (id, status = 201) => ({ ...whoami({ as: tokenOf(id), compare: 'status', note: `until the answer is ${status}` }), kind: 'poll', ms: 15000, until: (_, got) => got === status });
const path = (id) => `${secrets}/bootstrap-token-${id}`;

/** Ids are of the whole cluster: each scenario has its own. */
const markOf = (id) => `m${id.slice(1)}`;
const s = (name, id, about, steps, o = {}) => scenario(`authn-bootstrap-${name}`, { section: '5', about, needs: 'bootstrap-tokens', namespace: false, cleanup: [id, markOf(id)].map(path), ...o }, steps);
const marked = (id) => [write(markOf(id)), until(markOf(id))];
/** A Secret that makes no token: [id, about, entries, rest]. */
const refused = (id, key, about, more, rest) => s(id, key, about, [write(key, more, rest), ...marked(key), whoami({ as: tokenOf(key) })]);
const accepted = (id, key, about, more, rest) => s(id, key, about, [write(key, more, rest), until(key), whoami({ as: tokenOf(key) })]);

export default [
  accepted('good', 'aa0001', 'a token says who bootstraps', {}),
  accepted('groups', 'aa0002', 'further groups, sorted and each once', { 'auth-extra-groups': 'system:bootstrappers:z,system:bootstrappers:a:b-1,system:bootstrappers:z' }),
  accepted('not-expired', 'aa0003', 'a time that is to come', { expiration: '2099-01-01T00:00:00Z' }),
  accepted('zone', 'aa0004', 'a time elsewhere', { expiration: '2099-01-01T00:00:00+05:30' }),
  accepted('fraction', 'aa0005', 'a fraction of a second', { expiration: '2099-01-01T00:00:00.5Z' }),
  accepted('more-entries', 'aa0006', 'entries that do not matter', { description: 'd', 'usage-bootstrap-signing': 'false', x: 'y' }),
  refused('expired', 'ab0001', 'a time that is over', { expiration: '2020-01-01T00:00:00Z' }),
  refused('expires-some-day', 'ab0002', 'a time that is none', { expiration: '2099-01-01' }),
  refused('expires-small-letters', 'ab0003', 'a time in small letters', { expiration: '2099-01-01t00:00:00z' }),
  refused('expires-no-day', 'ab0004', 'a time of no day', { expiration: '2099-02-30T00:00:00Z' }),
  refused('no-usage', 'ab0005', 'not for authentication', { 'usage-bootstrap-authentication': null }),
  refused('usage-other', 'ab0006', 'True is not true', { 'usage-bootstrap-authentication': 'True' }),
  refused('other-id', 'ab0007', 'another id inside', { 'token-id': 'ab0008' }),
  refused('no-secret', 'ab0009', 'no secret inside', { 'token-secret': null }),
  refused('short-secret', 'ab0010', 'a shorter secret inside', { 'token-secret': '0123456789abcde' }),
  refused('other-type', 'ab0011', 'a Secret of another type', {}, { type: 'Opaque' }),
  refused('masters', 'ab0012', 'a group of others', { 'auth-extra-groups': 'system:masters' }),
  refused('bad-group', 'ab0013', 'a group that ends badly', { 'auth-extra-groups': 'system:bootstrappers:a-' }),
  refused('empty-group', 'ab0014', 'an empty group at the end', { 'auth-extra-groups': 'system:bootstrappers:a,' }),
  refused('blank-group', 'ab0015', 'a blank between groups', { 'auth-extra-groups': 'system:bootstrappers:a, system:bootstrappers:b' }),
  s('wrong-secret', 'ac0001', 'another secret than inside', [write('ac0001'), until('ac0001'), ...['0123456789abcdeg', 'fedcba9876543210', '0123456789abcde', `${secret}0`, secret.toUpperCase()].map((part) => whoami({ as: tokenOf('ac0001', part), note: part }))]),
  s('unknown-id', 'ac0002', 'ids that nobody has', ['zz0000', 'ZZ0000', 'zz00000', 'zz000'].map((id) => whoami({ as: tokenOf(id) }))),
  s('deleted', 'ac0003', 'a Secret that is deleted', [write('ac0003'), until('ac0003'), DELETE(path('ac0003'), { compare: 'status' }), until('ac0003', 401), whoami({ as: tokenOf('ac0003') })]),
  s('deleting', 'ac0004', 'a Secret that is being deleted', [write('ac0004', {}, { metadata: { finalizers: ['example.com/hold'] } }), until('ac0004'), DELETE(path('ac0004'), { compare: 'status' }), until('ac0004', 401), whoami({ as: tokenOf('ac0004') }), PATCH(path('ac0004'), 'merge', { metadata: { finalizers: null } }, { compare: 'status' })]),
  s('rights', 'ac0005', 'what who bootstraps may do', [write('ac0005'), until('ac0005'), ...['/api/v1/nodes', secrets, '/version', '/api'].map((p) => GET(p, { as: tokenOf('ac0005'), pick: (b) => b.message ?? typeof b })), POST('/apis/certificates.k8s.io/v1/certificatesigningrequests', {}, { as: tokenOf('ac0005'), pick: (b) => b.message ?? typeof b })]),
  s('review', 'ac0006', 'reviews of bootstrap tokens', [write('ac0006'), until('ac0006'), ...[{}, { audiences: ['other'] }].map((o) => POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: `ac0006.${secret}`, ...o } })), POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'ac0006.0123456789abcdeg' } })]),
  s('other-namespace', 'ac0007', 'Secrets of other namespaces are no tokens', [POST('/api/v1/namespaces/$ns/secrets', { metadata: { name: 'bootstrap-token-ac0007' }, type: 'bootstrap.kubernetes.io/token', stringData: { 'token-id': 'ac0007', 'token-secret': secret, 'usage-bootstrap-authentication': 'true' } }, { compare: 'status' }), ...marked('ac0007'), whoami({ as: tokenOf('ac0007') })], { namespace: true }),
  scenario('authn-bootstrap-off', { section: '5', about: 'without the flag', namespace: false, cleanup: [path('ad0001')] }, [write('ad0001'), whoami({ as: tokenOf('ad0001') })]),
];
