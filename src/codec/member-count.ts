/**
 * Limits how many members the objects of a body have. Each step of a write iterates over all members of a map, and V8 puts their keys in
 * order first, in one go: 300,000 labels would block the event loop for 100 ms each time.
 */
import { tooManyMembers } from '../api/errors.ts'
import { BACKSLASH, BRACE_CLOSE, BRACE_OPEN, BRACKET_CLOSE, BRACKET_OPEN, COLON, COMMA, QUOTE } from '../lib/ascii.ts'

/**
 * Members of one JSON object. Each takes 20 bytes at least with its owner in managedFields, so that
 * the 1.5 MiB that etcd accepts have room for 78,643. A quarter more is a margin for maps without owners.
 */
export const MEMBERS_MAX = 98_304

/** `"":0,`: the shortest member. */
const MEMBER_BYTES_MIN = 5

/** Fails with RequestEntityTooLarge. Invalid JSON is left to the decoder. */
export function checkMembers(json: Buffer): void {
  if (hasTooManyMembers(json)) throw tooManyMembers(MEMBERS_MAX)
}

/** For invalid JSON the result means nothing. */
export function hasTooManyMembers(json: Buffer): boolean {
  if (json.length < MEMBERS_MAX * MEMBER_BYTES_MIN) return false
  const outer: number[] = []
  let members = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfString(json, at)
    else if (byte === COLON) {
      if (++members > MEMBERS_MAX) return true
    } else if (byte === BRACE_OPEN) {
      outer.push(members)
      members = 0
    } else if (byte === BRACE_CLOSE) members = outer.pop() ?? 0
  }
  return false
}

/**
 * How many values a JSON text has, with those inside of lists and objects. For invalid JSON the
 * result means nothing.
 */
export function countValues(json: Buffer): number {
  let values = 1
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfString(json, at)
    else if (byte === COMMA) values++
    else if (
      byte === BRACE_OPEN ? json[at + 1] !== BRACE_CLOSE : byte === BRACKET_OPEN && json[at + 1] !== BRACKET_CLOSE
    )
      values++
  }
  return values
}

/** The position of the closing quote, or the end. */
function endOfString(json: Buffer, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}
