/**
 * Replays what ../shared has recorded about encryption, if it is there: `node test/integration/encryption/shared.ts [--differences]`. Values of every provider are
 * read to their plaintext, folders get the provider of their wildcard, keys are rotated and unreadable values answered step by step as by the reference.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkArgs } from '../../../src/config/config.ts'
import { createEncryption, type EncryptionSetUp } from '../../../src/server/storage/encryption.ts'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { silent } from '../../../src/lib/log.ts'
import { Metrics } from '../../../src/lib/metrics.ts'
import { systemTime } from '../../../src/lib/timers.ts'
import { EtcdEngine } from '../../../src/storage/etcd-engine.ts'
import { rangeOfKey } from '../../../src/storage/keys.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { KmsPluginServer, type PluginCipher } from '../../support/harness/kms-plugin.ts'
import { type Client, clients, startOn } from '../support.ts'

const shared = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  '..',
  'shared',
  'golden-storage',
  'encryption',
)
const secrets = '/api/v1/namespaces/golden/secrets'
const isVerbose = process.argv.includes('--differences')

type Body = { readonly [field: string]: unknown }
type Stored = { readonly key: string; readonly prefix: string; readonly value: string }

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what the file has
const read = <T>(name: string): T => JSON.parse(readFileSync(join(shared, name), 'utf8'))

class Tally {
  readonly #name: string
  #same = 0
  #all = 0

  constructor(name: string) {
    this.#name = name
  }

  count(what: string, wanted: unknown, got: unknown): void {
    this.#all++
    try {
      assert.deepEqual(got, wanted)
      this.#same++
    } catch {
      if (isVerbose) console.log(JSON.stringify({ what, wanted, got }, undefined, 1))
      process.exitCode = 1
    }
  }

  tell(): void {
    console.log(`${this.#name}: ${this.#same} of ${this.#all} the same`)
  }
}

/** As the plugin that the values were recorded with. */
const mock: PluginCipher = {
  seal: (plain, keyId) =>
    Buffer.concat([Buffer.from(`mock:${keyId}:`), plain.map((byte) => byte ^ 0x5a)]),
  open: (sealed) => {
    const at = sealed.indexOf(':', 'mock:'.length) + 1
    return Buffer.from(sealed.subarray(at).map((byte) => byte ^ 0x5a))
  },
}

const folder = mkdtempSync(join(tmpdir(), 'keelson-shared-encryption-'))
const socket = join(folder, 'kms.sock')

function writeConfig(config: unknown): string {
  const path = join(folder, 'config.json')
  writeFileSync(path, JSON.stringify(config).replaceAll('/run/kms/kms.sock', socket))
  return path
}

async function transformerOf(
  config: unknown,
  flags: readonly string[] = [],
): Promise<EncryptionSetUp> {
  const args = ['--etcd-servers=http://127.0.0.1:1', ...flags]
  const checked = checkArgs([...args, `--encryption-provider-config=${writeConfig(config)}`])
  if (checked.kind === 'faults') throw new Error(checked.faults.join('\n'))
  const parts = {
    root: '/registry/',
    time: systemTime,
    log: silent,
    metrics: new Metrics(),
    serverId: 'x',
  }
  return createEncryption(checked.config, parts)
}

async function values(): Promise<void> {
  type Provider = {
    readonly config: unknown
    readonly flags: readonly string[]
    readonly values: readonly Value[]
  }
  type Value = Stored & { readonly plaintext: string }
  const tally = new Tally('values of every provider, read to their plaintext')
  const names = [
    'aescbc-16',
    'aescbc-24',
    'aescbc-32',
    'aesgcm-16',
    'aesgcm-24',
    'aesgcm-32',
    'identity',
  ]
  for (const name of [...names, 'secretbox', 'kms-v1', 'kms-v2']) {
    const { config, flags, values: all } = read<Provider>(`provider-${name}.json`)
    await using set = await transformerOf(config, flags)
    for (const { key, value, plaintext } of all) {
      const { value: plain } = await set.transformer.fromStorage(key, Buffer.from(value, 'base64'))
      tally.count(`${name} ${key}`, plaintext, plain.toString('base64'))
    }
  }
  tally.tell()
}

async function wildcards(): Promise<void> {
  type Config = {
    readonly name: string
    readonly config: unknown
    readonly keys: readonly Stored[]
  }
  const tally = new Tally('folders by wildcards')
  for (const { name, config, keys } of read<readonly Config[]>('wildcards.json')) {
    await using set = await transformerOf(config)
    for (const { key, prefix } of keys) {
      const sealed = await set.transformer.toStorage(key, Buffer.from('plain'))
      const wanted = prefix.startsWith('k8s:enc:') ? prefix : 'plain'
      tally.count(`${name} ${key}`, wanted, prefixOf(sealed))
    }
  }
  tally.tell()
}

const prefixOf = (value: Buffer): string =>
  /^k8s:enc:\w+:v\d:[^:]*:/.exec(value.toString('latin1'))?.[0] ?? 'plain'

class Cluster implements AsyncDisposable {
  readonly #etcd: Awaited<ReturnType<typeof startEtcd>>
  readonly engine: EtcdEngine

  private constructor(etcd: Awaited<ReturnType<typeof startEtcd>>) {
    this.#etcd = etcd
    this.engine = new EtcdEngine(
      new EtcdClient({ endpoints: [etcd.clientUrl], clock: systemClock, log: silent }),
    )
  }

  static async start(): Promise<Cluster> {
    return new Cluster(await startEtcd())
  }

  async serve(
    config: unknown,
    flags: readonly string[],
    run: (client: Client) => Promise<void>,
  ): Promise<void> {
    const own = config === null ? [] : [`--encryption-provider-config=${writeConfig(config)}`]
    await using server = await startOn(this.#etcd, [...own, ...flags])
    await using client = clients['HTTP/2']?.(server.url)
    assert.ok(client !== undefined)
    const body = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'golden' } }
    await client.call({ method: 'POST', path: '/api/v1/namespaces', body })
    await run(client)
  }

  async at(
    key: string,
  ): Promise<{ readonly value: Buffer; readonly revision: number } | undefined> {
    const { values: found } = await this.engine.range(rangeOfKey(key))
    const [one] = found
    return one && { value: Buffer.from(one.value), revision: one.revision }
  }

  async put(key: string, put: Buffer | 'delete'): Promise<number> {
    const expected = (await this.at(key))?.revision ?? 0
    if (put === 'delete' && expected === 0) return 0
    await this.engine.change({ key, expected, write: put === 'delete' ? 'delete' : { put } })
    return (await this.at(key))?.revision ?? 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]()
    await this.#etcd[Symbol.asyncDispose]()
  }
}

const secret = (name: string): Body => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'golden' },
  data: { password: 'Y29ycmVjdCBob3JzZQ==' },
  type: 'Opaque',
})

async function rotation(): Promise<void> {
  type Step = {
    readonly step: string
    readonly request: string
    readonly status: number
    readonly revisionChanged?: boolean
    readonly stored: Stored
  }
  type Phases = {
    readonly phases: readonly { phase: string; config: unknown; steps: readonly Step[] }[]
  }
  const tally = new Tally('steps of the rotation of keys')
  await using cluster = await Cluster.start()
  for (const { phase, config, steps } of read<Phases>('rotation.json').phases) {
    await cluster.serve(config, [], async (client) => {
      for (const { step, request, status, revisionChanged, stored } of steps) {
        const [method = '', path = '', name = ''] = request.split(' ')
        const before = (await cluster.at(stored.key))?.revision
        const known = method === 'PUT' ? JSON.parse((await client.call({ path })).text) : undefined
        const body =
          method === 'POST' ? { body: secret(name) } : known === undefined ? {} : { body: known }
        const answer = await client.call({ method, path, ...body })
        const after = await cluster.at(stored.key)
        const wanted = stored.prefix.startsWith('k8s:enc:') ? stored.prefix : 'plain'
        const isRead =
          method !== 'GET' || JSON.parse(answer.text).data?.password === 'Y29ycmVjdCBob3JzZQ=='
        tally.count(
          `${phase}: ${step}`,
          {
            status,
            isRead: true,
            stored: wanted,
            ...(revisionChanged === undefined ? {} : { revisionChanged }),
          },
          {
            status: answer.status,
            isRead,
            stored: prefixOf(after?.value ?? Buffer.alloc(0)),
            ...(revisionChanged === undefined
              ? {}
              : { revisionChanged: after?.revision !== before }),
          },
        )
      }
    })
  }
  tally.tell()
}

type Recorded = { readonly status: number; readonly body: Body | string | null }
type Unreadable = {
  readonly case: string
  readonly gate?: string
  readonly config: unknown
  readonly key: string
  readonly value: string
  readonly answers: { readonly [what: string]: Recorded }
}

const unsafe = 'ignoreStoreReadErrorWithClusterBreakingPotential'
const json = { 'content-type': 'application/json' }
const options = (more: Body): { readonly body: Body; readonly headers: typeof json } => ({
  body: { kind: 'DeleteOptions', apiVersion: 'v1', ...more },
  headers: json,
})

/** What was asked, by the name of its answer. */
function callOf(what: string, name: string): Parameters<Client['call']>[0] | undefined {
  const one = `${secrets}/${name}`
  const body = secret(name)
  const patch = { 'content-type': 'application/merge-patch+json' }
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  const remove = (more: Body, path = one) => ({
    method: 'DELETE',
    path,
    ...options({ [unsafe]: true, ...more }),
  })
  const policies = {
    gracePeriodSeconds: 0,
    orphanDependents: true,
    dryRun: ['All'],
    preconditions: { uid: 'x' },
  }
  const calls: { readonly [what: string]: Parameters<Client['call']>[0] } = {
    GET: { path: one },
    'GET of a missing object': { path: `${secrets}/missing` },
    'GET resourceVersion=0': { path: `${one}?resourceVersion=0` },
    LIST: { path: secrets },
    'LIST resourceVersion=0': { path: `${secrets}?resourceVersion=0` },
    'LIST limit=1': { path: `${secrets}?limit=1` },
    'LIST of another namespace': { path: '/api/v1/namespaces/default/secrets' },
    PUT: { method: 'PUT', path: one, body },
    PATCH: { method: 'PATCH', path: one, body: { data: { a: 'YQ==' } }, headers: patch },
    APPLY: { method: 'PATCH', path: `${one}?fieldManager=x`, body, headers: apply },
    'POST same name': { method: 'POST', path: secrets, body },
    'DELETE dryRun': { method: 'DELETE', path: `${one}?dryRun=All` },
    DELETECOLLECTION: { method: 'DELETE', path: secrets },
    DELETE: { method: 'DELETE', path: one },
    'unsafe DELETE (gate off)': remove({}),
    'unsafe DELETE': remove({}),
    'unsafe DELETE false': remove({ [unsafe]: false }),
    'unsafe DELETE with dryRun': remove({ dryRun: ['All'] }),
    'unsafe DELETE with gracePeriodSeconds': remove({ gracePeriodSeconds: 0 }),
    'unsafe DELETE with orphanDependents': remove({ orphanDependents: true }),
    'unsafe DELETE with propagationPolicy': remove({ propagationPolicy: 'Background' }),
    'unsafe DELETE with preconditions': remove({ preconditions: { uid: 'x' } }),
    'unsafe DELETE with all of them': remove(policies),
    'unsafe DELETECOLLECTION': remove({}, secrets),
    'unsafe DELETE of a readable object': remove({}, `${secrets}/readable`),
    'unsafe DELETE of a missing object': remove({}, `${secrets}/missing`),
    'unsafe DELETE by query parameter': {
      method: 'DELETE',
      path: `${one}?${unsafe}=true&dryRun=All`,
    },
  }
  return calls[what]
}

/** Of a Status all of it, of others what can be the same in another run. */
function shownOf({ status, body }: Recorded, revision: number): Body {
  if (typeof body !== 'object' || body === null) return { status }
  if (body['kind'] !== 'Status') return { status, kind: body['kind'] }
  const { message, reason, details } = body
  const text = JSON.stringify({ status, message, reason, details }).replaceAll(
    /revision=[1-9]\d*/g,
    'revision=#',
  )
  assert.ok(revision >= 0)
  return JSON.parse(text)
}

/** The cache of the reference begins anew with each value that it cannot read, and is away for a moment; and what it has seen differs by chance. */
const isOfMoment = (what: string): boolean =>
  what.includes('resourceVersion=0') || what === 'WATCH' || what.endsWith(' after')

/**
 * Values that nobody writes, and that the reference reads as something (docs/differences.md): empty, without a kind, of another kind, YAML, with
 * another name than their key.
 */
const strange =
  /empty value|without a kind|unknown kind|another kind|YAML|another name|another key \(readable\)/

async function unreadable(): Promise<void> {
  const tally = new Tally('answers for values that cannot be read')
  const groups = Map.groupBy(read<readonly Unreadable[]>('unreadable.json'), ({ config, gate }) =>
    JSON.stringify({ config, gate }),
  )
  for (const cases of groups.values()) {
    await using cluster = await Cluster.start()
    const isOn = cases[0]?.gate?.startsWith('AllowUnsafe') === true
    const flags = isOn ? ['--feature-gates=AllowUnsafeMalformedObjectDeletion=true'] : []
    await cluster.serve(cases[0]?.config ?? null, flags, async (client) => {
      if (isOn) await client.call({ method: 'POST', path: secrets, body: secret('readable') })
      await client.call({ path: secrets })
      for (const { case: name, key, value, answers } of cases) {
        if (strange.test(name)) continue
        const bytes = Buffer.from(value, 'base64')
        const revision = await cluster.put(key, bytes)
        for (const [what, wanted] of Object.entries(answers)) {
          const call = callOf(what, key.slice(key.lastIndexOf('/') + 1))
          if (call === undefined || isOfMoment(what)) continue
          const { status, text } = await client.call(call)
          const got = shownOf({ status, body: bodyIn(text) }, revision)
          tally.count(`${name}${isOn ? ', gate on' : ''}: ${what}`, shownOf(wanted, revision), got)
        }
        await cluster.put(key, 'delete')
      }
    })
  }
  tally.tell()
}

function bodyIn(text: string): Body | string {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** In these the server differs on purpose (docs/differences.md): it is ready, lists what is elsewhere, and says of a value that cannot be decoded the same as always. */
const onPurpose = new Set([
  'readyz',
  'LIST of another namespace',
  'no encryption: garbage: LIST',
  'no encryption: garbage: LIST resourceVersion=0',
])

async function unreadableAtStart(): Promise<void> {
  const tally = new Tally('answers for values that were there at the start')
  for (const { case: name, config, key, value, answers } of read<readonly Unreadable[]>(
    'unreadable-at-start.json',
  )) {
    await using cluster = await Cluster.start()
    await cluster.put(key, Buffer.from(value, 'base64'))
    await cluster.serve(config, [], async (client) => {
      for (const [what, wanted] of Object.entries(answers)) {
        const call = callOf(what, key.slice(key.lastIndexOf('/') + 1))
        if (call === undefined || onPurpose.has(what) || onPurpose.has(`${name}: ${what}`)) continue
        const { status, text } = await client.call(call)
        tally.count(
          `${name}: ${what}`,
          shownOf(wanted, 0),
          shownOf({ status, body: bodyIn(text) }, 0),
        )
      }
    })
  }
  tally.tell()
}

if (existsSync(shared)) {
  await using plugin = new KmsPluginServer(socket, mock)
  await plugin.start()
  await values()
  await wildcards()
  await rotation()
  await unreadable()
  await unreadableAtStart()
  rmSync(folder, { recursive: true })
} else console.log('../shared is not there')
