/** Joins the strings of long lists in work that is divided by `parts.ts`. */
import { eachItem, isDivided } from './parts.ts'

/** Maximum number of items and of characters that are joined in one step. */
const JOINED_ITEMS = 256
const JOINED_CHARACTERS = 64 << 10

/**
 * Joins the strings of items with a separator. The work can be divided. Joins only some strings at
 * a time: V8 concatenates strings lazily, and copying a million pieces at once would block the
 * event loop.
 */
export function joinedInParts<T>(
  items: readonly T[],
  print: (item: T) => string,
  separator = ',',
): string {
  if (!isDivided()) return joinedAtOnce(items, print, separator)
  const { joined, texts } = eachItem(
    'join',
    items,
    (): { joined: string[]; texts: string[]; characters: number } => ({
      joined: [],
      texts: [],
      characters: 0,
    }),
    (made, item) => {
      const text = print(item)
      made.texts.push(text)
      made.characters += text.length
      if (made.texts.length < JOINED_ITEMS && made.characters < JOINED_CHARACTERS) return true
      made.joined.push(made.texts.join(separator))
      made.texts = []
      made.characters = 0
      return true
    },
  )
  return joinedAtOnce(
    texts.length === 0 ? joined : [...joined, texts.join(separator)],
    (text) => text,
    separator,
  )
}

function joinedAtOnce<T>(
  items: readonly T[],
  print: (item: T) => string,
  separator: string,
): string {
  let text = ''
  for (let at = 0; at < items.length; at++) {
    const item = items[at]
    if (item === undefined) break
    text += at === 0 ? print(item) : `${separator}${print(item)}`
  }
  return text
}
