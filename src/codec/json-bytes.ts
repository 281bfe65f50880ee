/** Finds the end of a value in the bytes of JSON, without decoding it. If the JSON is malformed, the result may be past its end. */
import { BACKSLASH, BRACE_CLOSE, BRACE_OPEN, BRACKET_CLOSE, BRACKET_OPEN, COMMA, QUOTE } from '../lib/ascii.ts'

/** `start` is after the opening quote; returns the position after the closing one, or one past the end of the JSON. */
export function endOfString(json: Buffer, start: number): number {
  let at = start
  for (let byte = json[at++]; byte !== QUOTE; byte = json[at++]) {
    if (byte === undefined) return json.length + 1
    if (byte === BACKSLASH) at++
  }
  return at
}

/** The position after a value of any type, or one past the end of the JSON. */
export function endOfValue(json: Buffer, start: number): number {
  let at = start
  let open = 0
  do {
    const byte = json[at++]
    if (byte === QUOTE) at = endOfString(json, at)
    else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) open++
    else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) open--
    else if (byte === undefined) return json.length + 1
    else if (open === 0) return endOfScalar(json, at)
  } while (open > 0)
  return at
}

function endOfScalar(json: Buffer, start: number): number {
  let at = start
  for (let byte = json[at]; byte !== COMMA && byte !== BRACE_CLOSE && byte !== BRACKET_CLOSE; byte = json[++at]) {
    if (byte === undefined) return json.length + 1
  }
  return at
}
