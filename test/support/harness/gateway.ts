/**
 * A client of etcd's own JSON gateway. It shares no code with our client, so that a test can verify
 * independently what has happened. It also supports operations that the server never uses
 * (defragment, disarm an alarm). Each call opens a new connection, so that a leak check finds no
 * open connection.
 */
import { type ClientRequest, type IncomingMessage, request } from 'node:http'

/** A change as etcd recorded it. */
export type Change = {
  readonly key: string
  readonly revision: number
  /** The value, or undefined if the key was deleted. */
  readonly value: string | undefined
  /** Revision at which the key was created. 0 for a delete. */
  readonly createRevision: number
  /** Number of writes to the key since it was created. 0 for a delete. */
  readonly version: number
}

export type MemberStatus = {
  readonly member: string
  readonly leader: string
  readonly dbBytes: number
}

const CALL_TIMEOUT_MS = 5_000

export async function readStatus(url: string, timeoutMs = CALL_TIMEOUT_MS): Promise<MemberStatus> {
  const answer = await call(url, '/v3/maintenance/status', {}, timeoutMs)
  const header = field(answer, 'header')
  return {
    member: text(header, 'member_id'),
    leader: text(answer, 'leader'),
    dbBytes: number(answer, 'dbSize'),
  }
}

/** Returns the current revision of the database (linearizable). */
export async function readRevision(url: string): Promise<number> {
  const answer = await call(url, '/v3/kv/range', { key: encode('\0'), count_only: true })
  return number(field(answer, 'header'), 'revision')
}

/** Returns all keys with a prefix and their values, at one revision. */
export async function readAll(
  url: string,
  prefix: string,
): Promise<{ revision: number; entries: Change[] }> {
  const answer = await call(url, '/v3/kv/range', {
    key: encode(prefix),
    range_end: encode(afterPrefix(prefix)),
  })
  const entries = list(answer, 'kvs').map((kv) => toChange(kv, true))
  return { revision: number(field(answer, 'header'), 'revision'), entries }
}

/**
 * Returns all changes between two revisions, including both. Fails if the first one is compacted.
 */
export async function readHistory(
  url: string,
  { from, to }: { from: number; to: number },
): Promise<Change[]> {
  if (from > to) return []
  const changes: Change[] = []
  const everything = { key: encode('\0'), range_end: encode('\0'), start_revision: String(from) }
  const [req, res] = await open(url, '/v3/watch', { create_request: everything }, CALL_TIMEOUT_MS)
  try {
    for await (const line of linesOf(res)) {
      const result = field(JSON.parse(line), 'result')
      if (result === undefined)
        throw new Error(`etcd's history cannot be read: ${line.slice(0, 200)}`)
      if (field(result, 'canceled') === true)
        throw new Error(`etcd's history was canceled: ${line.slice(0, 200)}`)
      for (const event of list(result, 'events'))
        changes.push(toChange(field(event, 'kv'), field(event, 'type') !== 'DELETE'))
      if ((changes.at(-1)?.revision ?? 0) >= to) break
    }
  } finally {
    req.destroy()
  }
  if ((changes.at(-1)?.revision ?? 0) < to) throw new Error('etcd ended the history early')
  return changes.filter((change) => change.revision <= to)
}

/**
 * Writes a key without a condition, to fill the disk. Must not be used for keys whose values a test
 * checks.
 */
export async function put(
  url: string,
  { key, value }: { key: string; value: string },
): Promise<void> {
  await call(url, '/v3/kv/put', { key: encode(key), value: encode(value) })
}

export async function compact(url: string, revision: number): Promise<void> {
  await call(url, '/v3/kv/compaction', { revision: String(revision), physical: true })
}

export async function defragment(url: string): Promise<void> {
  await call(url, '/v3/maintenance/defragment', {}, 30_000)
}

/** Returns the active alarms, such as NOSPACE. */
export async function readAlarms(url: string): Promise<string[]> {
  return list(await call(url, '/v3/maintenance/alarm', { action: 'GET' }), 'alarms').map((alarm) =>
    text(alarm, 'alarm'),
  )
}

export async function disarmAlarms(url: string): Promise<void> {
  const raised = list(await call(url, '/v3/maintenance/alarm', { action: 'GET' }), 'alarms')
  for (const alarm of raised) {
    const memberID = text(alarm, 'memberID')
    await call(url, '/v3/maintenance/alarm', {
      action: 'DEACTIVATE',
      memberID,
      alarm: text(alarm, 'alarm'),
    })
  }
}

async function call(
  url: string,
  path: string,
  body: unknown,
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<unknown> {
  const [req, res] = await open(url, path, body, timeoutMs)
  try {
    const chunks: Buffer[] = []
    for await (const chunk of res) chunks.push(Buffer.from(chunk))
    const answer = Buffer.concat(chunks).toString()
    if (res.statusCode !== 200)
      throw new Error(`etcd ${path}: ${res.statusCode} ${answer.slice(0, 200)}`)
    return JSON.parse(answer)
  } finally {
    req.destroy()
  }
}

async function open(
  url: string,
  path: string,
  body: unknown,
  timeoutMs: number,
): Promise<[ClientRequest, IncomingMessage]> {
  const req = request(new URL(path, url), { method: 'POST', agent: false, timeout: timeoutMs })
  req.on('timeout', () =>
    req.destroy(new Error(`etcd ${path}: no response within ${timeoutMs} ms`)),
  )
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    req.once('response', resolve)
    req.on('error', reject) // The listener remains, so that a late error is handled. The reader of the response also gets it.
  })
  req.end(JSON.stringify(body))
  const res = await answer
  res.on('error', () => undefined)
  return [req, res]
}

async function* linesOf(res: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of res) {
    const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

function toChange(kv: unknown, isPut: boolean): Change {
  return {
    key: Buffer.from(text(kv, 'key'), 'base64').toString('latin1'),
    revision: number(kv, 'mod_revision'),
    value: isPut ? Buffer.from(text(kv, 'value'), 'base64').toString() : undefined,
    createRevision: number(kv, 'create_revision'),
    version: number(kv, 'version'),
  }
}

const encode = (raw: string): string => Buffer.from(raw, 'latin1').toString('base64')

const afterPrefix = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)

function field(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null ? Reflect.get(from, name) : undefined
}

/**
 * Returns a text field. Returns an empty string if it is missing, because the gateway leaves out
 * zero values.
 */
function text(from: unknown, name: string): string {
  const value = field(from, name)
  return typeof value === 'string' ? value : ''
}

const number = (from: unknown, name: string): number => Number(text(from, name))

function list(from: unknown, name: string): readonly unknown[] {
  const value = field(from, name)
  return Array.isArray(value) ? value : []
}
