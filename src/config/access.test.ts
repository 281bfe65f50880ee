/**
 * Tests how the access and audit flags, and the files that they name, are converted to a
 * configuration. files/recorded.test.ts tests the errors.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { authorizationTable, type RawFlags, rawOf } from '../../test/recorded/config-files/judge.ts'
import { defaultGates, defaultGatesOf } from '../api/gates.ts'
import { createAuthority } from '../lib/x509/certificates.ts'
import { valueOf } from '../objects/cel/json-values.ts'
import { any, map, string } from '../objects/cel/types.ts'
import { type AuditConfig, readAudit } from './audit.ts'
import { type AuthenticationConfig, readAuthentication } from './authentication.ts'
import {
  type AuthorizationConfig,
  type AuthorizerConfig,
  readAuthorization,
  rereadAuthorization,
} from './authorization.ts'
import { rereadAuthenticationConfiguration } from './files/authentication.ts'
import type { FileRead } from './files/config-file.ts'
import { readKubeconfig } from './files/kubeconfig.ts'
import { checkArgs } from './config.ts'
import { flags } from './flags.ts'
import { Values } from './values.ts'

const dir = mkdtempSync(join(tmpdir(), 'keelson-access-'))
after(() => rmSync(dir, { recursive: true }))

function write(name: string, text: string): string {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}

const kubeconfig = write(
  'kubeconfig',
  `clusters: [{name: c, cluster: {server: "https://127.0.0.1:9/a", insecure-skip-tls-verify: true, tls-server-name: hook}}]
users: [{name: u, user: {tokenFile: token, as: me, as-groups: [g], as-user-extra: {k: [v]}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`,
)
write('token', 'secret\n')

const called = {
  server: 'https://127.0.0.1:9/a',
  tlsServerName: 'hook',
  isInsecure: true,
  certificateAuthority: '',
  proxyUrl: '',
  credentials: { kind: 'token', token: 'secret', path: join(dir, 'token') },
  clientCertificate: null,
  impersonate: { name: 'me', uid: '', groups: ['g'], extra: { k: ['v'] } },
}

const warn = (): void => undefined

type AccessConfig = {
  readonly authentication: AuthenticationConfig
  readonly authorization: AuthorizationConfig
}

function readAccess(given: RawFlags): AccessConfig {
  const values = new Values(flags, rawOf(given, flags), [])
  const authorizationValues = new Values(authorizationTable, rawOf(given, authorizationTable), [])
  const parts = {
    authentication: readAuthentication(values, { gates: defaultGates, warn, isOpen: false }),
    authorization: readAuthorization(authorizationValues, { gates: defaultGates, warn }),
  }
  assert.deepEqual([...values.faults, ...authorizationValues.faults], [])
  return parts
}

function readAuditing(given: RawFlags): AuditConfig {
  const values = new Values(flags, rawOf(given, flags), [])
  const audit = readAudit(values, warn)
  assert.deepEqual(values.faults, [])
  return audit
}

test('without flags, authentication, authorization and auditing have the defaults of kube-apiserver', () => {
  const { authentication, authorization } = readAccess({})
  assert.deepEqual(authentication, {
    anonymous: { isEnabled: true, paths: [] },
    requestHeader: null,
    hasBootstrapTokens: false,
    looksUpServiceAccounts: true,
    jwt: [],
    signingAlgorithms: [],
    file: null,
    webhook: null,
  })
  const all = { type: 'AlwaysAllow', name: 'alwaysallow' }
  assert.deepEqual(authorization, { authorizers: [all], file: null })
  assert.deepEqual(readAuditing({}), { policy: null, log: null, webhook: null })
})

test('the --oidc-* flags configure an issuer, like an issuer in a file', () => {
  const { authentication } = readAccess({
    'oidc-issuer-url': 'https://a.example.org',
    'oidc-client-id': 'cluster',
    'oidc-groups-claim': 'groups',
    'oidc-groups-prefix': 'g:',
    'oidc-required-claim': ['a=b', ' c = d=e'],
    'oidc-signing-algs': 'ES256,RS256',
  })
  assert.deepEqual(authentication.signingAlgorithms, ['ES256', 'RS256'])
  assert.deepEqual(authentication.jwt, [
    {
      issuer: {
        url: 'https://a.example.org',
        discoveryUrl: '',
        certificateAuthority: '',
        audiences: ['cluster'],
        audienceMatchPolicy: '',
      },
      claimRules: [
        { kind: 'claim', claim: 'a', requiredValue: 'b' },
        { kind: 'claim', claim: 'c', requiredValue: 'd=e' },
      ],
      userRules: [],
      username: { kind: 'claim', claim: 'sub', prefix: 'https://a.example.org#' },
      groups: { kind: 'claim', claim: 'groups', prefix: 'g:' },
      uid: null,
      extra: [],
    },
  ])
})

test('--oidc-username-prefix sets the prefix of user names, and the value - disables it; email addresses have no prefix by default', () => {
  const oidc = { 'oidc-issuer-url': 'https://a.example.org', 'oidc-client-id': 'cluster' }
  const prefixOf = (given: RawFlags): string | undefined => {
    const [one] = readAccess({ ...oidc, ...given }).authentication.jwt
    return one?.username.kind === 'claim' ? one.username.prefix : undefined
  }
  assert.equal(prefixOf({ 'oidc-username-prefix': '-' }), '')
  assert.equal(prefixOf({ 'oidc-username-prefix': 'x:' }), 'x:')
  assert.equal(prefixOf({ 'oidc-username-claim': 'email' }), '')
})

test('an AuthenticationConfiguration file configures issuers, and its expressions are compiled', () => {
  const path = write(
    'authentication.yaml',
    `apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: "https://a.example.org", discoveryURL: "https://b.example.org/x", audiences: [one, two], audienceMatchPolicy: MatchAny}
  claimValidationRules: [{expression: "claims.tenant == 'a'", message: other tenant}]
  claimMappings:
    username: {expression: "'a:' + claims.sub"}
    uid: {claim: id}
    extra: [{key: example.org/tenant, valueExpression: claims.tenant}]
  userValidationRules: [{expression: "!user.username.startsWith('system:')"}]
anonymous: {enabled: true, conditions: [{path: /livez}]}
`,
  )
  const { authentication } = readAccess({ 'authentication-config': path })
  assert.equal(authentication.file?.path, path)
  assert.equal(authentication.signingAlgorithms.length, 9)
  assert.deepEqual(authentication.anonymous, { isEnabled: true, paths: ['/livez'] })
  assert.deepEqual(authentication.file.bytes, readFileSync(path))
  const [one] = authentication.jwt
  assert.ok(one?.username.kind === 'expression')
  const { program } = one.username.expression
  const named = program.evaluate({ claims: valueOf({ sub: 'me' }, map(string, any)) }, 1000)
  assert.ok('value' in named)
  assert.equal(named.value, 'a:me')
  assert.deepEqual(one.uid, { kind: 'claim', claim: 'id', prefix: '' })
  assert.equal(one.groups, null)
  assert.deepEqual(one.issuer.audiences, ['one', 'two'])
  assert.deepEqual(
    one.extra.map(({ key, value }) => [key, value.text]),
    [['example.org/tenant', 'claims.tenant']],
  )
  assert.deepEqual(
    one.claimRules.map((rule) => (rule.kind === 'expression' ? rule.message : '')),
    ['other tenant'],
  )
  assert.equal(one.userRules.length, 1)
})

const issuerFor = (audience: string): string =>
  `apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthenticationConfiguration
jwt: [{issuer: {url: "https://a.example.org", audiences: [${audience}]}, claimMappings: {username: {claim: sub, prefix: ""}}}]
`

test('the setting of --anonymous-auth is not stored as a setting of the AuthenticationConfiguration file', async () => {
  const path = write('no-anonymous.yaml', issuerFor('a'))
  const { anonymous, file } = readAccess({ 'authentication-config': path }).authentication
  assert.deepEqual(anonymous, { isEnabled: true, paths: [] }, 'as set by the flag')
  assert.ok(file !== null)
  assert.equal(file.path, path)
  assert.equal(file.bytes.toString(), issuerFor('a'))
  assert.equal(file.initial.anonymous, null)
  const options = { gates: defaultGates, disallowedIssuers: [] }
  const again = await rereadAuthenticationConfiguration(
    Buffer.from(issuerFor('b')),
    options,
    file.initial,
  )
  assert.ok('value' in again)
  assert.deepEqual(again.value.jwt[0]?.issuer.audiences, ['b'])
})

const authorizers = `authorizers:
- {type: Node, name: node}
- type: Webhook
  name: hook
  webhook:
    timeout: 1.5s
    unauthorizedTTL: 0s
    subjectAccessReviewVersion: v1beta1
    failurePolicy: Deny
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: ${kubeconfig}}
    matchConditionSubjectAccessReviewVersion: v1
    matchConditions: [{expression: "has(request.resourceAttributes)"}]
- {type: ABAC, name: abac}
`

test('an AuthorizationConfiguration file is read in the same way in all versions', () => {
  const abac = write('abac', '{"group":"*","resource":"pods"}\n')
  for (const version of ['v1alpha1', 'v1beta1', 'v1']) {
    const head = `apiVersion: apiserver.config.k8s.io/${version}\nkind: AuthorizationConfiguration\n`
    const path = write(`authorization-${version}`, head + authorizers)
    const { authorization } = readAccess({
      'authorization-config': path,
      'authorization-policy-file': abac,
    })
    const [node, hook, rules] = authorization.authorizers
    assert.deepEqual(node, { type: 'Node', name: 'node' })
    assert.ok(hook?.type === 'Webhook')
    const { conditions, ...webhook } = hook.webhook
    assert.deepEqual(webhook, {
      authorizedMs: 300_000,
      unauthorizedMs: 30_000,
      timeoutMs: 1500,
      reviewVersion: 'v1beta1',
      failurePolicy: 'Deny',
      connection: { type: 'KubeConfigFile', path: kubeconfig },
    })
    assert.deepEqual(
      conditions.map(({ text }) => text),
      ['has(request.resourceAttributes)'],
    )
    assert.deepEqual(hook.kubeconfig, called)
    const rule = { user: '', group: 'system:authenticated', isReadOnly: false, apiGroup: '*' }
    const expected = { ...rule, resource: 'pods', namespace: '*', nonResourcePath: '' }
    assert.deepEqual(rules, { type: 'ABAC', name: 'abac', rules: [expected] })
  }
})

const authorizationOf = (list: string): string =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [${list}]\n`

const hookOf = (connection: string): string =>
  `{type: Webhook, name: hook, webhook: {timeout: 1s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {${connection}}}}`

/**
 * Writes a file with the authorizers `initial`, reads it, and then reloads it with the authorizers
 * `changed`.
 */
async function reloadAuthorization(
  initial: string,
  changed: string,
): Promise<FileRead<readonly AuthorizerConfig[]>> {
  const abac = write('abac-of-reload', '{"group":"*","resource":"pods"}\n')
  const { authorization } = readAccess({
    'authorization-config': write('initial', authorizationOf(initial)),
    'authorization-policy-file': abac,
  })
  write('abac-of-reload', '{"group":"*","resource":"secrets"}\n')
  return rereadAuthorization(Buffer.from(authorizationOf(changed)), {
    gates: defaultGates,
    initial: authorization.authorizers,
  })
}

const [node, rbac, abac, all] = ['Node', 'RBAC', 'ABAC', 'AlwaysAllow'].map(
  (type) => `{type: ${type}, name: ${type.toLowerCase()}}`,
)

test('a reload of AuthorizationConfiguration can remove webhook authorizers, but no other authorizer', async () => {
  const hook = hookOf(`type: KubeConfigFile, kubeConfigFile: ${kubeconfig}`)
  assert.ok('value' in (await reloadAuthorization(`${rbac}, ${hook}`, `${rbac}, ${all}`)))
  assert.deepEqual(await reloadAuthorization(`${rbac}, ${node}, ${abac}`, `${rbac}`), {
    fault: 'missing required types: [ABAC Node]',
  })
})

test('a reloaded AuthorizationConfiguration file cannot add the authorizers Node, RBAC or ABAC', async () => {
  for (const [type, added] of Object.entries({ Node: node, RBAC: rbac, ABAC: abac })) {
    assert.deepEqual(await reloadAuthorization(`${all}`, `${all}, ${added}`), {
      fault: `authorizer type ${type} is not allowed if it was not enabled at initial server startup`,
    })
  }
})

test('reloading an AuthorizationConfiguration file reads its kubeconfigs again, and keeps the ABAC policies from startup', async () => {
  const hook = hookOf(`type: KubeConfigFile, kubeConfigFile: ${kubeconfig}`)
  const read = await reloadAuthorization(`${abac}`, `${hook}, ${abac}`)
  assert.ok('value' in read)
  const [one, rules] = read.value
  assert.ok(one?.type === 'Webhook')
  assert.deepEqual(one.kubeconfig, called)
  assert.ok(rules?.type === 'ABAC')
  assert.equal(rules.rules[0]?.resource, 'pods')
  assert.deepEqual(
    await reloadAuthorization(`${all}`, `${all}, ${hookOf('type: InClusterConfig')}`),
    {
      fault: 'connectionInfo.type InClusterConfig is not supported: use KubeConfigFile',
    },
  )
  const broken = hookOf(`type: KubeConfigFile, kubeConfigFile: ${write('broken', '[')}`)
  const refused = await reloadAuthorization(`${all}`, `${all}, ${broken}`)
  assert.ok(
    'fault' in refused && refused.fault.startsWith('error loading config file'),
    JSON.stringify(refused),
  )
})

test('--authorization-mode configures authorizers', () => {
  const { authorization } = readAccess({
    'authorization-mode': 'Node,Webhook',
    'authorization-webhook-config-file': kubeconfig,
    'authorization-webhook-cache-authorized-ttl': '1s',
  })
  const [, hook] = authorization.authorizers
  assert.ok(hook?.type === 'Webhook')
  assert.equal(hook.name, 'default')
  assert.equal(hook.webhook.authorizedMs, 1000)
  assert.equal(hook.webhook.reviewVersion, 'v1beta1')
})

test('credentials in a kubeconfig are ignored if the URL of the server does not use TLS', () => {
  const path = write(
    'plain',
    `clusters: [{name: c, cluster: {server: "127.0.0.1:9"}}]
users: [{name: u, user: {token: secret}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`,
  )
  const read = readKubeconfig(path)
  assert.ok(!('fault' in read))
  assert.equal(read.server, 'http://127.0.0.1:9')
  assert.deepEqual(read.credentials, { kind: 'none' })
})

test('the audit flags configure the audit policy, the log backend and the webhook backend', () => {
  const policy = write(
    'policy',
    `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, nonResourceURLs: ["/healthz*"]}
- {level: Request, omitManagedFields: true, resources: [{group: batch, resources: [jobs]}]}
`,
  )
  const audit = readAuditing({
    'audit-policy-file': policy,
    'audit-log-path': '-',
    'audit-log-maxsize': '10',
    'audit-webhook-config-file': kubeconfig,
    'audit-webhook-truncate-enabled': 'true',
  })
  assert.deepEqual(audit.policy?.omitStages, ['RequestReceived'])
  assert.deepEqual(
    audit.policy.rules.map(({ level, omitsManagedFields }) => [level, omitsManagedFields]),
    [
      ['None', null],
      ['Request', true],
    ],
  )
  assert.deepEqual(audit.log, {
    path: '-',
    mode: { kind: 'blocking' },
    truncate: null,
    format: 'json',
    rotation: { daysMax: 0, backupsMax: 0, megabytesMax: 10 },
    isCompressed: false,
  })
  assert.deepEqual(audit.webhook, {
    mode: {
      kind: 'batch',
      bufferEventsMax: 10_000,
      batchEventsMax: 400,
      waitMs: 30_000,
      throttle: { batchesPerSecond: 10, burst: 15 },
    },
    truncate: { batchBytesMax: 10_485_760, eventBytesMax: 102_400 },
    kubeconfig: called,
    initialBackoffMs: 10_000,
  })
})

test('if an audit flag is given under both of its names, the last value is used', () => {
  const policy = write(
    'policy-of-backoff',
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n',
  )
  const backoffOf = (...args: readonly string[]): number | undefined => {
    const hook = [`--audit-policy-file=${policy}`, `--audit-webhook-config-file=${kubeconfig}`]
    const checked = checkArgs(['--etcd-servers=http://127.0.0.1:1', ...hook, ...args])
    assert.ok(checked.kind === 'config')
    return checked.config.telemetry.audit.webhook?.initialBackoffMs
  }
  const [name, oldName] = [
    '--audit-webhook-initial-backoff',
    '--audit-webhook-batch-initial-backoff',
  ]
  assert.equal(backoffOf(), 10_000)
  assert.equal(backoffOf(`${oldName}=1s`), 1000)
  assert.equal(backoffOf(`${oldName}=1s`, `${name}=2s`), 2000)
  assert.equal(backoffOf(`${oldName}=1s`, `${name}=2s`, `${oldName}=3s`), 3000)
})

test('the allowed common name of a front proxy can contain a comma', () => {
  const authority = write('proxy-ca', createAuthority('proxy', Date.now()).certificatePem)
  const { authentication } = readAccess({
    'requestheader-client-ca-file': authority,
    'requestheader-username-headers': 'X-Remote-User',
    'requestheader-allowed-names': ['"Proxy, Inc",front', 'third'],
  })
  assert.deepEqual(authentication.requestHeader?.allowedNames, ['Proxy, Inc', 'front', 'third'])
})

test('since 1.35, a front proxy whose authority also verifies clients needs allowed names', () => {
  const pem = createAuthority('shared', Date.now()).certificatePem
  const [proxy, client] = [write('shared-proxy-ca', pem), write('shared-client-ca', pem)]
  const faultsIn = (release: number, more: RawFlags = {}): readonly string[] => {
    const given = {
      'requestheader-client-ca-file': proxy,
      'requestheader-username-headers': 'X-Remote-User',
      'client-ca-file': client,
      ...more,
    }
    const values = new Values(flags, rawOf(given, flags), [])
    readAuthentication(values, { gates: defaultGatesOf(release), warn, isOpen: false })
    return values.faults.map((fault) => fault.slice(0, 40))
  }
  assert.deepEqual(faultsIn(34), [])
  assert.deepEqual(faultsIn(35), ['--requestheader-client-ca-file and --cli'])
  assert.deepEqual(faultsIn(35, { 'requestheader-allowed-names': 'proxy' }), [])
})
