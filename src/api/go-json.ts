/**
 * Converts values that are formatted like Go's %#v to the JSON of Go's encoder. Since 1.34,
 * kube-apiserver shows invalid values as JSON. Types of Kubernetes' internal version have no JSON
 * names, so their fields have the names of Go.
 */
import { isFields, type Json } from './object.ts'

/**
 * Returns the JSON of a value, or undefined if the text is incomplete. For example, the text of a
 * pointer is only its address.
 */
export function goToJson(text: string): string | undefined {
  // Releases before 1.34 show an absent value as the quoted string "null".
  if (text === '"null"') return 'null'
  const time = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)? \+0000 UTC$/.exec(text)
  if (time !== null)
    return `${time[1]}T${time[2]}Z` === zeroTime ? 'null' : `"${time[1]}T${time[2]}Z"`
  try {
    const reader = new GoReader(text)
    const value = reader.value()
    return reader.isAtEnd ? encode(value) : undefined
  } catch (error) {
    if (error instanceof UnreadableValue) return undefined
    throw error
  }
}

class UnreadableValue extends Error {}

/** Go's encoder escapes characters that have a meaning in HTML. */
const encode = (value: Json): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Fields of the types in meta/v1 that are encoded even if they are empty. */
const alwaysShown: ReadonlySet<string> = new Set(
  ['apiVersion', 'kind', 'name', 'uid']
    .map((field) => `v1.OwnerReference ${field}`)
    .concat('v1.LabelSelectorRequirement key', 'v1.LabelSelectorRequirement operator'),
)

const DEPTH_MAX = 100

/** The time of Go that stands for an absent time. */
const zeroTime = '0001-01-01T00:00:00Z'

class GoReader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  value(): Json {
    if (++this.#depth > DEPTH_MAX) throw new UnreadableValue()
    const value = this.#string() ?? this.#scalar() ?? this.#nil() ?? this.#composite()
    this.#depth--
    return value === nil ? null : value
  }

  #string(): string | undefined {
    const text = this.#take(/"(?:[^"\\]|\\.)*"/y)
    if (text === undefined) return undefined
    const escaped = text.replaceAll(/\\x([0-9a-f]{2})/g, '\\u00$1').replaceAll('\\a', '\\u0007')
    try {
      return JSON.parse(escaped.replaceAll('\\v', '\\u000b'))
    } catch {
      throw new UnreadableValue()
    }
  }

  #scalar(): Json | undefined {
    const text = this.#take(/(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?)(?![\w.])/y)
    return text === undefined ? undefined : JSON.parse(text)
  }

  #nil(): typeof nil | undefined {
    const text = this.#take(
      /<nil>|nil(?!\w)|interface \{\}\(nil\)|\(\*[^()]*\)\(nil\)|(?:\[\]|map\[[^\]]*\])[^({,]*\(nil\)|\w+\.\w+\(nil\)/y,
    )
    return text === undefined ? undefined : nil
  }

  #composite(): Json {
    const date = this.#take(/time\.Date\([^()]*\)/y)
    if (date !== undefined) return dateOf(date)
    const type = this.#take(/(?:interface \{\}|[^{}(),"])*(?=\{)/y)
    if (type === undefined) throw new UnreadableValue()
    if (type === 'field.Path') return this.#skipped()
    this.#expect('{')
    if (type.startsWith('[]')) return listOf(type, this.#items())
    return structOf(type, this.#members())
  }

  #items(): Json[] {
    const items: Json[] = []
    while (this.#take(/\}/y) === undefined) {
      const byte = this.#take(/0x[0-9a-f]+/y)
      items.push(byte === undefined ? this.value() : Number(byte))
      this.#take(/, /y)
    }
    return items
  }

  #members(): Map<string, Json> {
    const members = new Map<string, Json>()
    while (this.#take(/\}/y) === undefined) {
      const key = this.#string() ?? this.#take(/\w+(?=:)/y)
      if (key === undefined) throw new UnreadableValue()
      this.#expect(':')
      members.set(key, this.value())
      this.#take(/, /y)
    }
    return members
  }

  /** Reads a field.Path. It has no exported fields, so Go encodes it as an empty object. */
  #skipped(): Json {
    this.#at = this.#text.length
    return {}
  }

  #expect(text: string): void {
    if (!this.#text.startsWith(text, this.#at)) throw new UnreadableValue()
    this.#at += text.length
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const [text] = pattern.exec(this.#text) ?? []
    if (text !== undefined) this.#at += text.length
    return text
  }
}

/**
 * The result of reading Go's nil. It is not null, because `??` would then try to read another kind
 * of value.
 */
const nil = Symbol('nil')

function listOf(type: string, items: readonly Json[]): Json {
  const isBytes = type === '[]byte' || type === '[]uint8'
  return isBytes ? Buffer.from(items.map(Number)).toString('base64') : items
}

function structOf(type: string, members: ReadonlyMap<string, Json>): Json {
  if (type === 'intstr.IntOrString')
    return (members.get('Type') === 1 ? members.get('StrVal') : members.get('IntVal')) ?? null
  if (type === 'resource.Quantity') return members.get('s') ?? null
  if (type === 'v1.Time') return members.get('Time') ?? null
  const isMap = type.startsWith('map[')
  const entries = [...members].flatMap(([name, value]): (readonly [string, Json])[] => {
    // The fields of embedded structs are inlined.
    if ((name === 'ObjectMeta' || name === 'TypeMeta') && isFields(value))
      return Object.entries(value).map(([inner, own = null]) => [inner, own] as const)
    const shown = isMap || !type.startsWith('v1.') ? name : jsonName(name)
    const isLeftOut =
      !isMap && type.startsWith('v1.') && isEmpty(value) && !alwaysShown.has(`${type} ${shown}`)
    return isLeftOut ? [] : [[shown, value]]
  })
  return Object.fromEntries(isMap ? entries.toSorted(byKey) : entries)
}

const byKey = ([one]: readonly [string, Json], [other]: readonly [string, Json]): number =>
  one < other ? -1 : 1

/** Converts the name of a field, such as `APIVersion` or `MatchLabels`. */
const jsonName = (name: string): string =>
  name.replace(/^[A-Z]+(?=[A-Z][a-z]|$)|^[A-Z]/, (start) => start.toLowerCase())

const isEmpty = (value: Json): boolean =>
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0)

const months =
  'January February March April May June July August September October November December'.split(' ')

/** Converts a date such as `time.Date(2001, time.February, 3, 4, 5, 6, 0, time.Local)`. */
function dateOf(text: string): Json {
  const [year = '', month = '', ...rest] = text.slice('time.Date('.length, -1).split(', ')
  if (year === '1') return null
  const [day = 1, hour = 0, minute = 0, second = 0] = rest.map(Number)
  const at = Date.UTC(
    Number(year),
    months.indexOf(month.replace('time.', '')),
    day,
    hour,
    minute,
    second,
  )
  return new Date(at).toISOString().replace('.000Z', 'Z')
}
