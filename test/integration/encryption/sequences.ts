/**
 * Runs servers in turn on one etcd, each with a different EncryptionConfiguration. The sequences
 * show how values are migrated between keys, and the responses for values that cannot be read.
 * kube-apiserver (record.ts) and Keelson (test/integration/encryption-recorded.test.ts) run them.
 */
import type { EtcdEngine } from '../../../src/storage/etcd-engine.ts'
import { rangeOfKey } from '../../../src/storage/keys.ts'

type Answer = { readonly status: number; readonly text: string }

export type Ask = (call: {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly type?: string
}) => Promise<Answer>

/** Result of a step, without the parts that differ between runs. */
export type StepResult = { readonly step: string; readonly [what: string]: unknown }

type Step =
  | { readonly do: 'create' | 'same'; readonly name: string }
  /** Sends requests with all verbs for an object. */
  | { readonly do: 'verbs'; readonly name: string }
  /** Derives a value from the stored value of another object, and writes it to etcd. */
  | {
      readonly do: 'raw'
      readonly name: string
      readonly of: string
      readonly change: (value: Buffer) => Buffer
    }
  | { readonly do: 'remove'; readonly name: string }

export type Phase = {
  readonly name: string
  readonly resources: readonly object[] | null
  readonly steps: readonly Step[]
}

const keys = (...names: readonly string[]): object => ({
  keys: names.map((name) => ({
    name,
    secret: Buffer.alloc(32, `${name}-of-the-sequences`).toString('base64'),
  })),
})
const rule = (...providers: readonly object[]): object => ({ resources: ['secrets'], providers })

const copy = (value: Buffer): Buffer => value
const flipped = (value: Buffer): Buffer =>
  Buffer.concat([value.subarray(0, -1), Buffer.from([(value.at(-1) ?? 0) ^ 1])])
const cut = (bytes: number) => (value: Buffer) => value.subarray(0, bytes)
const text = (words: string) => () => Buffer.from(words)
/**
 * Returns steps that store an unreadable value, send requests with all verbs for it, and remove it.
 */
const unreadable = (name: string, of: string, change: (value: Buffer) => Buffer): Step[] => [
  { do: 'raw', name, of, change },
  { do: 'verbs', name },
  { do: 'remove', name },
]

export const phases: readonly Phase[] = [
  { name: 'without encryption', resources: null, steps: [{ do: 'create', name: 'plain' }] },
  {
    name: 'aesgcm, then identity',
    resources: [rule({ aesgcm: keys('k1') }, { identity: {} })],
    steps: [
      { do: 'create', name: 'a' },
      { do: 'same', name: 'plain' },
      { do: 'same', name: 'plain' },
      { do: 'same', name: 'a' },
      { do: 'create', name: 'b' },
      ...unreadable('moved', 'a', copy),
      ...unreadable('flipped', 'a', flipped),
      ...unreadable('prefix-alone', 'a', cut(21)),
      ...unreadable('cut-in-nonce', 'a', cut(27)),
      ...unreadable('cut-in-tag', 'a', cut(37)),
      ...unreadable('other-key', 'a', text('k8s:enc:aesgcm:v1:k9:abcdefghijklmnopqrstuvwxyz')),
      ...unreadable(
        'other-algorithm',
        'a',
        text('k8s:enc:aescbc:v1:k1:abcdefghijklmnopqrstuvwxyz'),
      ),
      ...unreadable('no-provider', 'a', text('k8s:enc:')),
    ],
  },
  {
    name: 'a new key first',
    resources: [rule({ aesgcm: keys('k2', 'k1') }, { identity: {} })],
    steps: [
      { do: 'same', name: 'a' },
      { do: 'same', name: 'a' },
      { do: 'create', name: 'c' },
    ],
  },
  {
    name: 'secretbox first, no identity',
    resources: [rule({ secretbox: keys('k1') }, { aesgcm: keys('k2') }, { aesgcm: keys('k1') })],
    steps: [
      { do: 'same', name: 'a' },
      { do: 'same', name: 'b' },
      { do: 'create', name: 'd' },
      ...unreadable('flipped', 'd', flipped),
      ...unreadable('prefix-alone', 'd', cut(24)),
      ...unreadable('cut-in-nonce', 'd', cut(30)),
      ...unreadable('other-key', 'd', text('k8s:enc:secretbox:v1:k9:abcdefghijklmnopqrstuvwxyz')),
      ...unreadable(
        'neither-key',
        'd',
        text('k8s:enc:aesgcm:v1:k1:abcdefghijklmnopqrstuvwxyzabcdefgh'),
      ),
      ...unreadable(
        'not-encrypted',
        'd',
        text('{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}'),
      ),
    ],
  },
  {
    name: 'aescbc first',
    resources: [
      rule({ aescbc: keys('k1') }, { secretbox: keys('k1') }, { aesgcm: keys('k2', 'k1') }),
    ],
    steps: [
      { do: 'same', name: 'd' },
      { do: 'create', name: 'e' },
      ...unreadable('flipped', 'e', flipped),
      ...unreadable('prefix-alone', 'e', cut(21)),
      ...unreadable('cut-in-vector', 'e', cut(30)),
      ...unreadable('cut-in-block', 'e', cut(60)),
    ],
  },
  {
    name: 'identity first, in two lists',
    resources: [
      rule({ identity: {} }),
      rule({ aescbc: keys('k1') }, { secretbox: keys('k1') }, { aesgcm: keys('k2', 'k1') }),
    ],
    steps: [
      { do: 'same', name: 'e' },
      { do: 'same', name: 'c' },
      { do: 'create', name: 'f' },
    ],
  },
]

export const namespace = 'sequences'
const path = `/api/v1/namespaces/${namespace}/secrets`
const keyOf = (name: string): string => `/registry/secrets/${namespace}/${name}`
const object = (name: string) => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name },
  data: { text: Buffer.from('nobody is to see this').toString('base64') },
})

export const configOf = ({ resources }: Phase): string | undefined =>
  resources === null
    ? undefined
    : JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'EncryptionConfiguration',
        resources,
      })

/** Runs the steps of a phase. The namespace must exist. */
export async function play({ steps }: Phase, ask: Ask, engine: EtcdEngine): Promise<StepResult[]> {
  const shown: StepResult[] = []
  for (const step of steps) shown.push(...(await playStep(step, ask, engine)))
  return shown
}

async function playStep(step: Step, ask: Ask, engine: EtcdEngine): Promise<StepResult[]> {
  const { name } = step
  const label = `${step.do} ${name}`
  if (step.do === 'create') {
    const { status } = await ask({ method: 'POST', path, body: object(name) })
    return [{ step: label, status, stored: prefixOf(await valueOf(engine, name)) }]
  }
  if (step.do === 'same') {
    const before = await versionOf(engine, name)
    const { text: body } = await ask({ method: 'GET', path: `${path}/${name}` })
    const { status } = await ask({ method: 'PUT', path: `${path}/${name}`, body: JSON.parse(body) })
    const isWritten = (await versionOf(engine, name)) !== before
    return [{ step: label, status, isWritten, stored: prefixOf(await valueOf(engine, name)) }]
  }
  if (step.do === 'raw') {
    const put = step.change(await valueOf(engine, step.of))
    await engine.change({ key: keyOf(name), expected: 0, write: { put } })
    return []
  }
  if (step.do === 'remove') {
    const expected = await versionOf(engine, name)
    if (expected > 0) await engine.change({ key: keyOf(name), expected, write: 'delete' })
    return []
  }
  return playVerbs(name, ask)
}

/** Sends requests with all verbs for an object. Other objects that can be read are not deleted. */
async function playVerbs(name: string, ask: Ask): Promise<StepResult[]> {
  const one = `${path}/${name}`
  const body = object(name)
  const merge = 'application/merge-patch+json'
  const calls = {
    get: { method: 'GET', path: one },
    'get resourceVersion=0': { method: 'GET', path: `${one}?resourceVersion=0` },
    list: { method: 'GET', path },
    'list resourceVersion=0': { method: 'GET', path: `${path}?resourceVersion=0` },
    'list limit=1': { method: 'GET', path: `${path}?limit=500` },
    'list of others': { method: 'GET', path: '/api/v1/namespaces/default/secrets' },
    put: { method: 'PUT', path: one, body },
    patch: { method: 'PATCH', path: one, body: { data: { a: 'YQ==' } }, type: merge },
    apply: {
      method: 'PATCH',
      path: `${one}?fieldManager=x`,
      body,
      type: 'application/apply-patch+yaml',
    },
    post: { method: 'POST', path, body },
    'delete dryRun': { method: 'DELETE', path: `${one}?dryRun=All` },
    'delete collection': { method: 'DELETE', path: `${path}?dryRun=All` },
    delete: { method: 'DELETE', path: one },
  }
  const shown: StepResult[] = []
  for (const [what, call] of Object.entries(calls)) {
    const answer = await ask(call)
    shown.push({ step: `${what} ${name}`, status: answer.status, ...bodyOf(answer.text) })
  }
  return shown
}

/** Returns the fields of a Status, or the names of the objects in a list. */
function bodyOf(answer: string): { readonly [what: string]: unknown } {
  const { kind, message, reason, details, items } = JSON.parse(answer)
  if (kind === 'Status') return { message, reason, details }
  return items === undefined
    ? { kind }
    : { kind, names: items.map((item: { metadata: { name: string } }) => item.metadata.name) }
}

const prefixOf = (value: Buffer): string =>
  /^k8s:enc:\w+:v\d:[^:]*:/.exec(value.toString('latin1'))?.[0] ?? 'plain'

async function valueOf(engine: EtcdEngine, name: string): Promise<Buffer> {
  const { values } = await engine.range(rangeOfKey(keyOf(name)))
  return Buffer.from(values[0]?.value ?? '')
}

async function versionOf(engine: EtcdEngine, name: string): Promise<number> {
  const { values } = await engine.range(rangeOfKey(keyOf(name)))
  return values[0]?.revision ?? 0
}
