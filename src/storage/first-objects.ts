/**
 * The initial objects of every cluster, read from a file in the package that `scripts/build.ts`
 * writes. They are used by in-memory clusters: `keelson dev --ephemeral` and the first cluster of a
 * process with keelson/testing. Creating the objects would take most of the startup time, because
 * V8 has not compiled the code yet. The file contains the objects of a cluster at a fixed time.
 * UIDs, timestamps, the certificate authority and the port of the server are filled in when the
 * file is read.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { readIfThere } from '../lib/process/files.ts'
import { type EngineState, MemoryEngine } from './memory/memory-engine.ts'

/**
 * Name of the file in the program's folder. If the program runs from source, there is no such file,
 * and the first cluster creates all objects.
 */
export const firstObjectsName = 'first-objects.json'

/**
 * The time at which the saved cluster was created. No object contains this time for any other
 * reason. It can therefore be replaced by the time at which the new cluster is created.
 */
export const savedNow = '2000-01-01T00:00:00Z'
const savedTime = /"2000-01-01T[\d:.]+Z"/g
const savedDay = '"2000-01-01"'
const savedAuthority = '"AUTHORITY"'
/** Target port of the `kubernetes` Service in the saved objects. */
const SAVED_PORT = 6443
const savedPort = `"targetPort":${SAVED_PORT}`
const uid = /"uid":"([0-9a-f-]{36})"/g

/**
 * Whether an object is a lease of the server that wrote the file. Leases are left out, because that
 * server is no longer running.
 */
const isOfServer = (key: string): boolean => key.includes('/leases/')

type SavedObjects = readonly (readonly [key: string, object: string])[]

/** Serializes the objects of a cluster. `authorityPem` is the cluster's certificate authority. */
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
  /** Port of the server. Can be omitted if it is 6443 or if no client needs it. */
  readonly port?: number
}

/** Returns the state of a cluster that was created at `nowMs`. */
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

/**
 * Reads the file with the objects. Returns undefined if the program does not run from a package.
 */
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
