/**
 * Shares equal lists and texts among objects, such as the verbs of roles and the names that pods of
 * one template refer to, so that each is held once. The tables have a limited size, so that clients
 * cannot make them grow by writing objects. A full table is cleared; later equal values are then
 * held again.
 */
import { ownText } from '../text/own-text.ts'

/**
 * Maximum number of entries of each table: far more than a cluster has kinds, groups and common
 * lists.
 */
const ENTRIES_MAX = 16_384
/** Maximum length of a shared text. Longer texts are hardly ever repeated. */
const CHARACTERS_MAX = 256

/**
 * Maximum length of a shared list. The JSON of a longer list has more than CHARACTERS_MAX
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
    // JSON quotes the items, so that two different lists never have the same key.
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
