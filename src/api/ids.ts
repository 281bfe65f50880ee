/** Unguessable, unique identifiers: uids, and the suffixes of generated names. */
import { randomUUID } from 'node:crypto'

export type Ids = {
  readonly uid: () => string
  /** The random suffix of a generated name. */
  readonly nameSuffix: () => string
}

/**
 * No vowels, and no digits that look like letters, so that suffixes do not form words. As upstream.
 */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
/**
 * The last group of a UUID has 48 random bits: enough for the modulo not to favour any character.
 */
const RANDOM_AT = 24

export const randomIds: Ids = { uid: () => randomUUID(), nameSuffix }

/** Node caches random bytes for UUIDs: this costs a tenth of a call of randomBytes. */
function nameSuffix(): string {
  let random = Number.parseInt(randomUUID().slice(RANDOM_AT), 16)
  let suffix = ''
  while (suffix.length < SUFFIX_LENGTH) {
    suffix += ALPHABET[random % ALPHABET.length]
    random = Math.floor(random / ALPHABET.length)
  }
  return suffix
}
