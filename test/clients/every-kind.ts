/**
 * Objects of every built-in kind, made over HTTP and listed again. Several sets of them can be in
 * one cluster.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRecord } from '../recorded/compat/json.ts'
import type { Answer, SoakClient } from '../chaos/soak/client.ts'

/**
 * `$SET` and `$NUMBER` stand for what tells one set from another; `needs` marks versions that are
 * off by default.
 */
const files = {
  every: join(import.meta.dirname, 'objects.jsonl'),
  /** Of kinds that are served by default, with fields of gates that are off. */
  gated: join(import.meta.dirname, 'gated-objects.jsonl'),
}

export type ObjectSet = { readonly name: string; readonly number: number }

export type Fields = Readonly<Record<string, unknown>>

/** Where an object is made; and whether its version is served by default. */
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
 * Makes one set, its namespace first, and what is off by default only if asked for it. Returns what
 * was refused, in the words of the server.
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

/** Makes one object, and its status where it has one. */
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
 * A custom resource can be read and written some time after its definition, or after the start of a
 * server.
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

/** `pods` or `deployments.apps` in a version: what can be listed, by the server's own documents. */
export type Listable = { readonly path: string; readonly id: string }

export async function listables(client: SoakClient): Promise<readonly Listable[]> {
  const { body: groups } = await client.call('GET', '/apis')
  // The APIService of a set promises a group that nobody serves.
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

/** All objects of all kinds, by where they are. */
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

/** As kubectl takes it: `horizontalpodautoscalers.v1.autoscaling`. */
function idOf(root: string, name: unknown): string {
  const [, , group = '', version = ''] = root.split('/')
  return root === '/api/v1' ? `${String(name)}.v1.` : `${String(name)}.${version}.${group}`
}
