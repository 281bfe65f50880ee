/** What a table knows a text by that a client chose: the text, or its hash if it is longer than any name of a person or a controller. */
import { createHash } from 'node:crypto'

const KEY_CHARACTERS_MAX = 256

export const boundedKey = (text: string): string =>
  text.length > KEY_CHARACTERS_MAX ? createHash('sha256').update(text).digest('base64') : text
