/** Describes the last writes and refused requests of the objects for which a test has waited. */
import { inspect } from 'node:util'
import { TextError } from '../../api/errors.ts'
import { requestInfo } from '../../request/filters/request-info.ts'
import type { FieldChange } from './object-changes.ts'
import { type HistoryFilter, type RequestTarget, targetOf } from './recorded-request.ts'
import type { TimelineEntry } from './timeline.ts'

/** Maximum number of writes and refused requests that are shown. */
const ENTRIES_MAX = 10
/** Maximum number of changes that are shown for a write. */
const CHANGES_MAX = 3
const VALUE_CHARACTERS_MAX = 60
const MESSAGE_CHARACTERS_MAX = 300

/**
 * Returns the object or list that a path names, or undefined if the path does not name a resource.
 */
export function targetOfPath(path: string): RequestTarget | undefined {
  try {
    const { pathname, searchParams } = new URL(path, 'https://cluster')
    const info = requestInfo({
      method: 'GET',
      path: decodeURIComponent(pathname),
      query: searchParams,
    })
    return info.kind === 'resource' ? targetOf(info) : undefined
  } catch (error) {
    // The path is malformed, which the response reports.
    if (error instanceof TextError || error instanceof TypeError || error instanceof URIError)
      return undefined
    throw error
  }
}

/** Formats the object, or all objects of a list: `configmaps default/x`, `nodes`. */
export function describeTarget({ resource, group, namespace, name }: RequestTarget): string {
  const object = [namespace, name].filter((part) => part !== '').join('/')
  return `${resource}${group === '' ? '' : `.${group}`}${object === '' ? '' : ` ${object}`}`
}

/**
 * Returns lines for an error message, which describe the last writes and refused requests of the
 * targets. If nothing was recorded for them, or `targets` is empty, describes the last ones of all
 * objects.
 */
export function explainWait(
  targets: readonly RequestTarget[],
  timeline: (filter?: HistoryFilter) => readonly TimelineEntry[],
): string[] {
  const names = targets.map(describeTarget).join(', ')
  const about = targets.flatMap(({ resource, group }) => timeline({ resource, group }))
  const own = [...new Set(about)].filter((entry) => targets.some((one) => concerns(entry, one)))
  if (own.length > 0) return [`the last writes and refused requests of ${names}:`, ...linesOf(own)]
  // Leave out Leases, because servers and controllers renew them all the time.
  const all = timeline().filter(({ resource }) => resource !== 'leases')
  const none = names === '' ? '' : `no writes or refused requests of ${names}`
  if (all.length === 0) return [none || 'no writes or refused requests']
  const title = 'the last writes and refused requests'
  return [none === '' ? `${title}:` : `${none}; ${title} of other objects:`, ...linesOf(all)]
}

/**
 * Whether a write or refused request concerns a target. A request without a name, such as a refused
 * create, may concern any object of its resource.
 */
const concerns = (entry: TimelineEntry, { resource, group, namespace, name }: RequestTarget) =>
  entry.resource === resource &&
  entry.group === group &&
  (namespace === '' || entry.namespace === namespace) &&
  (name === '' || entry.name === '' || entry.name === name)

/**
 * Describes each of the last writes and refused requests in a line. If several in succession have
 * the same description, they share a line.
 */
function linesOf(entries: readonly TimelineEntry[]): string[] {
  const lines: { time: Date; text: string; count: number }[] = []
  for (const entry of entries.toReversed()) {
    const text = describeEntry(entry)
    const later = lines.at(-1)
    if (later?.text === text) later.count++
    else if (lines.length === ENTRIES_MAX) break
    else lines.push({ time: entry.time, text, count: 1 })
  }
  return lines
    .toReversed()
    .map(
      ({ time, text, count }) =>
        `  ${time.toISOString().slice(11, -1)} ${text}${count > 1 ? ` (${count} times)` : ''}`,
    )
}

function describeEntry(entry: TimelineEntry): string {
  const { verb, subresource, operation } = entry
  const resource = subresource === '' ? entry.resource : `${entry.resource}/${subresource}`
  const request = `${describeSender(entry)} ${verb || operation} ${describeTarget({ ...entry, resource })}`
  if (operation === 'refused') {
    const { code, reason, message } = entry
    const why = [`${code} ${reason}`.trim(), cut(message, MESSAGE_CHARACTERS_MAX)]
    return `${request}: refused with ${why.filter((part) => part !== '').join(', ')}`
  }
  // A server-side apply also creates objects, and removing the last finalizer deletes one.
  if (operation !== 'update')
    return verb === operation || verb === '' ? request : `${request}: ${operation}d`
  return `${request}: ${describeChanges(entry.changes)}`
}

function describeSender({ user, source, userAgent, fieldManager }: TimelineEntry): string {
  const name = user?.name ?? (source === 'server' ? 'the server' : userAgent || 'an unknown user')
  const hasManager = source === 'client' && user !== undefined && fieldManager !== 'unknown'
  return hasManager ? `${name} (${fieldManager})` : name
}

function describeChanges(changes: readonly FieldChange[]): string {
  if (changes.length === 0) return 'no changes'
  const shown = changes
    .slice(0, CHANGES_MAX)
    .map(({ path, before, after }) => `${path} ${describeValue(before)} -> ${describeValue(after)}`)
  const left = changes.length - shown.length
  return `${shown.join(', ')}${left > 0 ? `, and ${left} more` : ''}`
}

/** Formats a value in one short line. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'none'
  return cut(
    inspect(value, { depth: 4, breakLength: Infinity, maxArrayLength: 10, maxStringLength: 100 }),
    VALUE_CHARACTERS_MAX,
  )
}

/** Puts a text on one line and truncates it. */
export function cut(text: string, charactersMax: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > charactersMax ? `${line.slice(0, charactersMax - 1)}…` : line
}
