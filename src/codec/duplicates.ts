/** Finds duplicate keys anywhere in a JSON text: the one thing about patches that decoding them does not show. */
import { JsonScanner } from '../api/json-scanner.ts'
import { DEPTH_MAX } from '../api/json-value.ts'
import { quote } from '../api/quote.ts'
import { TextRoom } from '../lib/bounded-texts.ts'

/** As many as Go reports. */
const FAULTS_MAX = 100
/** The length of the paths of all errors of a request together: a key may be as long as a body, and contain many others. */
const PATHS_CHARACTERS_MAX = 8 << 20

export const newPathRoom = (): TextRoom => new TextRoom(PATHS_CHARACTERS_MAX)

/** `duplicate field "a.b[0].c"`, in the order of the text. Fails with a JsonSyntaxError. */
export function duplicateFields(text: string, path = '', room = newPathRoom()): readonly string[] {
  const search = new Search(text, path, room)
  search.value(0)
  return search.faults
}

class Search {
  readonly faults: string[] = []
  readonly #scanner: JsonScanner
  /** Keys and indices; they are joined to a text only when a duplicate is found. */
  readonly #path: (string | number)[] = []
  readonly #prefix: string
  readonly #room: TextRoom
  /** Where the next object may begin; Infinity: there is none. */
  #objectAt = -1

  constructor(text: string, path: string, room: TextRoom) {
    this.#room = room
    this.#scanner = new JsonScanner(text)
    this.#prefix = path
  }

  value(depth: number): void {
    const scanner = this.#scanner
    const type = scanner.peekType()
    if (type !== 'object' && (type !== 'array' || this.#isWithoutObjects())) return scanner.skipValue()
    if (depth === DEPTH_MAX) {
      scanner.at++
      throw scanner.tooDeep()
    }
    if (type === 'object') this.#object(depth)
    else this.#array(depth)
  }

  /** Whether the rest of the text has no object: most long lists are of scalars. */
  #isWithoutObjects(): boolean {
    const { text, at } = this.#scanner
    if (this.#objectAt < at) this.#objectAt = text.indexOf('{', at)
    if (this.#objectAt === -1) this.#objectAt = Infinity
    return this.#objectAt === Infinity
  }

  #object(depth: number): void {
    const scanner = this.#scanner
    const seen = new Set<string>()
    const told = new Set<string>()
    for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
      const key = scanner.readKey()
      this.#path.push(key)
      if (!seen.has(key)) seen.add(key)
      else if (!told.has(key)) {
        told.add(key)
        this.#found()
      }
      this.value(depth + 1)
      this.#path.pop()
    }
  }

  #array(depth: number): void {
    const scanner = this.#scanner
    let index = 0
    for (let more = scanner.beginArray(); more; more = scanner.nextInArray()) {
      this.#path.push(index++)
      this.value(depth + 1)
      this.#path.pop()
    }
  }

  #found(): void {
    if (this.faults.length >= FAULTS_MAX || this.#room.isFull) return
    const steps = this.#path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')
    const path = this.#prefix === '' && steps.startsWith('.') ? steps.slice(1) : this.#prefix + steps
    this.#room.take(path)
    const fault = `duplicate field ${quote(path)}`
    if (!this.faults.includes(fault)) this.faults.push(fault)
  }
}
