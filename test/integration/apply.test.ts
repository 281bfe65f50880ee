/**
 * Tests server-side apply on a whole server: many concurrent applies are compared with a model, and
 * an object of the maximum size does not block the server.
 */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { type Answer, serverOfFile } from './support.ts'

/** Request timeout. The default of a minute might not be enough on a busy machine. */
const call = serverOfFile(['--request-timeout=10m'])

const path = '/api/v1/namespaces/default/configmaps'
const headers = { 'content-type': 'application/apply-patch+yaml' }

type Data = { readonly [key: string]: string }
type Entry = { readonly manager: string; readonly fieldsV1: { readonly 'f:data': object } }
type ConfigMap = {
  readonly metadata: { readonly resourceVersion: string; readonly managedFields: readonly Entry[] }
  readonly data: Data
}

const bodyOf = (name: string, data: Data): Buffer =>
  Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }))

const send = (name: string, manager: string, body: Buffer): Promise<Answer> =>
  call({
    method: 'PATCH',
    path: `${path}/${name}?fieldManager=${manager}&force=true`,
    body,
    headers,
  })

/**
 * Applies data, and retries while the server returns 409 because too many other clients wrote
 * first.
 */
async function apply(name: string, manager: string, data: Data): Promise<ConfigMap> {
  for (;;) {
    const { status, text } = await send(name, manager, bodyOf(name, data))
    if (status !== 409) assert.ok(status === 200 || status === 201, text)
    if (status !== 409) return JSON.parse(text)
  }
}

/** A model of how server-side apply with force changes a map of strings. */
class Model {
  readonly data = new Map<string, string>()
  readonly owners = new Map<string, Set<string>>()

  apply(manager: string, stated: Data): void {
    const held = this.owners.get(manager) ?? new Set()
    this.owners.set(manager, new Set(Object.keys(stated)))
    for (const key of held) {
      if (key in stated || [...this.owners.values()].some((keys) => keys.has(key))) continue
      this.data.delete(key)
    }
    for (const [key, value] of Object.entries(stated)) {
      if (this.data.get(key) === value) continue
      this.data.set(key, value)
      for (const [owner, keys] of this.owners) if (owner !== manager) keys.delete(key)
    }
    for (const [owner, keys] of this.owners) if (keys.size === 0) this.owners.delete(owner)
  }

  get shown(): object {
    const owners = [...this.owners].map(([manager, keys]): [string, string[]] => [
      manager,
      [...keys].toSorted(),
    ])
    return { data: sorted([...this.data]), owners: sorted(owners) }
  }
}

const sorted = (entries: readonly (readonly [string, unknown])[]): object =>
  Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))

function shown({ data, metadata }: ConfigMap): object {
  const owners = metadata.managedFields.map(({ manager, fieldsV1 }): [string, string[]] => [
    manager,
    Object.keys(fieldsV1['f:data'])
      .map((element) => element.slice('f:'.length))
      .toSorted(),
  ])
  return { data: sorted(Object.entries(data)), owners: sorted(owners) }
}

const version = ({ metadata }: ConfigMap): number => Number(metadata.resourceVersion)

/**
 * Number of applies. Each apply may have to be repeated because of all the others, so the work
 * grows quadratically.
 */
const APPLIES = 80
const MANAGERS = 30
const SHARED_KEYS = 30

/**
 * Returns the data of an apply by its number, so that failures are reproducible. The data consists
 * of keys that many applies set, and one key that is unique, so that each apply is a change.
 */
function statedBy(index: number): Data {
  const keys = Array.from({ length: SHARED_KEYS }, (_, key) => key).filter(
    (key) => (index * 7 + key * key) % 5 === 0,
  )
  const wanted = keys.map((key): [string, string] => [
    `key-${key}`,
    key % 2 === 0 ? 'agreed' : `value-${index}`,
  ])
  return { ...Object.fromEntries(wanted), [`own-${index % MANAGERS}`]: `${index}` }
}

test('80 concurrent applies have the same result as sequential applies', async () => {
  const applies = Array.from({ length: APPLIES }, (_, index) => ({
    manager: `manager-${index % MANAGERS}`,
    stated: statedBy(index),
  }))
  const answers = await Promise.all(
    applies.map(async ({ manager, stated }) => ({
      manager,
      stated,
      answer: await apply('crowd', manager, stated),
    })),
  )
  const inOrder = answers.toSorted((one, other) => version(one.answer) - version(other.answer))
  assert.equal(new Set(inOrder.map(({ answer }) => version(answer))).size, APPLIES)
  const model = new Model()
  for (const { manager, stated, answer } of inOrder) {
    model.apply(manager, stated)
    assert.deepEqual(shown(answer), model.shown)
  }
})

const FIELDS = 20_000
/**
 * Maximum CPU time in ms of a tick of the event loop. CPU time does not depend on the other
 * programs on the machine.
 */
const TURN_MS_MAX = 250

function large(value: string): Buffer {
  const keys = Array.from({ length: FIELDS }, (_, at) => `key-${String(at).padStart(6, '0')}`)
  return bodyOf('large', Object.fromEntries(keys.map((key) => [key, value.repeat(36)])))
}

test('an object of 1 MB with 20,000 fields does not delay other requests', async () => {
  const bodies = [large('a'), large('b'), large('b'), large('c')]
  let isOver = false
  const longestMs = longestTurn(() => isOver)
  for (const body of bodies) {
    const { status } = await send('large', 'me', body)
    assert.ok(status === 200 || status === 201)
  }
  isOver = true
  const ms = await longestMs
  assert.ok(ms < TURN_MS_MAX, `a tick took ${ms.toFixed(0)} ms`)
})

/**
 * Returns the longest CPU time in ms of a tick of the event loop. Measures until `isOver` returns
 * true.
 */
async function longestTurn(isOver: () => boolean): Promise<number> {
  let longestMs = 0
  let last = process.threadCpuUsage()
  while (!isOver()) {
    await nextTurn()
    const used = process.threadCpuUsage()
    longestMs = Math.max(longestMs, (used.user - last.user + used.system - last.system) / 1000)
    last = used
  }
  return longestMs
}
