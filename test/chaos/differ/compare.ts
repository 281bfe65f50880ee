/**
 * What of an answer is compared: all that a client sees, with what changes from run to run renamed.
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
 * Normalises the answers of one server to one case: the same uid is the same name in all of them.
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
 * A body without what the reference draws at random. What was recorded before a rule came to it is
 * read through it, too.
 */
export const withoutChance = (body: Json): Json =>
  typeof body === 'string'
    ? sortOwners(body)
    : withoutAges(sortMisfits(sortCauses(withoutPlaces(withoutTypeNumbers(body)))))

/**
 * Of a table, or of a watch that sends tables: a date of the object, which does not move, is shown
 * as the time since then, which does. Other columns may show quantities, which look alike: `5m`.
 */
function withoutAges(body: Json): Json {
  const events = child(body, 'events')
  if (!Array.isArray(events)) return withoutAgesIn(body, movingColumns(body))
  // Only the first table of a watch says what its columns are.
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
 * Of several embedded objects whose metadata cannot be read the reference tells the one that it
 * comes to first in a Go map.
 */
function withoutPlaces(body: Json): Json {
  if (!isRecord(body)) return body
  const message = textAt(body, 'message').replace(
    /( cannot be handled as a \w+: )\S+(\.metadata: Invalid value: )/,
    '$1<place>$2',
  )
  return message === '' ? body : { ...body, message }
}

/** Of an object in YAML: managers stand in the order of the seconds in which they wrote. */
const sortOwners = (yaml: string): string =>
  yaml.replace(
    /^( *managedFields:\n)((?: *- .*\n(?: {4,}.*\n)*)+)/gm,
    (_, head: string, entries: string) =>
      [head, ...entries.split(/^(?= *- )/m).toSorted()].join(''),
  )

/** Messages name the type of the value that a rule is about by a random number. */
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
 * Causes of a refusal in an order of their own: that of the reference is random wherever it walks a
 * Go map. The message repeats them and is cut before it does; `orderOf` tells whether the order was
 * the same.
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
 * What of an applied object does not fit its schema, in an order of its own: the reference walks Go
 * maps. Of a map with a field that is not declared it tells no more than it has come to, so of
 * those faults nothing is compared but that there is such a field.
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

/** The fields that a refusal names, in its order. */
export const orderOf = ({ body }: Answer): string =>
  causesOf(body)
    .map((cause) => textAt(cause, 'field'))
    .join()

/** Of YAML, which is compared as text. */
const withoutMoving = (text: string): string =>
  text
    .replace(/^- description: .*\n( {4,}.*\n|\n)*/gm, '- description\n')
    .replace(/(resourceVersion: )"\d+"/g, '$1<rv>')
    .replace(/(clusterIP: |- )10\.0\.\d+\.\d+/g, '$1<ip>')
    .replace(/(\w*[nN]odePort: )\d+/g, '$1<port>')

/**
 * Addresses and node ports are given at random; a refused patch shows them in the JSON of the
 * object, which its message quotes.
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
