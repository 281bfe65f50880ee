/** As Go's strconv.ParseBool reads a text. Undefined: it is none. */
export function parseGoBoolean(text: string): boolean | undefined {
  if (/^(?:1|t|T|true|TRUE|True)$/.test(text)) return true
  return /^(?:0|f|F|false|FALSE|False)$/.test(text) ? false : undefined
}
