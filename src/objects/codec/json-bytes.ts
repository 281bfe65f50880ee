/**
 * Finds values in the bytes of JSON without decoding them. If the JSON is malformed, a returned
 * position can be past its end.
 */
import {
  BACKSLASH,
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COMMA,
  QUOTE,
} from '../../lib/bytes/ascii.ts'

/**
 * Returns the position after the closing quote of a string, or a position past the end of the JSON.
 * `start` is the position after the opening quote.
 */
export function endOfString(json: Buffer, start: number): number {
  let at = start
  for (let byte = json[at++]; byte !== QUOTE; byte = json[at++]) {
    if (byte === undefined) return json.length + 1
    if (byte === BACKSLASH) at++
  }
  return at
}

/** Returns the position after a value of any type, or a position past the end of the JSON. */
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
  for (
    let byte = json[at];
    byte !== COMMA && byte !== BRACE_CLOSE && byte !== BRACKET_CLOSE;
    byte = json[++at]
  ) {
    if (byte === undefined) return json.length + 1
  }
  return at
}

/**
 * Returns the compact JSON of the field at this path, or undefined if the object does not have the
 * field.
 */
export function valueAt(json: Buffer, path: readonly string[]): Buffer | undefined {
  let value: Buffer | undefined = json
  for (const name of path) value = value && fieldIn(value, name)
  return value
}

function fieldIn(json: Buffer, name: string): Buffer | undefined {
  if (json[0] !== BRACE_OPEN) return undefined
  const key = Buffer.from(`${JSON.stringify(name)}:`)
  for (let at = 1; json[at] === QUOTE; ) {
    const start = endOfString(json, at + 1) + 1
    const end = endOfValue(json, start)
    if (start - at === key.length && key.compare(json, at, start) === 0)
      return json.subarray(start, end)
    at = end + 1
  }
  return undefined
}

/** Yields the items of a list in compact JSON. Yields nothing if the value is not a list. */
export function* itemsIn(json: Buffer | undefined): Generator<Buffer, void, void> {
  if (json?.[0] !== BRACKET_OPEN || json[1] === BRACKET_CLOSE) return
  for (let at = 1; at < json.length; ) {
    const end = endOfValue(json, at)
    yield json.subarray(at, end)
    at = end + 1
  }
}
