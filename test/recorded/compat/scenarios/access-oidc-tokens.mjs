// Tokens of OpenID issuers: which are taken, who is known by them, and why the others are refused (§5).
import { scenario, GET, POST, TOKEN } from '../steps.ts';
import { whoami } from './kit/access.mjs';

const s = (id, about, steps, o = {}) => scenario(`oidc-${id}`, { section: '5', about, needs: 'oidc', namespace: false, ...o }, steps);
/** The review of a token says why it is refused; who sends it is told nothing. */
const review = (token, o = {}) => POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token, ...o } }, { pick: (b) => b.status });
const by = (issuer, claims = {}, o = {}) => ({ issuer, claims, ...o });
const both = (options, at = 0) => [whoami({ as: { token: options } }), TOKEN(`t${at}`, options), review(`\${t${at}}`)];
const all = (...list) => list.flatMap(both);

const users = [
  s('sub', 'the subject is the user', all(by('plain'), by('plain', { sub: 'system:admin' }), by('plain', { sub: 'with space' }))),
  s('sub-empty', 'an empty subject', all(by('plain', { sub: '' }))),
  s('sub-missing', 'no subject', all(by('plain', { sub: null }))),
  s('sub-type', 'a subject that is no text', all(by('plain', { sub: 7 }), by('plain', { sub: ['a'] }), by('plain', { sub: { a: 1 } }))),
  s('masters', 'an issuer may name anybody, also a member of system:masters', [GET('/api/v1/namespaces', { as: { token: by('rules', { groups: ['x'] }) } }), GET('/api/v1/namespaces/kube-system', { as: { token: by('prefixed', { groups: ['system:masters'], oid: '1' }) } }), GET('/api/v1/namespaces/kube-system', { as: { token: by('expressions', { name: '$ns-u', roles: ['system:masters'] }) }, pick: (b) => b.kind })]),
  s('authenticated', 'system:authenticated is added once', all(by('expressions', { name: '$ns-u', roles: ['system:authenticated', 'a'] }), by('expressions', { name: '$ns-u', roles: ['system:unauthenticated'] }))),
  s('prefixes', 'prefixes of users and groups, and a uid', all(by('prefixed', { groups: ['a', 'b'], oid: '7' }))),
  s('groups-text', 'groups as one text', all(by('prefixed', { groups: 'a', oid: '7' }))),
  s('groups-empty', 'no groups', all(by('prefixed', { groups: [], oid: '7' }), by('prefixed', { oid: '7' }), by('prefixed', { groups: '', oid: '7' }), by('prefixed', { groups: [''], oid: '7' }))),
  s('groups-null', 'groups that are null, or have a null', [...both(by('prefixed', { groups: [null, 'a'], oid: '7' }))]),
  s('groups-type', 'groups that are no texts', all(by('prefixed', { groups: 7, oid: '7' }), by('prefixed', { groups: ['a', 7], oid: '7' }), by('prefixed', { groups: { a: 'b' }, oid: '7' }))),
  s('uid-missing', 'a uid that is not there, or no text', all(by('prefixed'), by('prefixed', { oid: 7 }))),
  s('mail', 'an email address with and without its verification', all(by('mail', { email: 'jane@example.com' }), by('mail', { email: 'jane@example.com', email_verified: true }))),
  s('mail-unverified', 'an email address that is not verified', all(by('mail', { email: 'jane@example.com', email_verified: false }), by('mail', { email: 'jane@example.com', email_verified: 'true' }), by('mail', { email: 'jane@example.com', email_verified: 1 }), by('mail'))),
  s('credential-id', 'the id of a token is its credential', all(by('plain', { jti: 'abc' }), by('plain', { jti: '' }), by('plain', { jti: 7 }))),
];

const tokens = [
  s('algorithms', 'RSA and elliptic curves, with any digest', all(by('plain', {}, { alg: 'RS384' }), by('plain', {}, { alg: 'RS512' }), by('plain', {}, { alg: 'PS256', key: 'rsa' }), by('plain', {}, { key: 'ec' }))),
  s('algorithm-none', 'no signature', all(by('plain', {}, { alg: 'none' }), by('plain', {}, { alg: 'None' }), by('plain', {}, { alg: 'RS256', header: { alg: 'none' } }))),
  s('algorithm-hmac', 'the public key as a secret', all(by('plain', {}, { alg: 'HS256' }), by('plain', {}, { alg: 'HS512' }))),
  s('algorithm-other', 'an algorithm that the key is not for', all(by('plain', {}, { alg: 'RS256', header: { alg: 'ES256' } }), by('plain', {}, { key: 'ec', header: { alg: 'RS256' } }))),
  s('key-unnamed', 'without the name of a key all are tried', all(by('plain', {}, { header: { kid: null } }), by('plain', {}, { key: 'rsa-2', header: { kid: null } }))),
  s('key-other', 'the name of another key, or of none', all(by('plain', {}, { header: { kid: 'ec' } }), by('plain', {}, { header: { kid: 'nobody' } }), by('plain', {}, { key: 'rsa-2' }), by('plain', {}, { key: 'rsa-2', header: { kid: 'rsa' } }), by('plain', {}, { header: { kid: '../../keys' } }))),
  s('header-critical', 'a header that must be understood', all(by('plain', {}, { header: { crit: ['exp'], exp: 1 } }))),
  s('header-embedded', 'keys in the header are not looked at', [...both(by('plain', {}, { key: 'rsa-2', header: { kid: 'rsa', jku: 'https://127.0.0.1:1/keys' } })), ...both(by('plain', {}, { key: 'rsa-2', header: { kid: 'rsa', x5u: 'https://127.0.0.1:1/x' } })), ...both(by('plain', {}, { header: { typ: 'at+jwt', jku: 'x' } }))]),
  s('expired', 'a token that is over', all(by('plain', {}, { expIn: -1 }), by('plain', {}, { expIn: -3600 }))),
  s('expiry-missing', 'a token without an end', all(by('plain', { exp: null }))),
  s('expiry-type', 'an end that is no number', all(by('plain', { exp: 'soon' }), by('plain', { exp: true }))),
  s('expiry-text', 'an end as a text, or with a fraction', [whoami({ as: { token: by('plain', { exp: '4102444800' }) } }), whoami({ as: { token: by('plain', { exp: 4102444800.5 }) } })]),
  s('not-yet', 'a token that is for later', [whoami({ as: { token: by('plain', {}, { nbfIn: 30 }) } }), whoami({ as: { token: by('plain', {}, { nbfIn: 120 }) } }), whoami({ as: { token: by('plain', {}, { iatIn: 3000, expIn: 6000 }) } })]),
  s('audience', 'a token for somebody else', all(by('plain', { aud: 'other' }), by('plain', { aud: ['other', 'third'] }), by('plain', { aud: [] }), by('plain', { aud: null }), by('plain', { aud: '' }), by('plain', { aud: 'Compat' }))),
  s('audience-list', 'one audience of several', all(by('plain', { aud: ['other', 'compat'] }), by('audiences', { aud: 'other' }), by('audiences', { aud: ['x', 'compat'] }), by('audiences', { aud: 'x' }))),
  s('audience-type', 'an audience that is no text', all(by('plain', { aud: 7 }), by('plain', { aud: [7] }))),
  s('issuer-other', 'an issuer that nobody knows is not looked at', all(by('plain', { iss: 'https://nobody.example.com' }), by('plain', { iss: '' }), by('plain', { iss: null }), by('plain', { iss: 7 }))),
  s('issuer-mixed', 'a token signed by the keys of one issuer in the name of another', all(by('far', {}, { key: 'rsa-2' }))),
  s('issuer-accounts', 'tokens of the issuer of service accounts by the keys of others, and the reverse', all({ key: 'rsa', claims: { iss: 'https://kubernetes.default.svc', aud: ['https://kubernetes.default.svc'] } }, by('plain', {}, { key: 'service-account' }), by('plain', {}, { key: 'service-account', header: { kid: 'rsa' } }))),
  s('discovery-url', 'the documents of an issuer are elsewhere', all(by('far'), by('far', {}, { key: 'rsa-2' }))),
  s('discovery-liar', 'an issuer whose document names another is not ready', all(by('liar'))),
  s('malformed', 'what is no token', ['a.b.c', 'a.b', 'e30.e30.', '.e30.', 'e30..e30', 'e30.e30.e30.e30', '{"payload":"e30"}'].flatMap((token) => [whoami({ as: { token } }), review(token)])),
  s('review-audiences', 'a TokenReview with audiences: those of the server, not of the token', [TOKEN('t', by('plain')), review('${t}', { audiences: ['https://kubernetes.default.svc'] }), review('${t}', { audiences: ['compat'] }), review('${t}', { audiences: ['https://kubernetes.default.svc', 'compat'] })]),
  s('claims-types', 'registered claims of other types', all(by('plain', { nonce: 7 }), by('plain', { at_hash: {} }), by('plain', { iat: 'x' }), by('plain', { nbf: 'x' }))),
  s('claim-sources', 'distributed claims that lead nowhere', all(by('prefixed', { oid: '1', _claim_names: { groups: 'a' } }), by('prefixed', { oid: '1', _claim_names: { groups: '' }, _claim_sources: {} }), by('prefixed', { oid: '1', _claim_names: 7 }), by('prefixed', { oid: '1', _claim_names: { other: 'a' }, _claim_sources: { a: {} } }), by('prefixed', { oid: '1', _claim_names: { groups: 'a' }, _claim_sources: { a: { JWT: 'x.y.z' } } }), by('prefixed', { oid: '1', groups: ['own'], _claim_names: { groups: 'a' }, _claim_sources: { a: { endpoint: 'https://127.0.0.1:1/x' } } }))),
];

export default [...users, ...tokens];
