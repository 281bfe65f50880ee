/**
 * What every cluster begins with, from a file of the package (`scripts/build.ts` writes it), for
 * clusters in memory: `keelson dev --ephemeral` and the first one of a process with keelson/testing
 * would take most of their time to create it, with code that V8 has not compiled yet. The file has
 * the objects of a cluster at a time of its own; uids, timestamps, the certificate authority and
 * the port of the server are put in when it is read.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { readIfThere } from '../lib/process/files.ts'
import { type EngineState, MemoryEngine } from './memory/memory-engine.ts'

/** In the folder of the program. Sources have none: there, the first cluster creates all of it. */
export const firstObjectsName = 'first-objects.json'

/**
 * What the clock of the cluster shows whose objects are saved: no object has such a time by itself.
 */
export const savedNow = '2000-01-01T00:00:00Z'
const savedTime = /"2000-01-01T[\d:.]+Z"/g
const savedDay = '"2000-01-01"'
const savedAuthority = '"AUTHORITY"'
/** To which the Service kubernetes leads. */
const SAVED_PORT = 6443
const savedPort = `"targetPort":${SAVED_PORT}`
const uid = /"uid":"([0-9a-f-]{36})"/g

/** About the server that is gone. */
const isOfServer = (key: string): boolean => key.includes('/leases/')

type SavedObjects = readonly (readonly [key: string, object: string])[]

/** `authorityPem`: of the cluster. */
export async function printFirstObjects(state: EngineState, authorityPem: string): Promise<string> {
  await using engine = MemoryEngine.from(state)
  const { values } = await engine.range({ from: '/', to: '0' })
  const authority = JSON.stringify(authorityPem)
  const saved: SavedObjects = values
    .filter(({ key }) => !isOfServer(key))
    .map(({ key, value }) => [key, value.toString().replaceAll(authority, savedAuthority)])
  return JSON.stringify(saved)
}

export type FirstObjectsOptions = {
  readonly nowMs: number
  readonly authorityPem: string
  /** Where the server listens; absent: at 6443, or nobody needs to know. */
  readonly port?: number
}

/** The state of a cluster that was made at this time. */
export async function parseFirstObjects(
  text: string,
  { nowMs, authorityPem, port = SAVED_PORT }: FirstObjectsOptions,
): Promise<EngineState> {
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`
  const uids = new Map<string, string>()
  const fresh = (known: string): string => {
    const made = uids.get(known) ?? randomUUID()
    uids.set(known, made)
    return made
  }
  const authority = JSON.stringify(authorityPem)
  await using engine = new MemoryEngine()
  const put = async (key: string, object: string): Promise<void> => {
    const made = object
      .replaceAll(savedTime, `"${now}"`)
      .replaceAll(savedDay, `"${now.slice(0, 10)}"`)
      .replaceAll(savedAuthority, () => authority)
      .replace(savedPort, `"targetPort":${port}`)
      .replaceAll(uid, (_, known: string) => `"uid":"${fresh(known)}"`)
    await engine.change({ key, expected: 0, write: { put: Buffer.from(made) } })
  }
  await Promise.all(read(text).map(([key, object]) => put(key, object)))
  return engine.state()
}

/** Undefined: this is no package. */
export const readFirstObjects = (): string | undefined =>
  isSea()
    ? getAsset(firstObjectsName, 'utf8')
    : readIfThere(join(import.meta.dirname, firstObjectsName))

function read(text: string): SavedObjects {
  const parsed: unknown = JSON.parse(text)
  if (!isSaved(parsed))
    throw new TypeError(`${firstObjectsName} is damaged: install the package again`)
  return parsed
}

const isSaved = (value: unknown): value is SavedObjects =>
  Array.isArray(value) &&
  value.every(
    (entry) =>
      Array.isArray(entry) && entry.length === 2 && entry.every((one) => typeof one === 'string'),
  )
