/** Validates names of field managers: at most 128 bytes, and only printable characters. */
import { quote } from './quote.ts'
import { FAULTS_CHARACTERS_MAX, type FieldFault, invalidShown, tooLong } from './field-fault.ts'

const MANAGER_BYTES_MAX = 128
/**
 * Number of characters in which unprintable characters are searched. A longer name is rejected in
 * any case, because it is too long.
 */
const SEARCHED_CHARACTERS_MAX = 16 << 10

/**
 * Printable characters according to Go's unicode.IsPrint: letters, marks, numbers, punctuation,
 * symbols and the ASCII space.
 */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu

/**
 * Returns the validation errors of a name. Each error contains the name. A long name therefore has
 * fewer errors, because the errors of a response have a maximum total length.
 */
export function managerFaults(path: string, manager: string): FieldFault[] {
  const faults =
    Buffer.byteLength(manager) > MANAGER_BYTES_MAX ? [tooLong(path, MANAGER_BYTES_MAX)] : []
  // Most names match `plain`. V8 compiles `printable` when it is used for the first time, which
  // takes milliseconds.
  const searched = manager.slice(0, SEARCHED_CHARACTERS_MAX)
  if (plain.test(searched) || printable.test(searched)) return faults
  const shown = quote(manager)
  const faultsMax = Math.max(1, FAULTS_CHARACTERS_MAX / shown.length)
  let position = 0
  for (const character of searched) {
    if (faults.length > faultsMax) break
    if (!printable.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      faults.push(
        invalidShown(path, shown, `invalid character U+${code} (at position ${position})`),
      )
    }
    position += Buffer.byteLength(character)
  }
  return faults
}

/**
 * Derives the name of a field manager from the program in a User-Agent header. Node decodes headers
 * as Latin-1, but clients send UTF-8.
 */
export function managerOfAgent(header: string): string {
  const isPlain = plain.test(header)
  const agent = isPlain ? header : Buffer.from(header, 'latin1').toString('utf8')
  const end = agent.indexOf('/')
  const name = end === -1 ? agent : agent.slice(0, end)
  return cutBytes(isPlain ? name : name.replace(unprintable, ''), MANAGER_BYTES_MAX) || 'unknown'
}

const plain = /^[ -~]*$/

/** Truncates a string to a number of bytes without splitting a character. */
function cutBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text
  let cut = ''
  for (const character of text) {
    if (Buffer.byteLength(cut + character) > bytesMax) break
    cut += character
  }
  return cut
}
