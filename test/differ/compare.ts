/** What of an answer is compared: all that a client sees, with what changes from run to run renamed. */
import { sortManagedFields } from '../compat/diff.ts'
import { isRecord, type Json } from '../compat/json.ts'
import { Normaliser } from '../compat/normalise.ts'
import { isKnownWarning, withoutKnown } from './known.ts'
import { textAt, valueAt } from './places.ts'
import type { Answer } from './step.ts'

const NODE_PORT_MIN = 30_000
const NODE_PORT_MAX = 32_767

/** Normalises the answers of one server to one case: the same uid is the same name in all of them. */
export class Comparer {
  readonly #normaliser: Normaliser

  constructor(namespace: string) {
    this.#normaliser = new Normaliser({ namespace, hookUrl: 'http://no-hooks' })
  }

  normalise({ status, contentType, warnings, body }: Answer): Json {
    return {
      status,
      contentType,
      warnings: warnings.filter((warning) => !isKnownWarning(warning)).map((warning) => this.#normaliser.text(warning)),
      body: typeof body === 'string' ? withoutMoving(this.#normaliser.text(body)) : this.#value(body),
    }
  }

  #value(body: Json): Json {
    return sortFaults(sortCauses(withoutKnown(withoutPorts(this.#normaliser.value(sortManagedFields(body))))))
  }
}

/**
 * Causes of a refusal in an order of their own: that of the reference is random wherever it walks a Go map. The message
 * repeats them and is cut before it does; `orderOf` tells whether the order was the same.
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

/** What does not fit its type in what is applied, a line each: the reference finds it in the order of a Go map, too. */
function sortFaults(body: Json): Json {
  if (!isRecord(body) || !textAt(body, 'message').startsWith('failed to create typed patch object')) return body
  const [head = '', ...faults] = textAt(body, 'message').split('\n')
  return { ...body, message: [head, ...faults.toSorted()].join('\n') }
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

/** Node ports are given at random. */
function withoutPorts(value: Json, key = ''): Json {
  if (Array.isArray(value)) return value.map((entry) => withoutPorts(entry))
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withoutPorts(entry, name)]))
  const isPort = (key === 'nodePort' || key === 'healthCheckNodePort') && typeof value === 'number'
  return isPort && value >= NODE_PORT_MIN && value <= NODE_PORT_MAX ? '<port>' : value
}
