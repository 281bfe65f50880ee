/**
 * Replaces values that differ from run to run. Equal values get equal names: wherever the first uid
 * occurs, it becomes uid#1. The same applies to resourceVersions, continue tokens and generated
 * addresses. Times from 2024 on become <time>. If two responses are equal after this, they are
 * equivalent for a client.
 */
import type { Json, JsonObject } from './json.ts'

/**
 * Path of a value, which consists of the keys that lead to it. Two special keys mark lists and
 * bookmarks. Their resourceVersions also change without a request of the scenario.
 */
type Path = readonly (string | number)[]
const LIST_METADATA = 'metadata of list'
const BOOKMARK_OBJECT = 'object of bookmark'

/** Times before this year are part of a scenario, and are not replaced. */
const GENERATED_TIMES_FROM = '2024'

export type NormaliserOptions = {
  readonly namespace: string
  /** URL at which the runner serves webhooks, shown as $hooks. */
  readonly hookUrl: string
  /** Extension API server. Its CA is shown as $caBundle, its port as $port. */
  readonly extension?: { readonly port: number; readonly caBundle: string } | undefined
  /** Folder of the server, shown as $dir. */
  readonly dir?: string | undefined
  /** Whether equal times of managedFields entries get equal names (time#1, time#2, …). */
  readonly times?: boolean | undefined
}

export class Normaliser {
  /** Whether resourceVersions of lists and bookmarks are compared. Set for the current step. */
  listRv = false
  readonly #namespace: string
  readonly #hookUrl: string
  readonly #extension: NormaliserOptions['extension']
  readonly #dir: string | undefined
  readonly #times: boolean
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  constructor({ namespace, hookUrl, extension, dir, times = false }: NormaliserOptions) {
    this.#namespace = namespace
    this.#hookUrl = hookUrl
    this.#extension = extension
    this.#dir = dir
    this.#times = times
  }

  /**
   * Returns the name that replaces a value, such as `uid#1`. Values of each kind are numbered in
   * the order in which they first occur.
   */
  rename(kind: string, value: string): string {
    const key = `${kind}\0${value}`
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    const name = `${kind}#${count}`
    this.#counts.set(kind, count)
    this.#names.set(key, name)
    return name
  }

  /** Returns a text with all variable parts replaced. */
  text(text: string): string {
    const renameVersion = (_: string, head: string, version: string): string =>
      head + this.rename('rv', version)
    const own = this.#extension === undefined ? text : hideExtension(text, this.#extension)
    const here = this.#dir === undefined ? own : own.replaceAll(this.#dir, '$dir')
    return (
      here
        .replaceAll(this.#hookUrl, '$hooks')
        .replaceAll(this.#namespace, '$ns')
        .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (uid) =>
          this.rename('uid', uid),
        )
        .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, hideTime)
        .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \+0000 UTC/g, hideTime)
        // Remove the reading of Go's monotonic clock, which follows a printed time.
        .replace(/ m=[+-]\d+\.\d+/g, '')
        .replace(/\b(\d+\.\d+|\d+)(m?s)\b/g, '<duration>')
        .replace(
          /(\\?"resourceVersion\\?": ?\\?"|ResourceVersion in (?:the precondition|record) \()(\d+)/g,
          renameVersion,
        )
        .replace(/\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]*/g, (token) => this.rename('token', token))
        .replace(
          /\bX509SHA256=[0-9a-f]{64}\b/g,
          (digest) => `X509SHA256=${this.rename('digest', digest)}`,
        )
        .replace(/\)\(0x[0-9a-f]{6,}\)/g, ')(<pointer>)')
        .replace(/\(0x[0-9a-f]{6,}\)/g, '(<pointer>)')
        .replace(/(ResourceVersion in (?:precondition|object meta): )(\d+)/g, renameVersion)
        .replace(/resource version: (\d+), current: (\d+)/g, 'resource version: <n>, current: <n>')
        .replace(
          /too old resource version: (\d+) \((\d+)\)/g,
          'too old resource version: <n> (<n>)',
        )
    )
  }

  /** Returns a value with all its variable parts replaced and the keys of objects sorted. */
  value(value: Json, path: Path = []): Json {
    if (typeof value === 'number' && path.at(-1) === 'port' && value === this.#extension?.port)
      return '$port'
    if (value === null || typeof value === 'boolean' || typeof value === 'number') return value
    if (typeof value === 'string') return this.#string(value, path)
    if (Array.isArray(value))
      return value.map((entry, index) => this.value(entry, [...path, index]))
    const out: JsonObject = {}
    for (const key of Object.keys(value).toSorted()) {
      const entry = value[key]
      if (entry === undefined) throw new TypeError(`${key} is undefined, which is not valid JSON`)
      out[this.#key(key)] = this.value(entry, [...path, stepInto(value, key, path)])
    }
    return out
  }

  #string(value: string, path: Path): string {
    const key = path.at(-1)
    if (key === 'resourceVersion' && value !== '') {
      // The writes of other scenarios increase the resourceVersion of a list or bookmark. It
      // therefore gets no name.
      const moves = path.at(-2) === LIST_METADATA || path.at(-3) === BOOKMARK_OBJECT
      return moves && !this.listRv ? '<rv>' : this.rename('rv', value)
    }
    if (key === 'continue' && value !== '') {
      return path.at(-2) === LIST_METADATA ? '<continue>' : this.rename('continue', value)
    }
    if (this.#times && key === 'time' && path.at(-3) === 'managedFields')
      return this.rename('time', value)
    if (key === 'k8s.io/initial-events-end') return value
    const isAddress = key === 'clusterIP' || path.at(-2) === 'clusterIPs'
    if (isAddress && value !== 'None' && value !== '') return this.rename('ip', value)
    return this.text(value)
  }

  /**
   * Replaces the parts of a key that differ between runs. Only two sorts of keys have such parts:
   * the name of the namespace, and the keys in a field set that begin with `k:` or `v:`, because
   * they contain values.
   */
  #key(key: string): string {
    if (key === this.#namespace) return '$ns'
    return /^[kv]:/.test(key) ? this.text(key) : key
  }
}

/**
 * Replaces the CA and the port of the extension API server. If a text describes a connection to
 * this server, the ephemeral port of the client is removed.
 */
const hideExtension = (
  text: string,
  { port, caBundle }: NonNullable<NormaliserOptions['extension']>,
): string =>
  text
    .replaceAll(caBundle, '$caBundle')
    .replace(new RegExp(`(:\\d+->[\\d.]+)?:${port}\\b`, 'g'), ':$port')

const hideTime = (time: string): string => (time < GENERATED_TIMES_FROM ? time : '<time>')

function stepInto(parent: JsonObject, key: string, path: Path): string {
  const isList = Array.isArray(parent['items']) || Array.isArray(parent['rows'])
  if (key === 'metadata' && path.length === 0 && isList) return LIST_METADATA
  return key === 'object' && parent['type'] === 'BOOKMARK' ? BOOKMARK_OBJECT : key
}
