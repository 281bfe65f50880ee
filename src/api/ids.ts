/** Unguessable, unique identifiers: uids, and the suffixes of generated names. */
import { randomUUID } from 'node:crypto'

export type Ids = {
  readonly uid: () => string
  /** Returns the random suffix of a generated name. */
  readonly nameSuffix: () => string
}

/**
 * Characters of suffixes, as in kube-apiserver. Vowels, and digits that look like letters, are left
 * out so that suffixes do not form words.
 */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
/**
 * Position of the last group in a UUID, which has 48 random bits. With this number of bits, all
 * characters of a suffix are practically equally likely, although a modulo selects them.
 */
const RANDOM_AT = 24

export const randomIds: Ids = { uid: () => randomUUID(), nameSuffix }

/** Derives a suffix from a UUID. For UUIDs, Node caches random bytes, so creating one is fast. */
function nameSuffix(): string {
  let random = Number.parseInt(randomUUID().slice(RANDOM_AT), 16)
  let suffix = ''
  while (suffix.length < SUFFIX_LENGTH) {
    suffix += ALPHABET[random % ALPHABET.length]
    random = Math.floor(random / ALPHABET.length)
  }
  return suffix
}
