/**
 * Finds duplicate keys anywhere in a JSON text. Patches need this, because decoding them does not
 * detect duplicate keys.
 */
import { JsonScanner } from '../../api/json-scanner.ts'
import { DEPTH_MAX } from '../../api/json-value.ts'
import { quote } from '../../api/quote.ts'
import { TextRoom } from '../../lib/text/bounded-texts.ts'
import { repeat } from '../../lib/scheduling/parts.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'

/** Maximum number of reported duplicate keys, as in Go. */
const FAULTS_MAX = 100
/**
 * Maximum total length of the paths in all errors of a request. The path of a key contains all
 * enclosing keys, each of which can be nearly as long as the body.
 */
export const PATHS_CHARACTERS_MAX = 8 << 20

export const newPathRoom = (): TextRoom => new TextRoom(PATHS_CHARACTERS_MAX)

/** Number of values that are read between two yields. */
const VALUES_PER_STEP = 256
/** Lists with at most this number of values are skipped in one step, like a single value. */
const SHORT_VALUES = 16

/**
 * Returns messages such as `duplicate field "a.b[0].c"`, in the order of the text. Throws a
 * `JsonSyntaxError` if the text is not valid JSON. If the caller's work is divided into parts
 * (lib/scheduling/parts.ts), this function can be interrupted.
 */
export function duplicateFields(text: string, path = '', room = newPathRoom()): readonly string[] {
  const begin = (): Search => new Search(text, path, room)
  return repeat('duplicate fields', begin, (search) => search.advance(VALUES_PER_STEP)).faults
}

/** Does the same as `duplicateFields`, but as a generator that yields from time to time. */
export function* duplicateSteps(
  text: string,
  path = '',
  room = newPathRoom(),
): Steps<readonly string[]> {
  const search = new Search(text, path, room)
  while (search.advance(VALUES_PER_STEP)) yield undefined
  return search.faults
}

/** An object or list around the current position, and the key or index of its current value. */
type Frame = {
  readonly isObject: boolean
  key: string
  index: number
  /**
   * The keys read so far. A body can contain a million objects with at most one key. To save
   * memory, the set is created only for the second key.
   */
  keys: SeenKeys | undefined
}

type SeenKeys = { readonly seen: Set<string>; readonly reported: Set<string> }

class Search {
  readonly faults: string[] = []
  readonly #scanner: JsonScanner
  readonly #frames: Frame[] = []
  readonly #prefix: string
  readonly #room: TextRoom
  #hasBegun = false
  /**
   * Whether the innermost object or list has more values. In an object, the next value begins with
   * its key.
   */
  #more = false
  /**
   * Whether the search is inside a value without objects, which it skips. `#skipped` contains the
   * lists of this value that are still open.
   */
  #isSkipping = false
  readonly #skipped: boolean[] = []
  /**
   * The position of the next `{` in the text, or Infinity if there is none. An object can begin
   * there.
   */
  #objectAt = -1

  constructor(text: string, path: string, room: TextRoom) {
    this.#room = room
    // The scanner must not interrupt the work within a value, because the search cannot continue
    // there.
    this.#scanner = new JsonScanner(text, { isUndivided: true })
    this.#prefix = path
  }

  /** Reads up to `count` values. Returns false if no more values are left. */
  advance(count: number): boolean {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      this.#value()
    }
    for (let left = count; left > 0; left--) {
      if (this.#isSkipping) {
        this.#skip(left)
        break
      }
      const frame = this.#frames.at(-1)
      if (frame === undefined) return false
      if (this.#more) {
        this.#key(frame)
        this.#value()
      } else {
        this.#frames.pop()
        this.#next()
      }
    }
    return this.#isSkipping || this.#frames.length > 0
  }

  /**
   * Begins an object or list. Any other value, and any list that cannot contain objects, is
   * skipped.
   */
  #value(): void {
    const scanner = this.#scanner
    const type = scanner.peekType()
    if (type !== 'object' && (type !== 'array' || this.#isWithoutObjects()))
      return this.#skip(SHORT_VALUES)
    if (this.#frames.length === DEPTH_MAX) {
      scanner.at++
      throw scanner.tooDeep()
    }
    const isObject = type === 'object'
    this.#frames.push({ isObject, key: '', index: -1, keys: undefined })
    this.#more = isObject ? scanner.beginObject() : scanner.beginArray()
  }

  /** Skips a value without objects. If the value is long, skips only its first part. */
  #skip(values: number): void {
    this.#isSkipping = !this.#scanner.skipPart(this.#skipped, values)
    if (!this.#isSkipping) this.#next()
  }

  #next(): void {
    const frame = this.#frames.at(-1)
    if (frame === undefined) return
    this.#more = frame.isObject ? this.#scanner.nextInObject() : this.#scanner.nextInArray()
  }

  #key(frame: Frame): void {
    frame.index++
    if (!frame.isObject) return
    const first = frame.key
    frame.key = this.#scanner.readKey()
    if (frame.index === 0) return
    frame.keys ??= { seen: new Set([first]), reported: new Set() }
    const { seen, reported } = frame.keys
    if (!seen.has(frame.key)) seen.add(frame.key)
    else if (!reported.has(frame.key)) {
      reported.add(frame.key)
      this.#found()
    }
  }

  /**
   * Whether the rest of the text contains no object. If so, lists are skipped as a whole, because
   * they cannot contain duplicate keys.
   */
  #isWithoutObjects(): boolean {
    const { text, at } = this.#scanner
    if (this.#objectAt < at) this.#objectAt = text.indexOf('{', at)
    if (this.#objectAt === -1) this.#objectAt = Infinity
    return this.#objectAt === Infinity
  }

  #found(): void {
    if (this.faults.length >= FAULTS_MAX || this.#room.isFull) return
    const steps = this.#frames
      .map(({ isObject, key, index }) => (isObject ? `.${key}` : `[${index}]`))
      .join('')
    const path =
      this.#prefix === '' && steps.startsWith('.') ? steps.slice(1) : this.#prefix + steps
    this.#room.take(path)
    const fault = `duplicate field ${quote(path)}`
    if (!this.faults.includes(fault)) this.faults.push(fault)
  }
}
