/**
 * Limits the number of members of each object in a body. Each step of a write iterates over all
 * members of a map, and V8 first sorts their keys without interruption. Therefore 300,000 labels
 * would block the event loop for 100 ms in each step.
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
 * Maximum number of members of a JSON object. A member takes at least 20 bytes in the database,
 * with its entry in managedFields, so the 1.5 MiB that etcd accepts have room for 78,643 members.
 * The limit is a quarter higher, for maps that are not in managedFields.
 */
export const MEMBERS_MAX = 98_304

/** Size in bytes of the shortest member, `"":0,`. */
const MEMBER_BYTES_MIN = 5

/** The check whether the work should be interrupted is made once per this number of bytes. */
const BYTES_PER_STEP = 16_384

/**
 * Throws RequestEntityTooLarge if an object has too many members. Invalid JSON is reported by the
 * decoder. If the caller's work is divided into parts (lib/scheduling/parts.ts), this function can
 * be interrupted.
 */
export function checkMembers(json: Buffer): void {
  if (hasTooManyMembers(json)) throw tooManyMembers(MEMBERS_MAX)
}

/**
 * Whether any object in a JSON text has too many members. The text must be valid JSON. If the
 * caller's work is divided into parts (lib/scheduling/parts.ts), this function can be interrupted.
 */
export const hasTooManyMembers = (json: Buffer): boolean =>
  json.length >= MEMBERS_MAX * MEMBER_BYTES_MIN && countIn(json).membersMax > MEMBERS_MAX

/**
 * Returns the number of values in a JSON text, including those inside lists and objects. The text
 * must be valid JSON. If the caller's work is divided into parts (lib/scheduling/parts.ts), this
 * function can be interrupted.
 */
export const countValues = (json: Buffer): number => countIn(json).values

/**
 * The counts for the bytes before position `at`. `members` is the number of members of the current
 * object, and `outer` contains the numbers for the objects around it.
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
      // Update the maximum for each member, because the end of the object is missing in a truncated
      // text.
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
