/** Texts of the API quote strings as Go's %q does, and clients compare them. */
const namedEscapes: { readonly [character: string]: string } = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
}

/** Letters, marks, numbers, punctuation and symbols stay as they are; the only blank among them is the space. */
const unprintable = /["\\]|(?! )[^\p{L}\p{M}\p{N}\p{P}\p{S}]/gu

export function quote(text: string): string {
  return `"${text.replace(unprintable, escapeCharacter)}"`
}

function escapeCharacter(character: string): string {
  const named = namedEscapes[character]
  if (named !== undefined) return named
  const code = character.codePointAt(0) ?? 0
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`
}
