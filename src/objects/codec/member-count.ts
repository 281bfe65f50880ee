/**
 * Limits how many members each object of a body has. Each step of a write iterates over all members
 * of a map, and V8 first puts their keys in order without a pause. 300,000 labels would block the
 * event loop for 100 ms in each step.
 */
import { tooManyMembers } from '../../api/errors.ts'
import {
  BACKSLASH,
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COLON,
  COMMA,
  QUOTE,
} from '../../lib/bytes/ascii.ts'
import { repeat } from '../../lib/scheduling/parts.ts'

/**
 * Maximum number of members of one JSON object. With its owner in managedFields, each member takes
 * at least 20 bytes. The 1.5 MiB that etcd accepts therefore have room for 78,643 members. A
 * quarter is added as a margin for maps without owners.
 */
export const MEMBERS_MAX = 98_304

/** Size of the shortest member, `"":0,`. */
const MEMBER_BYTES_MIN = 5

/** Number of bytes that are read between two checks whether to pause. */
const BYTES_PER_STEP = 16_384

/**
 * Throws RequestEntityTooLarge if an object has too many members. Invalid JSON is left to the
 * decoder. Pauses when it runs in parts (lib/scheduling/parts.ts).
 */
export function checkMembers(json: Buffer): void {
  if (hasTooManyMembers(json)) throw tooManyMembers(MEMBERS_MAX)
}

/**
 * Whether an object in a JSON text has too many members. The result is meaningless for invalid
 * JSON. Pauses when it runs in parts (lib/scheduling/parts.ts).
 */
export const hasTooManyMembers = (json: Buffer): boolean =>
  json.length >= MEMBERS_MAX * MEMBER_BYTES_MIN && countIn(json).membersMax > MEMBERS_MAX

/**
 * Returns the number of values in a JSON text, including those inside of lists and objects. The
 * result is meaningless for invalid JSON. Pauses when it runs in parts (lib/scheduling/parts.ts).
 */
export const countValues = (json: Buffer): number => countIn(json).values

/**
 * Counts of the bytes before `at`. `members` counts those of the current object, and `outer` has
 * the counts of the objects around it.
 */
type Counts = {
  at: number
  values: number
  members: number
  membersMax: number
  readonly outer: number[]
}

const noCounts = (): Counts => ({ at: 0, values: 1, members: 0, membersMax: 0, outer: [] })

function countIn(json: Buffer): Counts {
  return repeat('members and values of JSON', noCounts, (counts) => {
    countPart(json, counts)
    return counts.at < json.length
  })
}

function countPart(json: Buffer, counts: Counts): void {
  const { outer } = counts
  let { at, values, members, membersMax } = counts
  const end = Math.min(json.length, at + BYTES_PER_STEP)
  for (; at < end; at++) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfString(json, at)
    else if (byte === COMMA) values++
    else if (byte === COLON) {
      // Members are compared here and not where the object ends, because an object does not end in
      // a text that is cut off.
      if (++members > membersMax) membersMax = members
    } else if (byte === BRACKET_OPEN) {
      if (json[at + 1] !== BRACKET_CLOSE) values++
    } else if (byte === BRACE_OPEN) {
      if (json[at + 1] === BRACE_CLOSE) at++
      else {
        values++
        outer.push(members)
        members = 0
      }
    } else if (byte === BRACE_CLOSE) members = outer.pop() ?? 0
  }
  counts.at = at
  counts.values = values
  counts.members = members
  counts.membersMax = membersMax
}

/** Returns the position of the closing quote, or the end of the JSON. */
function endOfString(json: Buffer, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}
