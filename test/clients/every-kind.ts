/**
 * Creates objects of every built-in kind over HTTP and lists them again. A cluster can contain
 * several sets of these objects.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRecord } from '../recorded/compat/json.ts'
import type { Answer, SoakClient } from '../chaos/soak/client.ts'

/**
 * Files with the objects of a set. `$SET` and `$NUMBER` are replaced by the name and the number of
 * the set. The field `needs` marks an object whose version is off by default.
 */
const files = {
  every: join(import.meta.dirname, 'objects.jsonl'),
  /**
   * Objects with fields of disabled feature gates. The versions of these objects are served by
   * default.
   */
  gated: join(import.meta.dirname, 'gated-objects.jsonl'),
}

export type ObjectSet = { readonly name: string; readonly number: number }

export type Fields = Readonly<Record<string, unknown>>

/** An object, the path at which it is created, and whether its version is served by default. */
export type SetRow = { readonly path: string; readonly object: Fields; readonly isDefault: boolean }

export function readSet(set: ObjectSet, which: keyof typeof files = 'every'): readonly SetRow[] {
  const lines = readFileSync(files[which], 'utf8').trim().split('\n')
  return lines.map((line) => {
    const row: unknown = JSON.parse(
      line.replaceAll('$SET', set.name).replaceAll('$NUMBER', `${set.number}`),
    )
    if (!isRecord(row) || !isRecord(row['object'])) throw new Error(`not a row: ${line}`)
    return {
      path: String(row['path']),
      object: row['object'],
      isDefault: row['needs'] === undefined,
    }
  })
}

/**
 * Creates all objects of one set, starting with its namespace. Versions that are off by default are
 * created only with `isWhole`. Returns the server's messages for rejected objects.
 */
export async function createSet(
  client: SoakClient,
  set: ObjectSet,
  isWhole = false,
): Promise<readonly string[]> {
  const refused: string[] = []
  const { status } = await client.call('POST', '/api/v1/namespaces', {
    metadata: { name: set.name },
  })
  if (status !== 201) refused.push(`the namespace ${set.name}: ${status}`)
  const rows = isWhole
    ? [...readSet(set), ...readSet(set, 'gated')]
    : readSet(set).filter(({ isDefault }) => isDefault)
  for (const row of rows) {
    const made = await createRow(client, row, set)
    if ('refused' in made) refused.push(made.refused)
  }
  return refused
}

type CreateResult = { readonly path: string } | { readonly refused: string }

/** Creates one object, and updates its status if the object has one. */
export async function createRow(
  client: SoakClient,
  { path, object: whole }: SetRow,
  set: ObjectSet,
): Promise<CreateResult> {
  const { status, ...object } = whole
  if (path.includes('.example.com/')) await customServed(client, set)
  const made = await client.call('POST', path, object)
  if (made.status >= 300 || !isRecord(made.body)) return { refused: refusal(`POST ${path}`, made) }
  const own = `${path}/${metadataOf(made.body, 'name')}`
  if (status === undefined) return { path: own }
  const put = await client.call('PUT', `${own}/status`, { ...made.body, status })
  return put.status < 300 ? { path: own } : { refused: refusal(`PUT ${own}/status`, put) }
}

const refusal = (what: string, { status, body }: Answer): string =>
  `${what}: ${status} ${isRecord(body) ? JSON.stringify(body['message']) : ''}`

/**
 * Waits until the custom resource of a set is served. This takes some time after its
 * CustomResourceDefinition was created, or after the start of a server.
 */
export async function customServed(client: SoakClient, { name }: ObjectSet): Promise<void> {
  const path = `/apis/${name}.example.com/v1/tills`
  const began = performance.now()
  while ((await client.call('GET', path).catch(() => undefined))?.status !== 200) {
    if (performance.now() - began > SERVED_MS_MAX) return
    await sleep(SERVED_POLL_MS)
  }
}

const SERVED_MS_MAX = 30_000
const SERVED_POLL_MS = 100

/**
 * A resource that can be listed, according to discovery. The id contains the resource, the version
 * and the group (see `idOf`).
 */
export type Listable = { readonly path: string; readonly id: string }

export async function listables(client: SoakClient): Promise<readonly Listable[]> {
  const { body: groups } = await client.call('GET', '/apis')
  // Skip the group of the APIService in each set, because no server behind it is running.
  const served = items(groups, 'groups').filter(({ name }) => !String(name).startsWith('remote.'))
  const roots = ['/api/v1', ...served.flatMap((group) => items(group, 'versions').map(rootOf))]
  const found: Listable[] = []
  for (const root of roots) {
    const { body } = await client.call('GET', root)
    for (const { name, verbs } of items(body, 'resources')) {
      if (Array.isArray(verbs) && verbs.includes('list'))
        found.push({ path: `${root}/${String(name)}`, id: idOf(root, name) })
    }
  }
  return found
}

export type ObjectsByKey = ReadonlyMap<string, Fields>

/** Returns all objects of all kinds. The keys consist of path, namespace and name. */
export async function listAll(client: SoakClient): Promise<ObjectsByKey> {
  const all = new Map<string, Fields>()
  for (const { path } of await listables(client)) {
    const { body } = await client.call('GET', path)
    for (const item of items(body, 'items')) {
      all.set(`${path} ${metadataOf(item, 'namespace')}/${metadataOf(item, 'name')}`, item)
    }
  }
  return all
}

function metadataOf({ metadata }: Fields, field: 'name' | 'namespace'): string {
  const value = isRecord(metadata) ? metadata[field] : undefined
  return typeof value === 'string' ? value : ''
}

const rootOf = ({ groupVersion }: Fields): string => `/apis/${String(groupVersion)}`

const items = (value: unknown, key: string): readonly Fields[] => {
  const list = isRecord(value) ? value[key] : undefined
  return Array.isArray(list) ? list.filter(isRecord) : []
}

/**
 * Returns the id of a resource in kubectl's syntax, such as
 * `horizontalpodautoscalers.v1.autoscaling`.
 */
function idOf(root: string, name: unknown): string {
  const [, , group = '', version = ''] = root.split('/')
  return root === '/api/v1' ? `${String(name)}.v1.` : `${String(name)}.${version}.${group}`
}
