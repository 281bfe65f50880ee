/** Converts the responses of the SQLite thread to the types of the Engine interface. */
import type { FeedEvent, Outcome, Revision, VersionedValue } from '../engine.ts'
import type { Commit } from '../local-feed-stream.ts'
import type { Answer } from './messages.ts'
import { type PackedRow, type RowBuffers, RowReader, type RowsOffset } from './packed-rows.ts'

const nothing = Buffer.alloc(0)

export function outcomeOf(answer: Answer, buffers: RowBuffers): Outcome | undefined {
  if (answer.op === 'won') return { won: true, revision: answer.revision }
  if (answer.op !== 'lost') return undefined
  const { revision, current } = answer
  return {
    won: false,
    revision,
    current: current && versionedOf(new RowReader(buffers, current).next()),
  }
}

/**
 * Returns the commits of a response, or undefined if the response is of another kind. `commits` is
 * undefined if the commits have been compacted.
 */
export function commitsOf(
  answer: Answer,
  buffers: RowBuffers,
  previous: boolean,
): { readonly commits: readonly Commit[] | undefined } | undefined {
  if (answer.op !== 'commits') return undefined
  const { rows, upTo } = answer
  return {
    commits: rows && commitsIn(new RowReader(buffers, rows), rows.count, { upTo, previous }),
  }
}

/** Appends rows to those of previous slices. */
export function takeRows(into: VersionedValue[], rows: RowsOffset, buffers: RowBuffers): void {
  const reader = new RowReader(buffers, rows)
  for (let n = 0; n < rows.count; n++) into.push(versionedOf(reader.next()))
}

export const deletionOf = (key: string, revision: Revision): FeedEvent => ({
  key,
  type: 'delete',
  revision,
  createRevision: 0,
  value: nothing,
})

const versionedOf = ({ key, revision, created, value = nothing }: PackedRow): VersionedValue => ({
  key,
  revision,
  createRevision: created,
  value,
})

type CommitsQuery = { readonly upTo: Revision; readonly previous: boolean }

/**
 * Reads the commits of a response. If the last revisions have no events, adds an empty commit that
 * shows up to which revision the response is complete.
 */
function commitsIn(
  reader: RowReader,
  count: number,
  { upTo, previous }: CommitsQuery,
): readonly Commit[] {
  const commits: { readonly revision: Revision; readonly events: FeedEvent[] }[] = []
  for (let n = 0; n < count; n++) {
    const event = eventOf(reader.next(), previous ? reader.next() : undefined)
    if (commits.at(-1)?.revision !== event.revision)
      commits.push({ revision: event.revision, events: [] })
    commits.at(-1)?.events.push(event)
  }
  if ((commits.at(-1)?.revision ?? 0) < upTo) commits.push({ revision: upTo, events: [] })
  return commits
}

function eventOf(
  { key, revision, created, value }: PackedRow,
  previous: PackedRow | undefined,
): FeedEvent {
  const before = previous?.value && { previous: versionedOf(previous) }
  if (value === undefined) return { ...deletionOf(key, revision), ...before }
  return { key, type: 'put', revision, createRevision: created, value, ...before }
}
