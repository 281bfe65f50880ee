/**
 * A context in the kubeconfig of a user, which has those of other clusters, too. The file is replaced as a whole or not at all; everything else in it stays, but for comments, which
 * kubectl itself does not keep either.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, fieldsOf, type Json, textOf } from '../api/object.ts'
import { parseYaml } from '../codec/yaml-parse.ts'
import { jsonToYaml } from '../codec/yaml-print.ts'

/** kubectl holds the lock for milliseconds. */
const LOCK_MS_MAX = 10_000
const POLL_MS = 20
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
const lists = ['clusters', 'users', 'contexts'] as const

/** Takes everything of `own` over and makes `context` the current one. Returns the one before; empty if there was none. */
export async function addContext(path: string, context: string, own: Buffer): Promise<string> {
  const added = readConfig(own, 'the kubeconfig of keelson dev')
  let previous = ''
  await change(path, (config) => {
    const current = textOf(config['current-context'])
    if (current !== context) previous = current
    const changed: Record<string, Json | undefined> = {
      apiVersion: 'v1',
      kind: 'Config',
      ...config,
      'current-context': context,
    }
    for (const list of lists) changed[list] = [...others(config[list], namesIn(added[list])), ...entriesOf(added[list])]
    return changed
  })
  return previous
}

/** Makes `previous` the current one again, if `context` still is. */
export async function removeContext(path: string, context: string, previous: string): Promise<void> {
  await change(path, (config) => {
    const names = new Set([context, `${context}-admin`])
    const changed: Record<string, Json | undefined> = { ...config }
    for (const list of lists) changed[list] = others(config[list], names)
    if (config['current-context'] === context) changed['current-context'] = previous
    return changed
  })
}

const entriesOf = (list: Json | undefined): readonly Json[] => (Array.isArray(list) ? list : [])
const nameOf = (entry: Json): string => textOf(fieldsOf(entry)['name'])
const namesIn = (list: Json | undefined): ReadonlySet<string> => new Set(entriesOf(list).map(nameOf))
const others = (list: Json | undefined, names: ReadonlySet<string>): Json[] =>
  entriesOf(list).filter((entry) => !names.has(nameOf(entry)))

async function change(path: string, changed: (config: Fields) => Json): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE })
  // A link, as some keep their settings elsewhere, stays one.
  const file = existsSync(path) ? realpathSync(path) : path
  using held = new DisposableStack()
  held.use(await lock(file))
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
  const next = jsonToYaml(changed(readConfig(bytes, path)))
  replace(file, next)
}

/** Fails for what is no kubeconfig: it is left as it is. */
function readConfig(bytes: Buffer, path: string): Fields {
  if (bytes.toString().trim() === '') return {}
  const wrong = (why: string, cause?: unknown): Error =>
    new Error(
      `${path} cannot be merged with (${why}) and was left as it is: mend it, or leave --kubeconfig-merge out`,
      { cause },
    )
  const parsed = parseOr(bytes, (cause) => wrong(cause instanceof Error ? cause.message : String(cause), cause))
  const config = fieldsOf(parsed)
  if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) {
    const odd = lists.find(
      (list) => config[list] !== undefined && config[list] !== null && !Array.isArray(config[list]),
    )
    if (odd !== undefined) throw wrong(`${odd} is no list`)
    return config
  }
  throw wrong('it is no map')
}

function parseOr(bytes: Buffer, wrong: (cause: unknown) => Error): Json {
  try {
    const { value, duplicates } = parseYaml(bytes)
    if (duplicates[0] !== undefined) throw new Error(duplicates[0])
    return value
  } catch (cause) {
    throw wrong(cause)
  }
}

/** The lock that kubectl takes, too. */
async function lock(file: string): Promise<Disposable> {
  const path = `${file}.lock`
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    try {
      closeSync(openSync(path, 'wx', FILE_MODE))
      return { [Symbol.dispose]: () => rmSync(path, { force: true }) }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      if (waitedMs >= LOCK_MS_MAX)
        throw new Error(`${path} is held by another program: if none runs, remove it`, { cause: error })
      await sleep(POLL_MS)
    }
  }
}

/** Who reads it meanwhile sees the old or the new file, and so does who reads it after a crash. */
function replace(file: string, text: string): void {
  const draft = `${file}.keelson-${process.pid}`
  const descriptor = openSync(draft, 'w', FILE_MODE)
  try {
    // writeSync may write a part.
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
    closeSync(descriptor)
    if (existsSync(file)) chmodSync(draft, statSync(file).mode)
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
