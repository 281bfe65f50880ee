// Claims mapped and checked by expressions, and an issuer by flags (§5).
import { scenario, POST, TOKEN } from '../steps.ts';
import { whoami } from './kit/access.mjs';

const s = (id, about, steps, needs = 'oidc') => scenario(`oidc-${id}`, { section: '5', about, needs, namespace: false }, steps);
const review = (token) => POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } }, { pick: (b) => b.status });
const by = (issuer, claims = {}, o = {}) => ({ issuer, claims, ...o });
const all = (...list) => list.flatMap((options, at) => [whoami({ as: { token: options } }), TOKEN(`t${at}`, options), review(`\${t${at}}`)]);
const name = '$ns-u';

export default [
  s('expression-user', 'a user name by an expression', all(by('expressions', { name }), by('expressions', { name: '' }), by('expressions', { name: 7 }), by('expressions'), by('expressions', { name: ['a'] }))),
  s('expression-groups', 'groups by an expression', all(by('expressions', { name, roles: ['a', '', 'b'] }), by('expressions', { name, roles: 'a' }), by('expressions', { name, roles: '' }), by('expressions', { name, roles: ['a', 7] }), by('expressions', { name, roles: 7 }), by('expressions', { name, roles: { a: 1 } }))),
  s('expression-uid', 'a uid by an expression', all(by('expressions', { name, oid: '7' }), by('expressions', { name, oid: 7 }))),
  s('expression-extra', 'extra by expressions', all(by('expressions', { name, one: 'a', two: ['b', 'c'] }), by('expressions', { name, one: '', two: [] }), by('expressions', { name, one: 7 }), by('expressions', { name, two: [7] }), by('expressions', { name, one: ['a', ''], jti: 'j' }))),
  s('required', 'claims with a required value', all(by('required', { hd: 'example.com', empty: '' }), by('required', { hd: 'example.com' }), by('required', { hd: 'other.com', empty: '' }), by('required', { hd: 7, empty: '' }), by('required', { empty: '', hd: ['example.com'] }))),
  s('claim-rules', 'rules on claims', all(by('rules', {}, { expIn: 3600 }), by('rules', {}, { expIn: 3660 }), by('rules', { tenant: 'a' }), by('rules', { tenant: 'c' }), by('rules', { tenant: 7 }))),
  s('claim-rules-error', 'a rule that fails', all(by('rules', { iat: null }))),
  s('user-rules', 'rules on the user', all(by('rules', { sub: 'system:x' }), by('rules', { groups: ['a', 'system:masters'] }), by('rules', { groups: ['a'] }))),
  s('rules-order', 'claims are mapped before rules are looked at, claims are checked before users', all(by('rules', { sub: 7, tenant: 'c' }), by('rules', { sub: 'system:x', tenant: 'c' }))),
  s('verified', 'an email address in an expression', all(by('verified', { email: 'jane@example.com', email_verified: true }), by('verified', { email: 'jane@example.com', email_verified: false }), by('verified', { email: 'jane@example.com' }))),
  s('flags-user', 'an issuer by flags: no prefix for email addresses', all(by('flags', { email: 'jane@example.com', groups: ['a'], hd: 'example.com' }, { key: 'ec' })), 'oidc-flags'),
  s('flags-algorithm', 'an issuer by flags: only its algorithms', all(by('flags', { email: 'jane@example.com', hd: 'example.com' })), 'oidc-flags'),
  s('flags-required', 'an issuer by flags: a required claim', all(by('flags', { email: 'jane@example.com' }, { key: 'ec' }), by('flags', { email: 'jane@example.com', hd: 'x' }, { key: 'ec' })), 'oidc-flags'),
  s('flags-unverified', 'an issuer by flags: an email address that is not verified', all(by('flags', { email: 'jane@example.com', email_verified: false, hd: 'example.com' }, { key: 'ec' })), 'oidc-flags'),
];
