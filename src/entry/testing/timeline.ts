/**
 * Combines the writes and the refused requests of a cluster in the order in which they happened.
 */
import { changesBetween, type FieldChange, withoutSecrets } from './object-changes.ts'
import type { RecordedRequest } from './recorded-request.ts'
import type { Refusal } from './refusals.ts'
import type { Write } from './write.ts'

/** A write, with the changed fields instead of the whole objects. */
export type TimelineWrite = RecordedRequest & {
  /** The type of the change. */
  readonly operation: 'create' | 'update' | 'delete'
  /**
   * The resourceVersion that the write assigned or, for a deletion, the object's last
   * resourceVersion.
   */
  readonly resourceVersion: string
  /**
   * The fields that an update changed, at most 50. Empty for other writes. Fields that the server
   * changes in each write are left out, and the data of Secrets are replaced by `(hidden)`.
   */
  readonly changes: readonly FieldChange[]
}

/** A request for a resource that the server refused. */
export type RefusedRequest = RecordedRequest & {
  readonly operation: 'refused'
  /** The HTTP status of the response, such as 409. */
  readonly code: number
  /** The reason in the response, such as `AlreadyExists`. Empty if there was none. */
  readonly reason: string
  /** The message in the response. Empty if it might contain the data of a Secret. */
  readonly message: string
}

export type TimelineEntry = TimelineWrite | RefusedRequest

/** Merges writes and refused requests. Both lists begin with the oldest entry. */
export function mergeTimeline(
  writes: readonly Write[],
  refusals: readonly Refusal[],
): TimelineEntry[] {
  const entries: TimelineEntry[] = []
  let next = 0
  for (const write of writes) {
    while ((refusals[next]?.revision ?? Infinity) < Number(write.resourceVersion)) {
      entries.push(...refusals.slice(next, next + 1).map(toRefusedRequest))
      next++
    }
    entries.push(toTimelineWrite(write))
  }
  return [...entries, ...refusals.slice(next).map(toRefusedRequest)]
}

function toTimelineWrite({ object, before, owners: _owners, ...write }: Write): TimelineWrite {
  const isUpdate = object !== undefined && before !== undefined
  const changes = isUpdate ? changesBetween(before, object) : []
  const isSecret = write.group === '' && write.resource === 'secrets'
  return { ...write, changes: isSecret ? withoutSecrets(changes) : changes }
}

const toRefusedRequest = ({
  timeMs,
  revision: _revision,
  ...refusal
}: Refusal): RefusedRequest => ({
  ...refusal,
  operation: 'refused',
  time: new Date(timeMs),
})
