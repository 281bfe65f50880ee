/** Test cases for `--authentication-config`. */
import type { Json } from '../../../src/api/object.ts'
import { casesOf, type ConfigCase, type FileTable, formCases, yamlOf } from './case.ts'

type Fields = { readonly [field: string]: Json }

const group = 'apiserver.config.k8s.io'
const kind = 'AuthenticationConfiguration'
const issuer: Fields = { url: 'https://login.example.org/realm', audiences: ['cluster'] }
const username: Fields = { claim: 'sub', prefix: 'login:' }
const one: Fields = { issuer, claimMappings: { username } }

const file = (fields: Fields, version = 'v1beta1'): string =>
  yamlOf({ apiVersion: `${group}/${version}`, kind, ...fields })
const jwt = (fields: Fields): string => file({ jwt: [{ ...one, ...fields }] })
const issuerWith = (fields: Fields): string => jwt({ issuer: { ...issuer, ...fields } })
const mappings = (fields: Fields): string => jwt({ claimMappings: { username, ...fields } })
const name = (mapping: Fields): string => jwt({ claimMappings: { username: mapping } })
const rules = (...claimValidationRules: Fields[]): string => jwt({ claimValidationRules })
const users = (...userValidationRules: Fields[]): string => jwt({ userValidationRules })
const rule = (expression: string): string => rules({ expression })
const user = (expression: string): string => users({ expression })
const extra = (...pairs: readonly (readonly [string, string])[]): string =>
  mappings({ extra: pairs.map(([key, valueExpression]) => ({ key, valueExpression })) })

const issuers: FileTable = {
  'jwt/none': file({ jwt: [] }),
  'jwt/null': file({ jwt: null }),
  'jwt/item-null': file({ jwt: [null] }),
  'jwt/item-empty': file({ jwt: [{}] }),
  'jwt/is-map': file({ jwt: {} }),
  'jwt/v1alpha1': file({ jwt: [one] }, 'v1alpha1'),
  'jwt/v1': file({ jwt: [one] }, 'v1'),
  'jwt/64': file({
    jwt: Array.from({ length: 64 }, (_, at) => ({
      ...one,
      issuer: { ...issuer, url: `https://i${at}.example.org` },
    })),
  }),
  'jwt/65': file({
    jwt: Array.from({ length: 65 }, (_, at) => ({
      ...one,
      issuer: { ...issuer, url: `https://i${at}.example.org` },
    })),
  }),
  'jwt/same-issuer-three-times': file({ jwt: [one, one, one] }),
  'jwt/same-discovery': file({
    jwt: ['a', 'b'].map((host) => ({
      ...one,
      issuer: {
        ...issuer,
        url: `https://${host}.example.org`,
        discoveryURL: 'https://d.example.org/x',
      },
    })),
  }),
  'jwt/issuers-differ-by-case': file({
    jwt: [one, { ...one, issuer: { ...issuer, url: 'https://LOGIN.example.org/realm' } }],
  }),
  'issuer/text': jwt({ issuer: 'https://login.example.org' }),
  'issuer/unknown-field': issuerWith({ jwks: 'x' }),
  'issuer/url-blank': issuerWith({ url: '' }),
  'issuer/url-number': issuerWith({ url: 5 }),
  'issuer/url-http': issuerWith({ url: 'http://login.example.org' }),
  'issuer/url-upper-case-scheme': issuerWith({ url: 'HTTPS://login.example.org' }),
  'issuer/url-no-scheme': issuerWith({ url: 'login.example.org/realm' }),
  'issuer/url-no-host': issuerWith({ url: 'https://' }),
  'issuer/url-opaque': issuerWith({ url: 'https:login.example.org' }),
  'issuer/url-host-and-port-alone': issuerWith({ url: 'login.example.org:443' }),
  'issuer/url-starts-with-colon': issuerWith({ url: '://login.example.org' }),
  'issuer/url-colon-in-first-segment': issuerWith({ url: '1a:b/c' }),
  'issuer/url-space-in-host': issuerWith({ url: 'https://login example.org' }),
  'issuer/url-space-in-path': issuerWith({ url: 'https://login.example.org/a b' }),
  'issuer/url-bad-port': issuerWith({ url: 'https://login.example.org:x1' }),
  'issuer/url-blank-port': issuerWith({ url: 'https://login.example.org:/a' }),
  'issuer/url-bad-escape': issuerWith({ url: 'https://login.example.org/%zz' }),
  'issuer/url-bad-escape-in-host': issuerWith({ url: 'https://login%.example.org' }),
  'issuer/url-bad-escape-in-fragment': issuerWith({ url: 'https://login.example.org#%q' }),
  'issuer/url-open-bracket': issuerWith({ url: 'https://[::1' }),
  'issuer/url-ipv6': issuerWith({ url: 'https://[::1]:443/a' }),
  'issuer/url-behind-bracket': issuerWith({ url: 'https://[::1]x/a' }),
  'issuer/url-control-character': issuerWith({ url: 'https://login.example.org/\u0001' }),
  'issuer/url-user': issuerWith({ url: 'https://me@login.example.org' }),
  'issuer/url-bad-user': issuerWith({ url: 'https://m e@login.example.org' }),
  'issuer/url-query': issuerWith({ url: 'https://login.example.org/?a' }),
  'issuer/url-query-blank': issuerWith({ url: 'https://login.example.org/?' }),
  'issuer/url-fragment': issuerWith({ url: 'https://login.example.org/#a' }),
  'issuer/url-fragment-blank': issuerWith({ url: 'https://login.example.org/#' }),
  'issuer/url-everything': issuerWith({ url: 'ftp://me:pw@login.example.org/?a=b#c' }),
  'issuer/url-of-service-accounts': issuerWith({ url: 'https://accounts.example.org' }),
  'issuer/url-of-service-accounts-second-of-two': file({
    jwt: [one, { ...one, issuer: { ...issuer, url: 'https://accounts.example.org' } }],
  }),
  'issuer/discovery': issuerWith({
    discoveryURL: 'https://d.example.org/.well-known/openid-configuration',
  }),
  'issuer/discovery-blank': issuerWith({ discoveryURL: '' }),
  'issuer/discovery-same': issuerWith({ discoveryURL: 'https://login.example.org/realm' }),
  'issuer/discovery-same-but-slashes': issuerWith({
    discoveryURL: 'https://login.example.org/realm//',
  }),
  'issuer/discovery-http-and-query': issuerWith({ discoveryURL: 'http://d.example.org?x=1' }),
  'issuer/discovery-bad': issuerWith({ discoveryURL: 'https://d.example.org:a' }),
  'issuer/audiences-absent': jwt({ issuer: { url: 'https://login.example.org' } }),
  'issuer/audiences-null': issuerWith({ audiences: null }),
  'issuer/audiences-text': issuerWith({ audiences: 'cluster' }),
  'issuer/audiences-blank-twice': issuerWith({
    audiences: ['', ''],
    audienceMatchPolicy: 'MatchAny',
  }),
  'issuer/audiences-null-item': issuerWith({ audiences: [null] }),
  'issuer/audiences-two-without-policy': issuerWith({ audiences: ['a', 'b'] }),
  'issuer/audiences-two-same-without-policy': issuerWith({ audiences: ['a', 'a'] }),
  'issuer/policy-lower-case': issuerWith({ audienceMatchPolicy: 'matchany' }),
  'issuer/policy-of-two-unknown': issuerWith({ audiences: ['a', 'b'], audienceMatchPolicy: 'All' }),
  'issuer/policy-of-one': issuerWith({ audienceMatchPolicy: 'MatchAny' }),
  'issuer/authority-good': issuerWith({ certificateAuthority: '$CA' }),
  'issuer/authority-text': issuerWith({ certificateAuthority: 'no certificate' }),
  'issuer/authority-no-base64': issuerWith({ certificateAuthority: '$BASE64' }),
  'issuer/authority-no-base64-and-good': issuerWith({ certificateAuthority: '$BASE64$CA' }),
  'issuer/authority-is-key': issuerWith({ certificateAuthority: '$KEY' }),
  'issuer/authority-broken': issuerWith({
    certificateAuthority: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  }),
}

const mapping: FileTable = {
  'username/none': name({}),
  'username/null': jwt({ claimMappings: { username: null } }),
  'username/mappings-null': jwt({ claimMappings: null }),
  'username/both': name({ claim: 'sub', expression: 'claims.sub' }),
  'username/no-prefix': name({ claim: 'sub' }),
  'username/prefix-null': name({ claim: 'sub', prefix: null }),
  'username/prefix-and-expression': name({ expression: 'claims.sub', prefix: 'x' }),
  'username/prefix-and-broken-expression': name({ expression: 'claims.', prefix: 'x' }),
  'username/expression': name({ expression: "'login:' + claims.sub" }),
  'username/expression-any-type': name({ expression: 'claims' }),
  'username/expression-of-user': name({ expression: 'user.username' }),
  'username/expression-no-overload': name({ expression: "1 + 'a'" }),
  'username/expression-blank': name({ expression: ' ' }),
  'username/expression-two-lines': name({ expression: 'claims.a\n== ??' }),
  'username/expression-bad-pattern': name({ expression: "'a'.matches('[')" }),
  'username/expression-library': name({ expression: "claims.sub.lowerAscii().replace('a', 'b')" }),
  'username/expression-quantity': name({ expression: "string(quantity('1Ki').asInteger())" }),
  'username/expression-semver': name({ expression: "string(isSemver('1.2.3'))" }),
  'username/expression-two-variables': name({ expression: 'string(claims.list.all(i, v, i < 3))' }),
  'username/expression-bind': name({ expression: 'cel.bind(a, claims.sub, a)' }),
  'username/expression-authorizer': name({
    expression: "string(authorizer.path('/').check('get').allowed())",
  }),
  'username/unknown-field': name({ claim: 'sub', prefix: '', suffix: 'x' }),
  'email/alone': name({ expression: 'claims.email' }),
  'email/in-ternary': name({ expression: 'has(claims.email) ? claims.email : claims.sub' }),
  'email/in-map-key': name({ expression: '{claims.email: 1}.size() == 1 ? "a" : "b"' }),
  'email/in-macro': name({ expression: '["a"].exists(x, x == claims.email) ? "a" : "b"' }),
  'email/as-receiver': name({ expression: 'claims.email.split("@")[0]' }),
  'email/deeper': name({ expression: 'claims.email.address' }),
  'email/of-another': name({ expression: 'claims.other.email' }),
  'email/by-index': name({ expression: 'claims["email"]' }),
  'email/variable-of-macro-named-claims': name({
    expression: '[{"email": "a"}].map(claims, claims.email)[0]',
  }),
  'email/verified-in-same': name({
    expression: 'claims.?email_verified.orValue(false) ? claims.email : "x"',
  }),
  'email/verified-in-broken-rule': jwt({
    claimMappings: { username: { expression: 'claims.email' } },
    claimValidationRules: [{ expression: 'claims.email_verified' }],
  }),
  'email/verified-in-rule': jwt({
    claimMappings: { username: { expression: 'claims.email' } },
    claimValidationRules: [{ expression: 'claims.email_verified == true' }],
  }),
  'email/verified-in-user-rule': jwt({
    claimMappings: { username: { expression: 'claims.email' } },
    userValidationRules: [{ expression: 'claims.email_verified' }],
  }),
  'email/verified-in-groups': jwt({
    claimMappings: {
      username: { expression: 'claims.email' },
      groups: { expression: 'claims.email_verified' },
    },
  }),
  'email/expression-and-prefix': name({ expression: 'claims.email', prefix: '' }),
  'groups/claim': mappings({ groups: { claim: 'groups', prefix: '' } }),
  'groups/no-prefix': mappings({ groups: { claim: 'groups' } }),
  'groups/both-and-prefix': mappings({
    groups: { claim: 'groups', expression: 'claims.groups', prefix: 'x' },
  }),
  'groups/only-prefix': mappings({ groups: { prefix: 'x' } }),
  'groups/broken': mappings({ groups: { expression: 'claims.groups.filter(' } }),
  'groups/null': mappings({ groups: null }),
  'uid/claim': mappings({ uid: { claim: 'id' } }),
  'uid/both': mappings({ uid: { claim: 'id', expression: 'claims.id' } }),
  'uid/prefix': mappings({ uid: { claim: 'id', prefix: 'x' } }),
  'uid/broken': mappings({ uid: { expression: 'claims..id' } }),
  'extra/good': extra(['example.org/a', 'claims.a'], ['sub.example.org/b/c', "['x']"]),
  'extra/key-blank': extra(['', 'claims.a']),
  'extra/key-blank-twice': extra(['', 'claims.a'], ['', 'claims.b']),
  'extra/key-without-domain': extra(['a', 'claims.a']),
  'extra/key-without-path': extra(['example.org/', 'claims.a']),
  'extra/key-capital': extra(['example.org/aB', 'claims.a']),
  'extra/key-capital-domain': extra(['EXAMPLE.org/a', 'claims.a']),
  'extra/key-underscore-domain': extra(['ex_ample.org/a', 'claims.a']),
  'extra/key-blank-in-path': extra(['example.org/a b?', 'claims.a']),
  'extra/key-of-kubernetes': extra(
    ['kubernetes.io/a', 'claims.a'],
    ['x.y.kubernetes.io/b', 'claims.a'],
    ['k8s.io/c', 'claims.a'],
  ),
  'extra/key-like-kubernetes': extra(
    ['mykubernetes.io/a', 'claims.a'],
    ['k8s.io.example.org/b', 'claims.a'],
  ),
  'extra/key-twice': extra(['example.org/a', 'claims.a'], ['example.org/a', 'claims.(']),
  'extra/no-value': extra(['example.org/a', '']),
  'extra/broken': extra(['example.org/a', 'claims.a +']),
}

const ruleCases: FileTable = {
  'claim-rule/good': rules(
    { claim: 'tenant', requiredValue: 'a' },
    { expression: "claims.tenant == 'a'", message: 'no' },
  ),
  'claim-rule/empty': rules({}),
  'claim-rule/both': rules({ claim: 'a', expression: 'true' }),
  'claim-rule/both-and-more': rules({
    claim: 'a',
    expression: 'true',
    message: 'm',
    requiredValue: 'v',
  }),
  'claim-rule/claim-and-message': rules({ claim: 'a', message: 'm' }),
  'claim-rule/claim-twice': rules({ claim: 'a' }, { claim: 'a', requiredValue: 'x' }),
  'claim-rule/expression-and-value': rules({ expression: 'true', requiredValue: 'v' }),
  'claim-rule/expression-twice': rules(
    { expression: 'true' },
    { expression: 'true', requiredValue: 'v' },
  ),
  'claim-rule/expressions-differ-by-blank': rules({ expression: 'true' }, { expression: 'true ' }),
  'claim-rule/dynamic': rule('claims.ok'),
  'claim-rule/number': rule('1'),
  'claim-rule/null': rule('null'),
  'claim-rule/list': rule('[true]'),
  'claim-rule/converted': rule('bool(claims.ok)'),
  'claim-rule/unknown-function': rule('isTenant(claims)'),
  'claim-rule/unknown-variable': rule('request.user == "a"'),
  'claim-rule/mixed-list': rule("[1, 'a'].size() == 2"),
  'claim-rule/bad-escape': rule("claims.a == '\\q'"),
  'claim-rule/single-equals': rule("claims.a = 'b'"),
  'claim-rule/reserved-word': rule('claims.for == 1'),
  'claim-rule/any-of-no-overload': rule('claims.a.startsWith(1)'),
  'claim-rule/any-in-list': rule('[claims.a, 1].size() == 2'),
  'claim-rule/any-in-mixed-list': rule("[claims.a, 1, 'x'].size() == 2"),
  'claim-rule/any-as-condition': rule('claims.a ? true : false'),
  'claim-rule/any-has-item': rule("'x' in claims.groups"),
  'claim-rule/any-through-macro': rule('claims.groups.map(g, g).size() == 0'),
  'claim-rule/any-through-optional': rule("claims.?groups.orValue([]).exists(g, g == 'x')"),
  'claim-rule/any-size': rule('size(claims.groups) > 0'),
  'claim-rule/any-type': rule('type(claims.a) == string'),
  'claim-rule/any-optional-index': rule("claims[?'a'].hasValue()"),
  'claim-rule/any-plus-any': rule('claims.a + claims.b'),
  'claim-rule/all-claims': rule("claims.all(name, name != 'x')"),
  'claim-rule/deeper-than-any': rule('claims.a.b.all(x, x)'),
  'user-rule/good': user("!user.username.startsWith('system:')"),
  'user-rule/all-fields': user(
    "user.uid != '' && 'a' in user.groups && user.extra.all(k, user.extra[k].size() < 3)",
  ),
  'user-rule/blank': users({ expression: '', message: 'm' }),
  'user-rule/twice': users({ expression: 'true' }, { expression: 'true' }),
  'user-rule/not-bool': user('user.extra'),
  'user-rule/unknown-field': user("user.name == 'a'"),
  'user-rule/wrong-type': user('user.groups == "a"'),
  'user-rule/of-claims': user('has(claims.a)'),
  'user-rule/broken': user('user.username.startsWith('),
  'several/of-everything': file({
    jwt: [
      {
        issuer: { url: 'x:y', discoveryURL: 'x:y' },
        claimValidationRules: [{}, { claim: 'a', message: 'b' }],
        claimMappings: { uid: { claim: 'a', expression: 'b' }, extra: [{ key: 'K' }] },
      },
      {
        issuer: { url: 'x:y', audiences: ['', ''] },
        claimMappings: { username: { claim: 'a' } },
        userValidationRules: [{}],
      },
    ],
    anonymous: { enabled: false, conditions: [{ path: '/a' }, {}] },
  }),
}

const anonymous: FileTable = {
  'anonymous/on': file({ anonymous: { enabled: true } }),
  'anonymous/off': file({ anonymous: { enabled: false } }),
  'anonymous/empty': file({ anonymous: {} }),
  'anonymous/null': file({ anonymous: null }),
  'anonymous/text': file({ anonymous: 'yes' }),
  'anonymous/enabled-text': file({ anonymous: { enabled: 'yes' } }),
  'anonymous/conditions': file({
    anonymous: { enabled: true, conditions: [{ path: '/healthz' }, { path: '' }, { path: 'x' }] },
  }),
  'anonymous/conditions-while-off': file({
    anonymous: { conditions: [{ path: '/healthz' }, { path: '/"' }] },
  }),
  'anonymous/flag-too': [file({ anonymous: { enabled: true } }), { 'anonymous-auth': 'false' }],
  'anonymous/flag-too-and-faults': [
    file({ jwt: [{}], anonymous: { enabled: true } }),
    { 'anonymous-auth': 'false' },
  ],
  'anonymous/flag-alone': [file({ jwt: [] }), { 'anonymous-auth': 'false' }],
  'anonymous/gate-off': [
    file({ anonymous: { conditions: [{}] } }),
    { 'feature-gates': 'AnonymousAuthConfigurableEndpoints=false' },
  ],
  'gate/off': [
    file({ jwt: [one] }),
    { 'feature-gates': 'StructuredAuthenticationConfiguration=false' },
  ],
  'flags/oidc-too': [file({ jwt: [one] }), { 'oidc-username-claim': 'x' }],
}

export const authenticationCases: readonly ConfigCase[] = casesOf(
  'authentication',
  { 'authentication-config': '$FILE' },
  {
    ...formCases(`${group}/v1beta1`, kind, `jwt: ${JSON.stringify([one])}\n`),
    ...issuers,
    ...mapping,
    ...ruleCases,
    ...anonymous,
    'form/kind-of-authorization': `apiVersion: ${group}/v1\nkind: AuthorizationConfiguration\nauthorizers: []\n`,
    'form/kind-of-authorization-with-unknown-field': `apiVersion: ${group}/v1\nkind: AuthorizationConfiguration\nother: []\n`,
    'form/kind-of-tracing': `apiVersion: ${group}/v1beta1\nkind: TracingConfiguration\n`,
  },
)
