import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChecks } from './checks.ts'
import { checkHealth, checksOf, type Endpoint } from './health.ts'

const good = { name: 'good', fault: () => undefined }
const bad = { name: 'bad', fault: () => 'secret reason' }

const cases: readonly [string, typeof good | typeof bad, string, boolean, string][] = [
  ['a check that passes makes the endpoint healthy', good, '', true, 'ok'],
  ['verbose adds the checks that pass', good, 'verbose', true, '[+]good ok\nreadyz check passed\n'],
  ['reasons are withheld', bad, '', false, '[-]bad failed: reason withheld\nreadyz check failed\n'],
  ['an excluded check does not count', bad, 'exclude=bad', true, 'ok'],
  [
    'verbose reports an excluded check',
    bad,
    'verbose&exclude=bad',
    true,
    '[+]bad excluded: ok\nreadyz check passed\n',
  ],
  [
    'excluding an unknown check adds a warning',
    good,
    'verbose&exclude=x&exclude=y',
    true,
    '[+]good ok\nwarn: some health checks cannot be excluded: no matches for "x","y"\nreadyz check passed\n',
  ],
]
for (const [what, check, query, isHealthy, text] of cases) {
  test(what, async () => {
    assert.deepEqual(await checkHealth('readyz', [check], { query: new URLSearchParams(query) }), {
      isHealthy,
      text,
    })
  })
}

const isDone = (): boolean => true

test('if the startup is not finished, /livez fails only after the grace period, and the other endpoints fail immediately', async () => {
  let upMs = 1000
  const checks = createChecks({
    etcdFault: () => undefined,
    isStarted: isDone,
    isFilled: isDone,
    areRemotesListed: isDone,
    hasProxyClient: false,
    hasIdentity: true,
    isBootstrapped: () => false,
    isStopping: () => false,
    livezGraceMs: 2000,
    upMs: () => upMs,
  })
  const failing = async (endpoint: Endpoint): Promise<boolean> =>
    !(await checkHealth(endpoint, checksOf(endpoint, checks), { query: new URLSearchParams() }))
      .isHealthy
  assert.deepEqual(
    [await failing('livez'), await failing('healthz'), await failing('readyz')],
    [false, true, true],
  )
  upMs = 2001
  assert.ok(await failing('livez'))
})

test('/readyz fails until remote API servers are listed, and has a check of the proxy client certificate only if there is one', async () => {
  let areListed = false
  const fixed = {
    etcdFault: () => undefined,
    isStarted: isDone,
    isFilled: isDone,
    isBootstrapped: isDone,
  }
  const vitals = {
    ...fixed,
    areRemotesListed: () => areListed,
    isStopping: () => false,
    hasIdentity: true,
    livezGraceMs: 0,
    upMs: () => 0,
  }
  const linesOf = async (hasProxyClient: boolean): Promise<string> =>
    (
      await checkHealth('readyz', createChecks({ ...vitals, hasProxyClient }), {
        query: new URLSearchParams('verbose'),
      })
    ).text
  assert.match(await linesOf(false), /^\[-\]poststarthook\/apiservice-discovery-controller failed/m)
  areListed = true
  assert.match(await linesOf(false), /readyz check passed\n$/)
  assert.doesNotMatch(await linesOf(false), /aggregator-reload-proxy-client-cert|excluded/)
  assert.match(
    await linesOf(true),
    /^\[\+\]poststarthook\/aggregator-reload-proxy-client-cert ok$/m,
  )
})

const identityChecks = (hasIdentity: boolean): readonly string[] =>
  createChecks({
    etcdFault: () => undefined,
    isStarted: isDone,
    isFilled: isDone,
    areRemotesListed: isDone,
    hasProxyClient: false,
    hasIdentity,
    isBootstrapped: isDone,
    isStopping: () => false,
    livezGraceMs: 0,
    upMs: () => 0,
  })
    .map(({ name }) => name)
    .filter((name) => name.includes('identity-lease'))

test('without the feature gate APIServerIdentity, there are no checks for the identity Lease', () => {
  assert.deepEqual(identityChecks(true), [
    'poststarthook/start-kube-apiserver-identity-lease-controller',
    'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  ])
  assert.deepEqual(identityChecks(false), [])
})
