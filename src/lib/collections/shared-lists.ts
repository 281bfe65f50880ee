/**
 * Deduplicates equal lists and strings of different objects, such as the verbs of roles and the
 * names in pods from one template, so that each is in memory only once. The size of the tables is
 * limited, so that clients cannot make them grow by writing objects. A full table is cleared, and
 * later values are then not shared with earlier ones.
 */
import { ownText } from '../text/own-text.ts'

/**
 * Maximum number of entries of each table. It is far above the number of different kinds, groups
 * and common lists of a cluster.
 */
const ENTRIES_MAX = 16_384
/** Maximum length of a shared string. Longer strings are rarely repeated. */
const CHARACTERS_MAX = 256

/**
 * Maximum length of a shared list. The JSON of a longer list would exceed CHARACTERS_MAX
 * characters.
 */
const ITEMS_MAX = CHARACTERS_MAX / '"",'.length

const none: readonly string[] = []

export class SharedLists {
  readonly #texts = new Map<string, string>()
  readonly #lists = new Map<string, readonly string[]>()

  text(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    const own = ownText(text)
    if (text.length <= CHARACTERS_MAX) put(this.#texts, own, own)
    return own
  }

  list(list: readonly string[]): readonly string[] {
    if (list.length === 0) return none
    if (list.length > ITEMS_MAX) return list.map((text) => this.text(text))
    // Items are quoted in JSON, so that different lists never have the same key.
    const key = JSON.stringify(list)
    const known = this.#lists.get(key)
    if (known !== undefined) return known
    const own = list.map((text) => this.text(text))
    if (key.length <= CHARACTERS_MAX) put(this.#lists, key, own)
    return own
  }
}

function put<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= ENTRIES_MAX) map.clear()
  map.set(key, value)
}
