/**
 * Tests servers with encryption at rest on a real etcd: the stored values, the rotation of keys,
 * and failures of the KMS plugin.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { systemClock } from '../../src/lib/time/clock.ts'
import { EtcdEngine } from '../../src/storage/etcd-engine.ts'
import { rangeOf } from '../../src/storage/keys.ts'
import { freePorts, startEtcd } from '../support/harness/etcd.ts'
import { keelsonProgram, startKeelson } from '../support/harness/keelson.ts'
import { KmsPluginServer } from '../support/harness/kms-plugin.ts'
import { until } from '../support/harness/until.ts'
import { type Client, clients, startOn, type TestServer } from './support.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'keelson-encryption-'))
after(() => rmSync(folder, { recursive: true, force: true }))

type Provider = { readonly [kind: string]: object }

let files = 0
const at = (name: string): string => join(folder, `${++files}-${name}`)

const keys = (...names: readonly string[]): object => ({
  keys: names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') })),
})
const configOf = (resources: readonly string[], ...providers: readonly Provider[]): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources, providers }],
  })

/** Writes the configuration to a file and returns its path. */
function write(config: string, path = at('config.yaml')): string {
  writeFileSync(path, config)
  return path
}

const engineOf = (server: { readonly clientUrl: string }): EtcdEngine =>
  new EtcdEngine(
    new EtcdClient({
      endpoints: [server.clientUrl],
      tls: undefined,
      clock: systemClock,
      log: () => undefined,
    }),
  )

type Etcd = Awaited<ReturnType<typeof startEtcd>>

async function storedIn(
  etcd: Etcd,
  prefix = '/registry/',
): Promise<Map<string, { text: string; revision: number }>> {
  await using engine = engineOf(etcd)
  const { values } = await engine.range(rangeOf(prefix))
  return new Map(
    values.map(({ key, value, revision }) => [key, { text: value.toString('latin1'), revision }]),
  )
}

const prefixOf = (text: string | undefined): string =>
  /^k8s:enc:\w+:v\d:[^:]*:/.exec(text ?? '')?.[0] ?? 'plain'

const secrets = '/api/v1/namespaces/default/secrets'
const hidden = 'nobody is to see this'
const secret = (name: string, text = hidden) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { text },
})

async function call(client: Client, method: string, path: string, body?: unknown) {
  const answer = await client.call({ method, path, body })
  return { status: answer.status, body: JSON.parse(answer.text) }
}

/** Updates an object without changing it. Returns the resourceVersion before the update. */
async function putUnchanged(client: Client, name: string): Promise<number> {
  const { body } = await call(client, 'GET', `${secrets}/${name}`)
  const { status } = await call(client, 'PUT', `${secrets}/${name}`, body)
  assert.equal(status, 200)
  return Number(body.metadata.resourceVersion)
}

async function during(
  etcd: Etcd,
  args: readonly string[],
  act: (client: Client, server: TestServer) => Promise<void>,
): Promise<void> {
  await using server = await startOn(etcd, args)
  await using client = clients['HTTP/2']?.(server.url)
  assert.ok(client !== undefined)
  await act(client, server)
}

const withConfig = (path: string): readonly string[] => [`--encryption-provider-config=${path}`]

test('values can be migrated from plain text to a key, to another key, to another provider and back to plain text', async () => {
  await using etcd = await startEtcd()
  const [a, b] = ['/registry/secrets/default/a', '/registry/secrets/default/b']
  const stored = async (key: string): Promise<string> =>
    prefixOf((await storedIn(etcd, key)).get(key)?.text)
  await during(etcd, [], async (client) => {
    assert.equal((await call(client, 'POST', secrets, secret('a'))).status, 201)
    assert.equal(await stored(a), 'plain')
  })
  const first = write(configOf(['secrets'], { aesgcm: keys('k1') }, { identity: {} }))
  await during(etcd, withConfig(first), async (client) => {
    assert.equal((await call(client, 'POST', secrets, secret('b'))).status, 201)
    assert.equal(await stored(b), 'k8s:enc:aesgcm:v1:k1:')
    assert.equal(await stored(a), 'plain')
    await putUnchanged(client, 'a')
    assert.equal(
      await stored(a),
      'k8s:enc:aesgcm:v1:k1:',
      'an update without a change rewrites the value',
    )
    const before = (await storedIn(etcd, b)).get(b)?.revision
    await putUnchanged(client, 'b')
    assert.equal(
      (await storedIn(etcd, b)).get(b)?.revision,
      before,
      'a current value is not rewritten',
    )
    const { body } = await call(client, 'GET', secrets)
    assert.deepEqual(
      body.items.map((item: { data: { text: string } }) =>
        Buffer.from(item.data.text, 'base64').toString(),
      ),
      [hidden, hidden],
    )
  })
  const second = write(
    configOf(['secrets'], { secretbox: keys('k2') }, { aesgcm: keys('k3', 'k1') }),
  )
  await during(etcd, withConfig(second), async (client) => {
    await putUnchanged(client, 'a')
    assert.equal(await stored(a), 'k8s:enc:secretbox:v1:k2:')
    const patch = {
      method: 'PATCH',
      path: `${secrets}/b`,
      body: {},
      headers: { 'content-type': 'application/merge-patch+json' },
    }
    assert.equal((await client.call(patch)).status, 200)
    assert.equal(
      await stored(b),
      'k8s:enc:secretbox:v1:k2:',
      'a patch without a change also rewrites the value',
    )
  })
  const third = write(configOf(['secrets'], { identity: {} }, { secretbox: keys('k2') }))
  const { stdout } = await run(keelsonProgram, [
    'store',
    'rewrite',
    `--etcd-servers=${etcd.clientUrl}`,
    ...withConfig(third),
  ])
  assert.match(stdout, /^rewrote 2 of \d+ values\n$/)
  assert.equal(await stored(a), 'plain')
  await during(etcd, [], async (client) => {
    const { body } = await call(client, 'GET', `${secrets}/b`)
    assert.equal(Buffer.from(body.data.text, 'base64').toString(), hidden)
  })
})

test("all values are encrypted, except for the server's own records", async () => {
  await using etcd = await startEtcd()
  const path = write(configOf(['*.*'], { aescbc: keys('all') }, { identity: {} }))
  await during(etcd, withConfig(path), async (client) => {
    assert.equal((await call(client, 'POST', secrets, secret('a'))).status, 201)
    assert.equal((await call(client, 'GET', '/apis/apps/v1/deployments')).status, 200)
    const folders = new Map<string, Set<string>>()
    // Wait until the controllers, which start when the server is ready, have also written objects.
    await until(async () => {
      folders.clear()
      for (const [key, { text }] of await storedIn(etcd)) {
        const name = key.split('/')[2] ?? ''
        folders.set(name, (folders.get(name) ?? new Set()).add(prefixOf(text)))
      }
      return folders.size > 15
    }, 'objects of all controllers are stored')
    for (const [name, prefixes] of folders) {
      const isRecord = name === 'ranges' || name === 'masterleases'
      assert.deepEqual([...prefixes], [isRecord ? 'plain' : 'k8s:enc:aescbc:v1:all:'], name)
    }
  })
  const rewritten = write(configOf(['*.*'], { aesgcm: keys('next') }, { aescbc: keys('all') }))
  const { stdout } = await run(keelsonProgram, [
    'store',
    'rewrite',
    `--etcd-servers=${etcd.clientUrl}`,
    ...withConfig(rewritten),
  ])
  const [, done = ''] = /^rewrote (\d+) of \d+ values\n$/.exec(stdout) ?? []
  assert.ok(Number(done) > 100, stdout)
  const again = await run(keelsonProgram, [
    'store',
    'rewrite',
    `--etcd-servers=${etcd.clientUrl}`,
    ...withConfig(rewritten),
  ])
  assert.match(again.stdout, /^rewrote 0 of /, 'no value is left to rewrite')
  const wrong = write(configOf(['*.*'], { aesgcm: keys('other') }, { identity: {} }))
  await assert.rejects(
    run(keelsonProgram, [
      'store',
      'rewrite',
      `--etcd-servers=${etcd.clientUrl}`,
      ...withConfig(wrong),
    ]),
    /cannot be read: add the key or the provider that wrote them to the file\n {2}\/registry\//,
  )
})

test('objects can be written while the KMS plugin is killed and its key is rotated', async () => {
  await using etcd = await startEtcd()
  await using plugin = new KmsPluginServer(at('kms.sock'))
  await plugin.start()
  const kms = {
    kms: { apiVersion: 'v2', name: 'plugin', endpoint: plugin.endpoint, timeout: '20s' },
  }
  const path = write(configOf(['secrets', 'configmaps'], kms, { identity: {} }))
  await during(etcd, withConfig(path), async (client) => {
    const answers: number[] = []
    const writing = async (from: number): Promise<void> => {
      for (let n = from; n < from + 40; n++) {
        answers.push((await call(client, 'POST', secrets, secret(`s-${n}`))).status)
        answers.push((await call(client, 'GET', `${secrets}/s-${n}`)).status)
      }
    }
    await writing(0)
    await plugin.stop()
    await writing(100)
    plugin.keyId = 'key-2'
    await plugin.start()
    await writing(200)
    assert.deepEqual([...new Set(answers)], [201, 200])
    const stored = await storedIn(etcd, '/registry/secrets/')
    assert.equal(stored.size, 120)
    for (const { text } of stored.values()) {
      assert.equal(prefixOf(text), 'k8s:enc:kms:v2:plugin:')
      assert.ok(!text.includes(hidden) && !text.includes('s-1'))
    }
    await until(
      async () => (await client.call({ path: '/healthz/kms-providers' })).status === 200,
      'the plugin is available again',
    )
    assert.equal((await client.call({ path: '/livez/kms-providers' })).status, 404)
  })
  // Start a second server, which has its own DEK seed. To decrypt the seed of the first server, it
  // must call the plugin.
  await during(etcd, withConfig(path), async (client) => {
    const { status, body } = await call(client, 'GET', secrets)
    assert.equal(status, 200)
    assert.equal(body.items.length, 120)
    const metrics = (await client.call({ path: '/metrics' })).text
    assert.match(
      metrics,
      /apiserver_envelope_encryption_kms_operations_latency_seconds_count\{grpc_status_code="OK",method_name="\/v2.KeyManagementService\/Decrypt",provider_name="plugin"\} 1\n/,
    )
    assert.match(
      metrics,
      /apiserver_storage_transformation_operations_total\{resource="secrets",status="OK",transformation_type="from_storage",transformer_prefix="k8s:enc:kms:v2:plugin:"\} \d+/,
    )
  })
})

test("two servers receive each other's writes in order, even if a KMS plugin must first decrypt a key seed", async () => {
  await using etcd = await startEtcd()
  await using plugin = new KmsPluginServer(at('kms.sock'))
  await plugin.start()
  const kms = {
    kms: { apiVersion: 'v2', name: 'plugin', endpoint: plugin.endpoint, timeout: '20s' },
  }
  const path = write(configOf(['secrets'], kms, { identity: {} }))
  await during(etcd, withConfig(path), async (one) => {
    const { body } = await call(one, 'GET', secrets)
    const lines = one.lines({
      path: `${secrets}?watch=true&resourceVersion=${body.metadata.resourceVersion}`,
    })
    await during(etcd, withConfig(path), async (other) => {
      const paused = Promise.withResolvers<void>()
      plugin.pause = paused.promise
      for (const name of ['a', 'b', 'c'])
        assert.equal((await call(other, 'POST', secrets, secret(name))).status, 201)
      setImmediate(paused.resolve)
      const seen: string[] = []
      for await (const line of lines) {
        const { type, object } = JSON.parse(line)
        seen.push(`${type} ${object.metadata.name}`)
        if (seen.length === 3) break
      }
      assert.deepEqual(seen, ['ADDED a', 'ADDED b', 'ADDED c'])
      assert.equal((await call(one, 'GET', secrets)).body.items.length, 3)
    })
  })
})

test('a server whose KMS plugin is down starts, reports why it cannot read, and recovers', async () => {
  await using etcd = await startEtcd()
  await using plugin = new KmsPluginServer(at('kms.sock'))
  await plugin.start()
  const kms = {
    kms: { apiVersion: 'v2', name: 'plugin', endpoint: plugin.endpoint, timeout: '20s' },
  }
  const path = write(configOf(['secrets'], kms))
  await during(etcd, withConfig(path), async (client) => {
    assert.equal((await call(client, 'POST', secrets, secret('a'))).status, 201)
  })
  await plugin.stop()
  await during(etcd, withConfig(path), async (client) => {
    for (const [method, where, status, message] of [
      ['GET', `${secrets}/a`, 500, 'Internal error occurred: got unexpected nil transformer'],
      ['POST', secrets, 500, 'Internal error occurred: got unexpected nil transformer'],
      [
        'GET',
        secrets,
        429,
        'storage is (re)initializing: failed to list *core.Secret: unable to transform key "/registry/secrets/default/a": got unexpected nil transformer',
      ],
    ] as const) {
      const answer = await call(client, method, where, method === 'POST' ? secret('b') : undefined)
      assert.equal(answer.body.message, message)
      assert.equal(answer.status, status)
    }
    const health = await client.call({ path: '/readyz/kms-providers' })
    assert.equal(health.status, 500)
    assert.match(health.text, /^internal server error: kms-provider-0: .*rpc error: code = /)
    assert.equal((await client.call({ path: '/livez' })).status, 200)
    await plugin.start()
    // Wait until the health check has caused the server to call the plugin again, which takes some
    // seconds.
    await until(
      async () => (await client.call({ path: '/readyz/kms-providers' })).status === 200,
      'the server calls the plugin again',
    )
    await until(
      async () => (await client.call({ path: secrets })).status === 200,
      'the list can be read',
    )
    assert.equal((await call(client, 'POST', secrets, secret('b'))).status, 201)
  })
})

test('a server that cannot decrypt roles and policies starts, and rejects requests', async () => {
  await using etcd = await startEtcd()
  await using plugin = new KmsPluginServer(at('kms.sock'))
  await plugin.start()
  const kms = {
    kms: { apiVersion: 'v2', name: 'plugin', endpoint: plugin.endpoint, timeout: '2s' },
  }
  const args = withConfig(write(configOf(['*.*'], kms)))
  await during(etcd, args, async (client) => {
    assert.equal((await call(client, 'POST', secrets, secret('a'))).status, 201)
  })
  await plugin.stop()
  const [port = 0] = await freePorts(1)
  const starting = startKeelson({ etcdUrl: etcd.clientUrl, args, port })
  // Handle the rejection in case the test fails before it awaits the promise.
  starting.catch(() => undefined)
  await using client = clients['HTTP/1.1']?.(`https://127.0.0.1:${port}`) ?? assert.fail()
  const statusOf = (path: string): Promise<number> =>
    client.call({ path }).then(
      ({ status }) => status,
      () => 0,
    )
  await until(async () => (await statusOf('/version')) === 200, 'the server listens')
  for (const [method, path, status, message] of [
    ['GET', `${secrets}/a`, 500, 'Internal error occurred: got unexpected nil transformer'],
    [
      'GET',
      '/apis/rbac.authorization.k8s.io/v1/roles',
      429,
      /^storage is \(re\)initializing: failed to list \*rbac.Role: unable to transform key /,
    ],
    [
      'POST',
      secrets,
      503,
      /^the server cannot read its roles, policies, webhooks and definitions yet/,
    ],
    ['GET', '/apis', 503, /^the server cannot read its roles/],
    ['GET', '/apis/example.com/v1/gears', 503, /^the server cannot read its roles/],
    [
      'GET',
      '/api/v1/namespaces/default/pods/a/exec?command=x',
      503,
      /^the server cannot read its roles/,
    ],
  ] as const) {
    const answer = await call(client, method, path, method === 'POST' ? secret('b') : undefined)
    if (typeof message === 'string') assert.equal(answer.body.message, message)
    else assert.match(answer.body.message, message)
    assert.equal(answer.status, status, path)
  }
  const bob = await client.call({ path: secrets, headers: { authorization: 'Bearer bob-token' } })
  assert.equal(bob.status, 403, bob.text)
  const ready = await client.call({ path: '/readyz' })
  assert.equal(ready.status, 500)
  assert.match(ready.text, /\[-\]kms-providers failed/)
  await plugin.start()
  await using server = await starting
  assert.equal((await call(client, 'POST', secrets, secret('b'))).status, 201)
  assert.equal(await statusOf('/apis'), 200)
  assert.ok(server.log.includes('cannot read roles, policies, webhooks'))
})

test('a changed encryption configuration file takes effect without a restart', async () => {
  await using etcd = await startEtcd()
  const path = write(configOf(['secrets'], { aesgcm: keys('k1') }, { identity: {} }))
  const args = [...withConfig(path), '--encryption-provider-config-automatic-reload=true']
  await during(etcd, args, async (client, { complaints }) => {
    assert.equal((await call(client, 'POST', secrets, secret('a'))).status, 201)
    assert.equal(
      (await client.call({ path: '/healthz/kms-providers' })).text,
      'ok',
      'no plugin is configured, which is healthy',
    )
    write(configOf(['secrets'], { aesgcm: keys('k2', 'k1') }), path)
    const key = '/registry/secrets/default/a'
    await until(async () => {
      await putUnchanged(client, 'a')
      return prefixOf((await storedIn(etcd, key)).get(key)?.text) === 'k8s:enc:aesgcm:v1:k2:'
    }, 'the new key is used')
    write('nonsense', path)
    await until(
      async () => complaints.some((text) => text.includes('failed to load encryption config')),
      'the fault is logged',
    )
    assert.ok(!complaints.some((text) => text.includes(Buffer.alloc(32, 'k2').toString('base64'))))
    assert.equal((await call(client, 'GET', `${secrets}/a`)).status, 200)
  })
})

test('if an encryption key is removed too early, the server detects this without a restart', async () => {
  await using etcd = await startEtcd()
  const path = write(configOf(['secrets'], { aesgcm: keys('k1') }))
  const args = [...withConfig(path), '--encryption-provider-config-automatic-reload=true']
  await during(etcd, args, async (client, { complaints }) => {
    for (const name of ['a', 'b'])
      assert.equal((await call(client, 'POST', secrets, secret(name))).status, 201)
    const statusOf = async (method: string, to: string): Promise<number> =>
      (await call(client, method, to)).status
    assert.equal(await statusOf('GET', secrets), 200)
    write(configOf(['secrets'], { aescbc: keys('k1') }), path)
    await until(
      async () => (await statusOf('GET', `${secrets}/a`)) === 500,
      'the Secret cannot be read',
    )
    assert.ok(complaints.some((text) => text.includes('objects cannot be decrypted')))
    for (const [method, to] of [
      ['GET', secrets],
      ['DELETE', `${secrets}/a`],
    ] as const)
      assert.equal(await statusOf(method, to), 500, method)
    assert.equal((await call(client, 'PUT', `${secrets}/a`, secret('a'))).status, 500)
    assert.equal(await statusOf('GET', `${secrets}?resourceVersion=0`), 200, 'the cached state')
    assert.equal((await call(client, 'POST', secrets, secret('c'))).status, 201)
    write(configOf(['secrets'], { aescbc: keys('k1') }, { aesgcm: keys('k1') }), path)
    await until(
      async () => (await statusOf('GET', secrets)) === 200,
      'the Secrets can be read again',
    )
    assert.equal(await statusOf('DELETE', `${secrets}/a`), 200)
  })
})

const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const bindings = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings'
const storedPolicyKey = '/registry/validatingadmissionpolicies/deny'
const configMaps = '/api/v1/namespaces/default/configmaps'
const forbidden = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'forbidden' } }

test('while a policy cannot be decrypted, requests that it forbids are still rejected', async () => {
  await using etcd = await startEtcd()
  const group = 'validatingadmissionpolicies.admissionregistration.k8s.io'
  const first = write(configOf([group], { aesgcm: keys('k1') }, { identity: {} }))
  await during(etcd, withConfig(first), async (client) => {
    await createPolicy(client)
    assert.equal((await call(client, 'POST', configMaps, forbidden)).status, 422)
    // Make the policy unreadable while the server is running.
    await breakPolicy(etcd)
    await until(
      async () => (await call(client, 'GET', `${policies}/deny`)).status === 500,
      'the policy cannot be read',
    )
    await refused(client)
  })
  const second = write(configOf([group], { aesgcm: keys('k2') }, { identity: {} }))
  await during(etcd, withConfig(second), async (client) => {
    assert.equal((await call(client, 'GET', policies)).status, 429)
    await refused(client)
    const watch = await client.call({
      path: `${policies}?watch=true&timeoutSeconds=1`,
    })
    assert.ok(
      watch.status === 429 || watch.text.includes('"ERROR"'),
      `no watch begins as if it were complete: ${watch.text}`,
    )
    await using engine = engineOf(etcd)
    const [stored] = (await engine.range(rangeOf(storedPolicyKey))).values
    await engine.change({
      key: storedPolicyKey,
      expected: stored?.revision ?? 0,
      write: 'delete',
    })
    await until(
      async () => (await call(client, 'POST', configMaps, forbidden)).status === 201,
      'a deleted policy refuses nothing',
    )
  })
})

/** Creates a policy that forbids ConfigMaps with the name `forbidden`, and its binding. */
async function createPolicy(client: Client): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const rules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
  ]
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'deny' },
    spec: {
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: 'object.metadata.name != "forbidden"' }],
    },
  }
  assert.equal((await call(client, 'POST', policies, policy)).status, 201)
  const binding = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'deny' },
    spec: { policyName: 'deny', validationActions: ['Deny'] },
  }
  assert.equal((await call(client, 'POST', bindings, binding)).status, 201)
}

/** Flips a bit of the stored policy. */
async function breakPolicy(etcd: Etcd): Promise<void> {
  await using engine = engineOf(etcd)
  const [stored] = (await engine.range(rangeOf(storedPolicyKey))).values
  assert.ok(stored !== undefined)
  const broken = Buffer.concat([
    stored.value.subarray(0, -1),
    Buffer.from([(stored.value.at(-1) ?? 0) ^ 1]),
  ])
  await engine.change({
    key: storedPolicyKey,
    expected: stored.revision,
    write: { put: broken },
  })
}

/**
 * Checks that the forbidden object cannot be created, regardless of the reason for the rejection.
 */
async function refused(client: Client): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const { status } = await call(client, 'POST', configMaps, forbidden)
    assert.ok(status >= 400, `${status}`)
  }
}

test('an encryption configuration can name resources of the core group with a trailing dot', async () => {
  await using etcd = await startEtcd()
  const path = write(configOf(['secrets.', 'configmaps'], { aesgcm: keys('k1') }, { identity: {} }))
  await during(etcd, withConfig(path), async (client) => {
    assert.equal((await call(client, 'POST', secrets, secret('a'))).status, 201)
    const key = '/registry/secrets/default/a'
    assert.equal(prefixOf((await storedIn(etcd, key)).get(key)?.text), 'k8s:enc:aesgcm:v1:k1:')
  })
})

test('a server that cannot yet read its roles survives SIGHUP and stops on SIGTERM', async () => {
  await using etcd = await startEtcd()
  await using plugin = new KmsPluginServer(at('kms.sock'))
  await plugin.start()
  const kms = {
    kms: { apiVersion: 'v2', name: 'plugin', endpoint: plugin.endpoint, timeout: '2s' },
  }
  const args = withConfig(write(configOf(['*.*'], kms)))
  await during(etcd, args, async (client) => {
    assert.equal((await call(client, 'POST', secrets, secret('a'))).status, 201)
  })
  await plugin.stop()
  const [port = 0] = await freePorts(1)
  const where = [
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${at('certificates')}`,
  ]
  const child = spawn(
    keelsonProgram,
    ['serve', `--etcd-servers=${etcd.clientUrl}`, ...where, ...args],
    {
      stdio: 'ignore',
    },
  )
  try {
    const ended = once(child, 'exit')
    await using client = clients['HTTP/1.1']?.(`https://127.0.0.1:${port}`) ?? assert.fail()
    const answers = (): Promise<boolean> =>
      client.call({ path: '/livez', token: null }).then(
        ({ status }) => status > 0,
        () => false,
      )
    await until(answers, 'the server listens')
    child.kill('SIGHUP')
    await until(answers, 'the server still listens')
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  } finally {
    child.kill('SIGKILL')
  }
})
