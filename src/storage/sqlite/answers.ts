/** What the thread answered, in the words of the engine's interface. */
import type { FeedEvent, Outcome, Revision, Versioned } from '../engine.ts'
import type { Commit } from '../local-feed.ts'
import type { Answer, EventRow, Place, Row } from './messages.ts'

const nothing = Buffer.alloc(0)

export function outcomeOf(answer: Answer, bytes: Buffer): Outcome | undefined {
  if (answer.op === 'won') return { won: true, revision: answer.revision }
  if (answer.op !== 'lost') return undefined
  return { won: false, revision: answer.revision, current: answer.current && versionedOf(answer.current, bytes) }
}

/** Undefined commits: they are compacted. */
export function commitsOf(
  answer: Answer,
  bytes: Buffer,
): { readonly commits: readonly Commit[] | undefined } | undefined {
  if (answer.op !== 'commits') return undefined
  return { commits: answer.rows && commitsIn(answer.rows, answer.upTo, bytes) }
}

export const versionedOf = ({ key, revision, created, value }: Row, bytes: Buffer): Versioned => ({
  key,
  revision,
  createRevision: created,
  value: viewOf(value, bytes),
})

export const deletionOf = (key: string, revision: Revision): FeedEvent => ({
  key,
  type: 'delete',
  revision,
  createRevision: 0,
  value: nothing,
})

const viewOf = ({ start, end }: Place, bytes: Buffer): Buffer => bytes.subarray(start, end)

/** An empty commit at the end says how far the answer goes, if its last revisions have no events left. */
function commitsIn(rows: readonly EventRow[], upTo: Revision, bytes: Buffer): readonly Commit[] {
  const commits: { readonly revision: Revision; readonly events: FeedEvent[] }[] = []
  for (const row of rows) {
    if (commits.at(-1)?.revision !== row.revision) commits.push({ revision: row.revision, events: [] })
    commits.at(-1)?.events.push(eventOf(row, bytes))
  }
  if ((commits.at(-1)?.revision ?? 0) < upTo) commits.push({ revision: upTo, events: [] })
  return commits
}

function eventOf({ key, revision, created, value, previous }: EventRow, bytes: Buffer): FeedEvent {
  const before = previous && { previous: versionedOf(previous, bytes) }
  if (value === undefined) return { ...deletionOf(key, revision), ...before }
  return { key, type: 'put', revision, createRevision: created, value: viewOf(value, bytes), ...before }
}
