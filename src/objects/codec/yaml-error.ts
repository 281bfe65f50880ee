/**
 * Translates errors of js-yaml to the messages of the library that kube-apiserver uses, to the
 * extent that js-yaml's reasons permit this.
 */
import { isUtf8 } from 'node:buffer'
import { YAMLException } from 'js-yaml'

/** Error in a YAML document. The message is complete, such as `yaml: line 2: …`. */
export class YamlError extends Error {
  override readonly name = 'YamlError'
  /**
   * The line of the error, counted from one. Undefined if it is not known. The message can show
   * another number, because kube-apiserver's library counts some lines from zero.
   */
  readonly line: number | undefined

  constructor(
    message: string,
    { cause, line }: { readonly cause?: unknown; readonly line?: number } = {},
  ) {
    super(message, { cause })
    this.line = line
  }
}

/**
 * An error as the library of kube-apiserver reports it. Parser errors have lines that are counted
 * from zero, and line zero is not printed. Scanner errors have lines that are counted from one.
 * Reader errors have no line.
 */
type Fault = {
  readonly text: string
  readonly by: 'scanner' | 'parser' | 'reader'
  /** The line that kube-apiserver's library reports, if it differs from that of js-yaml. */
  readonly line?: number
}

/** A position in the text, counted from zero. */
type Position = { readonly line: number; readonly offset: number }

export function describeFault(error: unknown, text: string): YamlError {
  if (!(error instanceof YAMLException)) {
    // js-yaml is recursive. Therefore, a document can overflow the stack even if its depth is
    // allowed.
    if (error instanceof RangeError)
      return new YamlError('yaml: exceeded max depth of 10000', { cause: error })
    throw error
  }
  const { reason, mark } = error
  const place = { line: mark?.line ?? 0, offset: mark?.position ?? 0 }
  const fault = faultOf(reason, text, place)
  const noticed = fault.line ?? place.line
  const line =
    fault.by === 'reader' ? 0 : fault.by === 'scanner' && noticed > 0 ? noticed + 1 : noticed
  const shown = fault.by === 'parser' && isAtEnd(text, place.offset) ? Math.max(line, 1) : line
  return new YamlError(`yaml: ${shown > 0 ? `line ${shown}: ` : ''}${fault.text}`, {
    cause: error,
    line: place.line + 1,
  })
}

const isAtEnd = (text: string, offset: number): boolean => text.slice(offset).trim() === ''

const scanner = (text: string): Fault => ({ text, by: 'scanner' })
const parser = (text: string): Fault => ({ text, by: 'parser' })

function faultOf(reason: string, text: string, { offset, line }: Position): Fault {
  const character = text[offset] ?? ''
  if (/non-printable|valid JSON character/.test(reason))
    return { text: 'control characters are not allowed', by: 'reader' }
  if (reason.startsWith('nesting exceeded')) return parser('exceeded max depth of 10000')
  if (/within a (?:single|double) quoted scalar/.test(reason)) return endOfStream(text)
  if (/unknown escape/.test(reason)) return scanner('found unknown escape character')
  if (reason.includes('deficient indentation') && isInQuotes(text.slice(0, offset)))
    return endOfStream(text)
  if (/flow collection|deficient indentation/.test(reason)) return flowFault(text, offset)
  if (/tab characters/.test(reason)) return tabFault(text, offset)
  if (text.startsWith('\t') && /^\t+[^\n]*$/.test(text.slice(0, offset + 1))) return cannotStart
  if (/after a mapping key|multiline key/.test(reason)) {
    return { ...scanner("could not find expected ':'"), line: lineOfNext(text, offset, line) }
  }
  if (reason.includes('line break is expected'))
    return scanner('did not find expected comment or line break')
  if (/bad indentation|separator is expected/.test(reason))
    return misplaced(character, text.slice(offset + 1, offset + 2))
  if (/alias|anchor/.test(reason))
    return scanner('did not find expected alphabetic or numeric character')
  return scanner(reason)
}

/** Returns the error for a character that YAML does not allow at this position. */
function misplaced(character: string, next: string): Fault {
  if (character === ':') return scanner('mapping values are not allowed in this context')
  if (character !== '' && '@`%'.includes(character)) return cannotStart
  if (character !== '' && ']},'.includes(character))
    return parser('did not find expected node content')
  const isAlone = next === '' || /\s/.test(next)
  if (character === '-' && isAlone)
    return scanner('block sequence entries are not allowed in this context')
  if (character === '?' && isAlone) return scanner('mapping keys are not allowed in this context')
  return parser('did not find expected key')
}

const isInQuotes = (before: string): boolean => /(?:^|[\s:,[{-])(["'])(?:(?!\1)[^])*$/.test(before)

const endOfStream = (text: string): Fault => ({
  ...scanner('found unexpected end of stream'),
  line: text.split('\n').length - 1,
})

/**
 * Returns the first line after the one with the offset that is not empty, or the last line of the
 * text. Lines are counted from zero.
 */
function lineOfNext(text: string, offset: number, line: number): number {
  const end = text.indexOf('\n', offset)
  if (end === -1) return line
  const blank = /^\s*/.exec(text.slice(end))?.[0] ?? ''
  return line + blank.split('\n').length - 1
}

const cannotStart = scanner('found character that cannot start any token')

function flowFault(text: string, offset: number): Fault {
  const before = text.slice(0, offset).trimEnd()
  if (/[[{,:]$/.test(before)) return parser('did not find expected node content')
  return parser(
    `did not find expected ',' or '${before.lastIndexOf('[') > before.lastIndexOf('{') ? ']' : '}'}'`,
  )
}

/**
 * Returns the error for a tab. If there is a key without a value before the tab, the tab would
 * begin the value. Otherwise it would continue a value.
 */
function tabFault(text: string, offset: number): Fault {
  const before = text.slice(0, offset).trimEnd()
  return /[:-]$/.test(before)
    ? cannotStart
    : scanner('found a tab character that violates indentation')
}

/**
 * Returns why bytes are not valid UTF-8. The messages are those of kube-apiserver's library, which
 * reports the first invalid character.
 */
export function utf8Fault(bytes: Buffer): string {
  for (let at = 0; at < bytes.length; ) {
    const width = utf8Width(bytes[at] ?? 0)
    if (width === 0) return 'invalid leading UTF-8 octet'
    if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence'
    const character = bytes.subarray(at, at + width)
    if (character.subarray(1).some((octet) => (octet & 0xc0) !== 0x80))
      return 'invalid trailing UTF-8 octet'
    if (!isUtf8(character))
      return isTooLong(character)
        ? 'invalid length of a UTF-8 sequence'
        : 'invalid Unicode character'
    at += width
  }
  return 'invalid leading UTF-8 octet'
}

/** Whether the encoding of a character is overlong. */
const isTooLong = ([first = 0, second = 0]: Buffer): boolean =>
  first < 0xc2 || (first === 0xe0 && second < 0xa0) || (first === 0xf0 && second < 0x90)

/**
 * Returns the number of bytes of a character that begins with this byte, or 0 if no character
 * begins with it.
 */
function utf8Width(octet: number): number {
  if (octet < 0x80) return 1
  if ((octet & 0xe0) === 0xc0) return 2
  if ((octet & 0xf0) === 0xe0) return 3
  return (octet & 0xf8) === 0xf0 ? 4 : 0
}
