/** Identifiers that must not be guessed or repeat: uids, and the ends of generated names. */
import { randomUUID } from 'node:crypto'

export type Ids = {
  readonly uid: () => string
  /** The random end of a generated name. */
  readonly nameSuffix: () => string
}

/** Neither vowels nor digits that look like letters, so that no words come about. As upstream. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
/** The last group of a UUID: 48 random bits, so many that no character is favoured. */
const RANDOM_AT = 24

export const randomIds: Ids = { uid: () => randomUUID(), nameSuffix }

/** Node keeps random bytes at hand for UUIDs: this costs a tenth of asking for a few bytes. */
function nameSuffix(): string {
  let random = Number.parseInt(randomUUID().slice(RANDOM_AT), 16)
  let suffix = ''
  while (suffix.length < SUFFIX_LENGTH) {
    suffix += ALPHABET[random % ALPHABET.length]
    random = Math.floor(random / ALPHABET.length)
  }
  return suffix
}
