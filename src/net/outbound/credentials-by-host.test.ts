import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeconfigUser } from './kubeconfig.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { credentialsByHost } from './credentials-by-host.ts'

const userOf = (token: string): KubeconfigUser => ({
  credentials: { kind: 'token', token, path: null },
  clientCertificate: null,
  impersonate: null,
})

/**
 * Returns the token that is sent to a webhook. `names` are the names of the users in the
 * kubeconfig. For simplicity, the token of each user is equal to its name.
 */
async function tokenFor(
  names: readonly string[],
  host: string,
  port = 443,
): Promise<string | undefined> {
  const byName = new Map(names.map((name) => [name, userOf(name)]))
  const credentials = credentialsByHost({ byName, current: userOf('current') }, systemClock)(
    host,
    port,
  )
  const { authorization } = (await credentials?.headers()) ?? {}
  return typeof authorization === 'string' ? authorization.slice('Bearer '.length) : undefined
}

const cases: readonly (readonly [readonly string[], string, number, string])[] = [
  [['a.b.svc:443', 'a.b.svc', '*'], 'a.b.svc', 443, 'a.b.svc:443'],
  [['a.b.svc', '*.b.svc:443'], 'a.b.svc', 443, '*.b.svc:443'],
  [['a.b.svc', '*.b.svc', '*.svc'], 'a.b.svc', 443, 'a.b.svc'],
  [['*.svc', '*.b.svc', '*'], 'a.b.svc', 443, '*.b.svc'],
  [['*.svc', '*'], 'a.b.svc', 443, '*.svc'],
  [['a.b.svc', '*.svc', '*'], 'a.b.svc', 8443, '*'],
  [['*.svc:8443'], 'a.b.svc', 8443, '*.svc:8443'],
  [['b.svc', '*.a.b.svc', 'a.b'], 'a.b.svc', 443, 'current'],
  [['[::1]:8443'], '::1', 8443, '[::1]:8443'],
]
for (const [names, host, port, wanted] of cases) {
  test(`of the users ${names.join(' ')}, the credentials of ${wanted} are sent to ${host}:${port}`, async () => {
    assert.equal(await tokenFor(names, host, port), wanted)
  })
}

test('without a current context, a webhook without a matching user is called without credentials', () => {
  assert.equal(
    credentialsByHost({ byName: new Map(), current: null }, systemClock)('a', 443),
    undefined,
  )
})

test('a user without credentials sends neither headers nor a certificate', async () => {
  const none: KubeconfigUser = {
    credentials: { kind: 'none' },
    clientCertificate: null,
    impersonate: null,
  }
  const found = credentialsByHost({ byName: new Map([['*', none]]), current: null }, systemClock)(
    'a',
    443,
  )
  assert.deepEqual([await found?.headers(), await found?.certificate()], [{}, undefined])
})
