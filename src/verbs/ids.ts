/** Identifiers that must not be guessed or repeat: uids, and the ends of generated names. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Ids } from './access.ts'

/** Neither vowels nor digits that look like letters, so that no words come about. As upstream. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
/** The largest multiple of the alphabet's size below 256: bytes beyond it would favour its beginning. */
const BYTE_BOUND = 256 - (256 % ALPHABET.length)

export const randomIds: Ids = { uid: () => randomUUID(), nameSuffix }

function nameSuffix(): string {
  let suffix = ''
  while (suffix.length < SUFFIX_LENGTH) {
    for (const byte of randomBytes(SUFFIX_LENGTH * 2)) {
      if (byte < BYTE_BOUND && suffix.length < SUFFIX_LENGTH) suffix += ALPHABET[byte % ALPHABET.length]
    }
  }
  return suffix
}
