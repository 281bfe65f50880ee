/**
 * Lists and texts that many objects have in common (verbs of roles, names that pods of one template
 * refer to) are held once. What was not seen lately is not found again and held twice, so that
 * nobody can make this grow by writing objects.
 */
import { ownText } from '../text/own-text.ts'

/** Far more than there are kinds, groups and habits in a cluster. */
const ENTRIES_MAX = 16_384
/** What is longer is nobody's habit. */
const CHARACTERS_MAX = 256

/** The text of a list with more items is longer than CHARACTERS_MAX. */
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
    // Quoted: no two lists have the same.
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
