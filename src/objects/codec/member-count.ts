/**
 * Limits how many members the objects of a body have. Each step of a write iterates over all
 * members of a map, and V8 puts their keys in order first, in one go: 300,000 labels would block
 * the event loop for 100 ms each time.
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
 * Members of one JSON object. Each takes 20 bytes at least with its owner in managedFields, so that
 * the 1.5 MiB that etcd accepts have room for 78,643. A quarter more is a margin for maps without
 * owners.
 */
export const MEMBERS_MAX = 98_304

/** `"":0,`: the shortest member. */
const MEMBER_BYTES_MIN = 5

/** Bytes that are read between two looks at whether to pause. */
const BYTES_PER_STEP = 16_384

/** Fails with RequestEntityTooLarge. Invalid JSON is left to the decoder. Can be divided. */
export function checkMembers(json: Buffer): void {
  if (hasTooManyMembers(json)) throw tooManyMembers(MEMBERS_MAX)
}

/** For invalid JSON the result means nothing. Can be divided. */
export const hasTooManyMembers = (json: Buffer): boolean =>
  json.length >= MEMBERS_MAX * MEMBER_BYTES_MIN && countIn(json).membersMax > MEMBERS_MAX

/**
 * How many values a JSON text has, with those inside of lists and objects. For invalid JSON the
 * result means nothing. Can be divided.
 */
export const countValues = (json: Buffer): number => countIn(json).values

/** `members`: those of the current object so far. `outer`: those of the objects around it. */
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
      // Members are compared here and not where the object ends: in a text that is cut off it does
      // not end.
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

/** The position of the closing quote, or the end. */
function endOfString(json: Buffer, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}
