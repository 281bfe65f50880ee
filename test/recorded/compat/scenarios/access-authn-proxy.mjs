// Front proxies and client certificates: whose certificate, which headers, and what is past them (§5).
import { scenario, GET, POST } from '../steps.ts';
import { whoami } from './kit/access.mjs';

const s = (id, needs, about, steps, o = {}) => scenario(`authn-proxy-${id}`, { section: '5', about, needs, namespace: false, ...o }, steps);
const cert = (options) => ({ cert: options });
const proxy = cert({ ca: 'proxy', cn: 'any' });
const by = (headers, o = {}) => whoami({ as: proxy, headers, ...o });
const u = '$ns-u';
const named = { 'x-remote-user': u };
const own = 'front-proxy-headers';

export default [
  s('names', own, 'the first header with a value has the name', [by(named), by({ login: u }), by({ 'x-remote-user': '', login: u }), by({ ...named, login: 'other' }), by({ 'x-remote-user': [u, 'second'] }), by({ 'X-REMOTE-USER': u }), by({ 'x-remote-user': 'a, b' })]),
  s('nobody', own, 'a proxy without a name of a user', [by({}), by({ 'x-remote-user': '' }), by({ 'x-remote-user': '   ' }), by({ 'x-remote-group': 'g', 'x-remote-uid': 'u' })]),
  s('uids', own, 'the first header with a value has the uid', [by({ ...named, 'x-remote-uid': '1' }), by({ ...named, 'login-id': '2' }), by({ ...named, 'x-remote-uid': '', 'login-id': '2' }), by({ ...named, 'x-remote-uid': ['1', '2'] })]),
  s('groups', own, 'all values of all headers are groups', [by({ ...named, 'x-remote-group': ['b', 'a', 'b'] }), by({ ...named, team: ['t', 'u'], 'x-remote-group': 'g' }), by({ ...named, 'x-remote-group': 'a, b' }), by({ ...named, 'x-remote-group': ['', 'a', '  '] }), by({ ...named, 'x-remote-group': 'system:authenticated' }), by({ ...named, 'x-remote-group': ['x', 'system:unauthenticated'] })]),
  s('masters', own, 'a group of a proxy gives its rights', [GET('/api/v1/nodes', { as: proxy, headers: { ...named, 'x-remote-group': 'system:masters' } }), GET('/api/v1/nodes', { as: proxy, headers: named })]),
  s('extra', own, 'headers with a prefix are extra attributes', [by({ ...named, 'x-remote-extra-scopes': ['a', 'b'] }), by({ ...named, 'X-Remote-Extra-Some-Key': 'v' }), by({ ...named, 'x-remote-extra-example.com%2fkey': 'v' }), by({ ...named, 'more-key': 'v' }), by({ ...named, 'x-remote-extra-key': 'v' }), by({ ...named, 'x-remote-extra-a': '' })]),
  s('extra-both-prefixes', own, 'one key with two prefixes: in the order of the prefixes', [by({ ...named, 'more-key': ['3', '4'], 'x-remote-extra-key': ['1', '2'] })]),
  s('extra-keys', own, 'keys that cannot be decoded, and none', [by({ ...named, 'x-remote-extra-%zz': 'v' }), by({ ...named, 'x-remote-extra-a%41': 'v' }), by({ ...named, 'x-remote-extra-a+b': 'v' }), by({ ...named, 'x-remote-extra-': 'v' })]),
  s('service-account', own, 'a proxy may name a service account, which gets no groups for it', [by({ 'x-remote-user': 'system:serviceaccount:default:x' })]),
  s('anonymous-name', own, 'a proxy may name system:anonymous', [by({ 'x-remote-user': 'system:anonymous' }), by({ 'x-remote-user': 'system:anonymous', 'x-remote-group': 'system:unauthenticated' })]),
  s('and-token', own, 'the headers of a proxy outweigh a token', [whoami({ as: { ...proxy, token: 'alice-token' }, headers: named }), whoami({ as: { ...proxy, token: 'nobody' }, headers: named }), whoami({ as: { ...proxy, token: 'alice-token' } }), whoami({ as: { ...proxy, token: 'nobody' } })]),
  s('and-impersonation', own, 'a proxied user may impersonate what he may', [by({ ...named, 'x-remote-group': 'system:masters', 'impersonate-user': 'other' }), by({ ...named, 'impersonate-user': 'other' })]),
  s('past', own, 'the headers without a certificate of a proxy', [whoami({ as: null, headers: { ...named, 'x-remote-group': 'system:masters' } }), whoami({ as: 'bob', headers: { ...named, 'x-remote-group': 'system:masters', 'x-remote-extra-a': 'b' } }), GET('/api/v1/nodes', { as: 'bob', headers: { ...named, 'x-remote-group': 'system:masters' } })]),
  s('past-client-certificate', own, 'the headers with a certificate of a user', [whoami({ as: cert({ cn: u, o: ['g'] }), headers: { 'x-remote-user': 'other', 'x-remote-group': 'system:masters' } })]),
  s('certificate-of-proxy', own, 'the certificate of a proxy names no user', [whoami({ as: cert({ ca: 'proxy', cn: 'admin', o: ['system:masters'] }) }), GET('/version', { as: proxy }), GET('/healthz', { as: proxy })]),
  s('bad-certificates', own, 'certificates of no proxy', [
    ...[{ ca: 'unknown', cn: 'any' }, { ca: 'proxy', cn: 'any', usage: ['server'] }, { ca: 'proxy', cn: 'any', endsIn: -60 }, { ca: 'proxy', cn: 'any', beginsIn: 600 }].map((one) => whoami({ as: cert(one), headers: named })),
    whoami({ as: cert({ ca: 'proxy', cn: 'any', usage: [] }), headers: named, note: 'no usage at all' }),
    whoami({ as: cert({ ca: 'proxy', cn: 'any', usage: ['server', 'client'] }), headers: named }),
    whoami({ as: cert({ ca: 'proxy' }), headers: named, note: 'no common name' }),
  ]),
  s('allowed-names', 'front-proxy-alone', 'only proxies with these names', [...['one', 'two', 'three', 'ONE', 'one,two', ''].map((cn) => whoami({ as: cert({ ca: 'proxy', cn }), headers: named, note: cn }))]),
  s('no-client-ca', 'front-proxy-alone', 'without a client CA the certificates of its clients are none of a proxy', [whoami({ as: cert({ cn: u }) }), whoami({ as: { cert: { cn: u }, token: 'alice-token' } }), whoami({ as: cert({ ca: 'proxy', cn: 'one' }) }), whoami({ as: cert({ ca: 'proxy', cn: 'three' }) })]),
  s('unnamed-headers', 'front-proxy-alone', 'headers that no flag names do not count', [whoami({ as: cert({ ca: 'proxy', cn: 'one' }), headers: { ...named, 'x-remote-group': 'g', 'x-remote-uid': 'u', 'x-remote-extra-a': 'b' } })]),
  s('configmap', own, 'extension API servers learn of it', [GET('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication', { pick: (b) => Object.fromEntries(Object.entries(b.data ?? b).map(([k, v]) => [k, k.endsWith('ca-file') ? typeof v : v])) })]),
  s('configmap-alone', 'front-proxy-alone', 'with few flags', [GET('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication', { pick: (b) => Object.fromEntries(Object.entries(b.data ?? b).map(([k, v]) => [k, k.endsWith('ca-file') ? typeof v : v])) })]),

  s('certificate-groups', own, 'organizations are groups', [whoami({ as: cert({ cn: u, o: ['b', 'a', 'b'] }) }), whoami({ as: cert({ cn: u, o: ['system:authenticated'] }) }), whoami({ as: cert({ cn: u, o: ['system:unauthenticated'] }) }), whoami({ as: cert({ cn: u, o: [''] }) })]),
  s('certificate-masters', own, 'a member of system:masters', [GET('/api/v1/nodes', { as: cert({ cn: u, o: ['system:masters'] }) })]),
  s('certificate-no-name', own, 'a certificate without a common name', [whoami({ as: cert({ o: ['system:masters'] }) }), whoami({ as: { cert: { o: ['g'] }, token: 'alice-token' } })]),
  s('certificate-uid', own, 'a uid in the subject', [whoami({ as: cert({ cn: u, uid: '$ns-1' }) }), whoami({ as: cert({ cn: u, uid: '' }) })]),
  s('certificate-uid-off', 'certificates-without-uids', 'a uid in the subject with the gate off', [whoami({ as: cert({ cn: u, uid: '$ns-1' }) }), whoami({ as: cert({ cn: u, uid: '' }) })]),
  s('certificate-no-name-alone', 'certificates-without-uids', 'a certificate without a common name, without proxies', [whoami({ as: cert({ o: ['system:masters'] }) }), whoami({ as: { cert: { o: ['g'] }, token: 'alice-token' } })]),
  s('certificate-usages', own, 'what a certificate is for', [...[['client'], ['server'], ['server', 'client'], []].map((usage) => whoami({ as: cert({ cn: u, usage }), note: usage.join() }))]),
  s('certificate-times', own, 'when a certificate is valid', [whoami({ as: cert({ cn: u, endsIn: -1 }) }), whoami({ as: cert({ cn: u, beginsIn: 600, endsIn: 1200 }) }), whoami({ as: cert({ cn: u, endsIn: 60 }) })]),
  s('certificate-and-token', own, 'a good certificate outweighs a token, a bad one does not spoil it', [whoami({ as: { cert: { cn: u }, token: 'alice-token' } }), whoami({ as: { cert: { cn: u }, token: 'nobody' } }), whoami({ as: { cert: { cn: u, ca: 'unknown' }, token: 'alice-token' } }), whoami({ as: { cert: { cn: u, endsIn: -60 }, token: 'nobody' } })]),
  s('certificate-bad-everywhere', own, 'a bad certificate is refused where nobody needs one', [...['/healthz', '/version', '/nothing'].map((path) => GET(path, { as: cert({ cn: u, ca: 'unknown' }) })), POST('/api/v1/namespaces', '{', { as: cert({ cn: u, ca: 'unknown' }) })]),
];
