/**
 * Prepares responses for comparison. Values that differ from run to run are replaced by stable
 * names. Everything else that a client receives is compared.
 */
import { sortManagedFields } from '../../recorded/compat/diff.ts'
import { isRecord, type Json } from '../../recorded/compat/json.ts'
import { Normaliser } from '../../recorded/compat/normalise.ts'
import { isKnownWarning, withoutKnown } from './known.ts'
import { child, textAt, valueAt } from './json-positions.ts'
import type { Answer } from './step.ts'

const NODE_PORT_MIN = 30_000
const NODE_PORT_MAX = 32_767

/**
 * Normalizes the responses of one server in one case. A UID is replaced by the same placeholder
 * wherever it occurs in these responses.
 */
export class Comparer {
  readonly #normaliser: Normaliser

  constructor(namespace: string) {
    this.#normaliser = new Normaliser({ namespace, hookUrl: 'http://no-hooks' })
  }

  normalise({ status, contentType, warnings, body }: Answer): Json {
    return {
      status,
      contentType,
      warnings: warnings
        .filter((warning) => !isKnownWarning(warning))
        .map((warning) => this.#normaliser.text(warning)),
      body:
        typeof body === 'string'
          ? withoutChance(withoutMoving(this.#normaliser.text(body)))
          : this.#value(body),
    }
  }

  #value(body: Json): Json {
    return withoutChance(
      withoutKnown(withoutPorts(this.#normaliser.value(sortManagedFields(body)))),
    )
  }
}

/**
 * Removes the parts of a body that kube-apiserver generates at random. Replays also call this
 * function for recorded responses, because some of them are older than the rules in this file.
 */
export const withoutChance = (body: Json): Json =>
  typeof body === 'string'
    ? sortOwners(body)
    : withoutAges(sortMisfits(sortCauses(withoutPlaces(withoutTypeNumbers(body)))))

/**
 * Masks the ages in a table, or in a watch that sends tables. Ages change, because a table shows
 * the time since a date of the object. Only known columns are masked, because other columns can
 * show quantities that look like ages, such as `5m`.
 */
function withoutAges(body: Json): Json {
  const events = child(body, 'events')
  if (!Array.isArray(events)) return withoutAgesIn(body, movingColumns(body))
  // Only the first table of a watch has column definitions.
  const moving = movingColumns(child(events[0], 'object'))
  if (moving.size === 0 || !isRecord(body)) return body
  const shown = (event: Json): Json =>
    isRecord(event) ? { ...event, object: withoutAgesIn(event['object'] ?? null, moving) } : event
  return { ...body, events: events.map(shown) }
}

const movingNames = ['Age', 'Duration', 'Last Seen', 'First Seen', 'Last Schedule', 'TimeAdded']

const isMoving = (column: Json): boolean =>
  textAt(column, 'type') === 'date' || movingNames.includes(textAt(column, 'name'))

function movingColumns(table: Json | undefined): ReadonlySet<number> {
  const columns = child(table, 'columnDefinitions')
  if (!Array.isArray(columns)) return new Set()
  return new Set(columns.flatMap((column, at) => (isMoving(column) ? [at] : [])))
}

function withoutAgesIn(table: Json, moving: ReadonlySet<number>): Json {
  const rows = child(table, 'rows')
  if (moving.size === 0 || !isRecord(table) || !Array.isArray(rows)) return table
  const masked = (cell: Json, at: number): Json =>
    moving.has(at) && typeof cell === 'string' && age.test(cell) ? '<age>' : cell
  const shown = (row: Json): Json =>
    isRecord(row) && Array.isArray(row['cells']) ? { ...row, cells: row['cells'].map(masked) } : row
  return { ...table, rows: rows.map(shown) }
}

const age = /^(?=.)(?:\d+y)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?$/

/**
 * Masks the path in the error for an embedded object whose metadata is invalid. If several objects
 * are invalid, kube-apiserver reports one of them at random, because it iterates over a Go map.
 */
function withoutPlaces(body: Json): Json {
  if (!isRecord(body)) return body
  const message = textAt(body, 'message').replace(
    /( cannot be handled as a \w+: )\S+(\.metadata: Invalid value: )/,
    '$1<place>$2',
  )
  return message === '' ? body : { ...body, message }
}

/**
 * Sorts the entries of managedFields in an object in YAML. Servers sort them by the time of the
 * last write in whole seconds, so the order differs between runs.
 */
const sortOwners = (yaml: string): string =>
  yaml.replace(
    /^( *managedFields:\n)((?: *- .*\n(?: {4,}.*\n)*)+)/gm,
    (_, head: string, entries: string) =>
      [head, ...entries.split(/^(?= *- )/m).toSorted()].join(''),
  )

/**
 * Masks random numbers in messages. kube-apiserver uses them in the names of the types to which CEL
 * rules refer.
 */
function withoutTypeNumbers(value: Json, key = ''): Json {
  if (typeof value === 'string')
    return key === 'message' ? value.replace(/\bselfType\d+/g, 'selfType<n>') : value
  if (Array.isArray(value)) return value.map((entry) => withoutTypeNumbers(entry))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, withoutTypeNumbers(entry, name)]),
  )
}

/**
 * Sorts the causes of a rejection, because their order in kube-apiserver is random if it iterates
 * over a Go map. The message repeats the causes, so they are removed from it. `orderOf` returns the
 * original order.
 */
function sortCauses(body: Json): Json {
  const causes = causesOf(body)
  if (!isRecord(body) || causes.length < 2) return body
  const sorted = causes.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  const details = body['details'] ?? {}
  return {
    ...body,
    message: textAt(body, 'message').replace(/ is invalid: \[[\s\S]*$/, ' is invalid: […]'),
    details: isRecord(details) ? { ...details, causes: sorted } : details,
  }
}

/**
 * Sorts the schema errors of an applied object, because kube-apiserver lists them in the random
 * order of a Go map. If one of them reports an undeclared field, the others are ignored.
 * kube-apiserver reports only one undeclared field of a map, chosen at random.
 */
function sortMisfits(body: Json): Json {
  const [whole, what = '', faults = ''] =
    /^((?:.*?\(\S*; [^)]*\)(?: to smd typed)?|failed to convert new object|failed to prune fields: [^.]*): |)(errors:\n.*|\..*)$/s.exec(
      textAt(body, 'message'),
    ) ?? []
  if (whole === undefined || !isRecord(body)) return body
  const lines = faults
    .replace(/^errors:\n/, '')
    .split('\n')
    .map((line) => line.trim())
  const isCut = lines.some((line) => line.endsWith(': field not declared in schema'))
  return {
    ...body,
    message: what + (isCut ? 'a field is not declared' : lines.toSorted().join('\n')),
  }
}

export function causesOf(body: Json): readonly Json[] {
  const causes = valueAt(body, ['details', 'causes'])
  return Array.isArray(causes) ? causes : []
}

/** Returns the fields that a rejection names, in their original order. */
export const orderOf = ({ body }: Answer): string =>
  causesOf(body)
    .map((cause) => textAt(cause, 'field'))
    .join()

/** Masks values that differ from run to run in YAML, which is compared as text. */
const withoutMoving = (text: string): string =>
  text
    .replace(/^- description: .*\n( {4,}.*\n|\n)*/gm, '- description\n')
    .replace(/(resourceVersion: )"\d+"/g, '$1<rv>')
    .replace(/(clusterIP: |- )10\.0\.\d+\.\d+/g, '$1<ip>')
    .replace(/(\w*[nN]odePort: )\d+/g, '$1<port>')

/**
 * Masks node ports, which are allocated at random. Also masks addresses and node ports in messages,
 * because the error of a rejected patch quotes the JSON of the object.
 */
function withoutPorts(value: Json, key = ''): Json {
  if (Array.isArray(value)) return value.map((entry) => withoutPorts(entry))
  if (isRecord(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [name, withoutPorts(entry, name)]),
    )
  if (key === 'message' && typeof value === 'string') return withoutQuoted(value)
  const isPort = (key === 'nodePort' || key === 'healthCheckNodePort') && typeof value === 'number'
  return isPort && value >= NODE_PORT_MIN && value <= NODE_PORT_MAX ? '<port>' : value
}

const withoutQuoted = (message: string): string =>
  message
    .replace(/(clusterIPs?\\+":\[?\\+")10\.0\.\d+\.\d+/g, '$1<ip>')
    .replace(/([nN]odePort\\+":)3\d{4}\b/g, '$1<port>')
