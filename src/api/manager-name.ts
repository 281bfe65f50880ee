/** The rules for names of field managers: at most 128 bytes, printable characters only. */
import { type FieldFault, invalidValue, tooLong } from './field-fault.ts'

const MANAGER_BYTES_MAX = 128

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu

export function managerFaults(path: string, manager: string): FieldFault[] {
  const faults = Buffer.byteLength(manager) > MANAGER_BYTES_MAX ? [tooLong(path, MANAGER_BYTES_MAX)] : []
  // Most names are; to compile the other expression takes milliseconds.
  if (plain.test(manager) || printable.test(manager)) return faults
  let position = 0
  for (const character of manager) {
    if (!printable.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      faults.push(invalidValue(path, manager, `invalid character U+${code} (at position ${position})`))
    }
    position += Buffer.byteLength(character)
  }
  return faults
}

/** The program in a User-Agent, as the name of a field manager. Node decodes headers as Latin-1, but clients send UTF-8. */
export function managerOfAgent(header: string): string {
  const isPlain = plain.test(header)
  const agent = isPlain ? header : Buffer.from(header, 'latin1').toString('utf8')
  const end = agent.indexOf('/')
  const name = end === -1 ? agent : agent.slice(0, end)
  return cutBytes(isPlain ? name : name.replace(unprintable, ''), MANAGER_BYTES_MAX) || 'unknown'
}

const plain = /^[ -~]*$/

/** Never cuts within a character. */
function cutBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text
  let cut = ''
  for (const character of text) {
    if (Buffer.byteLength(cut + character) > bytesMax) break
    cut += character
  }
  return cut
}
