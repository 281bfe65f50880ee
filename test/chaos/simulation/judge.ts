/**
 * Checks whether the responses that clients received are consistent with the history of the
 * database:
 *
 * - An acknowledged write was applied once, at its revision, an ambiguous write at most once, and a
 * rejected write never.
 * - Each write replaced the state that its response names.
 * - A linearizable read returns all writes that were acknowledged before it began.
 * - Each list is the state at its revision.
 */
import type { Change } from '../../support/harness/gateway.ts'
import type { History } from './history.ts'
import {
  decodeValue,
  type Item,
  type ListScope,
  type Model,
  type ReadResult,
  tagOf,
  type Write,
} from './model.ts'

/** Returns a description of each response that is inconsistent with the history. */
export function judge(model: Model, history: History): string[] {
  return [
    ...model.faults,
    ...judgeWrites(model.writes, history),
    ...judgeEnd(model, history),
    ...model.readings.flatMap((reading) => judgeReading(reading, history)),
  ]
}

function judgeEnd(model: Model, history: History): string[] {
  const faults: string[] = []
  for (const key of new Set(model.writes.map((write) => write.key))) {
    const tag = tagOf(history.valueAt(key, history.revision)?.value)
    const possible = model.possible(key)
    if (possible.has(tag)) continue
    const choices = [...possible].map((one) => one ?? 'nothing').join(', ')
    faults.push(`${key} holds ${tag ?? 'nothing'}, possible are ${choices}`)
  }
  return faults
}

function judgeWrites(writes: readonly Write[], history: History): string[] {
  const faults: string[] = []
  const byTag = new Map<string, Write>()
  const byRevision = new Map<number, Write>()
  for (const write of writes) {
    if (write.tag !== undefined) byTag.set(write.tag, write)
    if (write.result.outcome !== 'acknowledged') continue
    const { revision } = write.result
    if (byRevision.has(revision))
      faults.push(`two writes were acknowledged with revision ${revision}`)
    byRevision.set(revision, write)
  }
  faults.push(...judgeChanges(history, byTag, byRevision))
  for (const [revision, write] of byRevision)
    faults.push(...judgeAcknowledged(write, revision, history))
  faults.push(...judgeDeletes(writes, history))
  return faults
}

/**
 * Checks each change in the history. It must belong to a known write, and must be the only change
 * of this write. It must have replaced the value on which the write was based.
 */
function judgeChanges(
  history: History,
  byTag: ReadonlyMap<string, Write>,
  byRevision: ReadonlyMap<number, Write>,
): string[] {
  const faults: string[] = []
  const seen = new Set<string>()
  const before = new Map<string, { tag: string | undefined; version: number }>()
  for (const { key, value, revision, version } of history.changes) {
    const last = before.get(key)
    before.set(key, { tag: tagOf(value), version })
    if (value === undefined) continue
    const { tag, after } = decodeValue(value)
    const write = byTag.get(tag)
    if (write === undefined || write.key !== key)
      faults.push(`revision ${revision}: ${key} got ${tag}, which no client wrote there`)
    else if (seen.has(tag)) faults.push(`revision ${revision}: ${tag} was written to ${key} twice`)
    else if (write.result.outcome === 'refused')
      faults.push(
        `revision ${revision}: ${tag} was written to ${key}, but its writer got the error "${write.result.reason}"`,
      )
    else if (write.result.outcome === 'acknowledged' && byRevision.get(revision) !== write) {
      faults.push(
        `revision ${revision}: ${tag} was written to ${key}, but its writer got revision ${write.result.revision}`,
      )
    } else if (revision <= write.floor)
      faults.push(`revision ${revision}: ${tag} was written before its writer began`)
    seen.add(tag)
    if ((last?.tag ?? null) !== after)
      faults.push(
        `revision ${revision}: ${tag} replaced ${last?.tag ?? 'nothing'} in ${key}, but was based on ${after ?? 'nothing'}`,
      )
    const due = last?.tag === undefined ? 1 : last.version + 1
    if (version !== due)
      faults.push(`revision ${revision}: ${key} has version ${version}, ${due} is due`)
  }
  return faults
}

function judgeAcknowledged(write: Write, revision: number, history: History): string[] {
  const what = `acknowledged ${write.tag ?? 'delete'} of ${write.key} at revision ${revision}`
  const change = history.lastAt(write.key, revision)
  if (change?.revision !== revision) return [`lost: ${what} is not in the history`]
  if (tagOf(change.value) !== write.tag)
    return [`lost: ${what}; the history has ${tagOf(change.value) ?? 'a delete'} there`]
  const claimed =
    write.result.outcome === 'acknowledged' ? write.result.previousRevision : undefined
  const previous = history.valueAt(write.key, revision - 1)?.revision ?? 0
  if (claimed === undefined || claimed === previous) return []
  return [`${what} claims to replace revision ${claimed}, but replaced ${previous}`]
}

/**
 * Checks the number of deletes, which have no tag. The history must not contain more deletes of a
 * key than were acknowledged or ambiguous.
 */
function judgeDeletes(writes: readonly Write[], history: History): string[] {
  const faults: string[] = []
  const allowed = new Map<string, number>()
  for (const { key, tag, result } of writes) {
    const mayHaveHappened = tag === undefined && result.outcome !== 'refused'
    if (mayHaveHappened) allowed.set(key, (allowed.get(key) ?? 0) + 1)
  }
  const found = new Map<string, number>()
  for (const { key, value } of history.changes) {
    if (value === undefined) found.set(key, (found.get(key) ?? 0) + 1)
  }
  for (const [key, count] of found) {
    const most = allowed.get(key) ?? 0
    if (count > most)
      faults.push(
        `${key} was deleted ${count} times, but at most ${most} deletes may have happened`,
      )
  }
  return faults
}

function judgeReading(reading: ReadResult, history: History): string[] {
  if ('prefix' in reading.scope) return judgeList(reading, reading.scope, history)
  const { key } = reading.scope
  const item = reading.items[0]
  const what = `read of ${key} (floor ${reading.floor}) shows ${item === undefined ? 'nothing' : `${item.tag} of revision ${item.revision}`}`
  if (reading.revision !== undefined) {
    if (reading.revision < reading.floor) return [`stale: ${what} at revision ${reading.revision}`]
    const truth = history.valueAt(key, reading.revision)
    return isSame(item, truth)
      ? []
      : [
          `wrong: ${what} at revision ${reading.revision}, the history has ${tagOf(truth?.value) ?? 'nothing'}`,
        ]
  }
  return judgeUndated(item, { key, floor: reading.floor, what }, history)
}

/**
 * Checks a response that does not contain a revision. It must match the state at `floor`, the
 * oldest revision that the read may return, or at a later revision.
 */
function judgeUndated(
  item: Item | undefined,
  { key, floor, what }: { key: string; floor: number; what: string },
  history: History,
): string[] {
  if (item === undefined) {
    if (history.valueAt(key, floor) === undefined) return []
    const deleted = history
      .of(key)
      .some((change) => change.revision > floor && change.value === undefined)
    return deleted ? [] : [`stale: ${what}, but the key existed all the time`]
  }
  if (!isSame(item, history.valueAt(key, item.revision)))
    return [`wrong: ${what}, which the history does not have`]
  const next = history.nextAfter(key, item.revision)
  return next === undefined || next.revision > floor
    ? []
    : [`stale: ${what}, but it was replaced at ${next.revision}`]
}

function judgeList(reading: ReadResult, scope: ListScope, history: History): string[] {
  const { prefix, from = prefix, to, selects } = scope
  const { revision, floor, items } = reading
  if (revision === undefined) return [`a list of ${prefix} has no revision`]
  if (revision < floor)
    return [`stale: list of ${prefix} at revision ${revision}, the floor is ${floor}`]
  const isListed = ({ key, value }: Change): boolean =>
    key >= from && (to === undefined || key < to) && (selects?.(tagOf(value) ?? '') ?? true)
  const difference = compareState(items, history.stateAt(prefix, revision).filter(isListed))
  return difference === undefined
    ? []
    : [`wrong: list of ${prefix} at revision ${revision}: ${difference}`]
}

/**
 * Returns the first difference between a client's state and the history, or undefined if they
 * agree.
 */
export function compareState(items: readonly Item[], truth: readonly Change[]): string | undefined {
  const held = new Map(items.map((item) => [item.key, item]))
  if (held.size < items.length) return 'a key occurs twice'
  for (const change of truth) {
    const item = held.get(change.key)
    if (item === undefined)
      return `${change.key} (${tagOf(change.value)}, revision ${change.revision}) is missing`
    if (!isSame(item, change))
      return `${change.key} shows ${item.tag} of revision ${item.revision}, the history has ${tagOf(change.value)} of ${change.revision}`
    held.delete(change.key)
  }
  const [extra] = held.values()
  return extra === undefined
    ? undefined
    : `${extra.key} (${extra.tag}, revision ${extra.revision}) should not be there`
}

function isSame(item: Item | undefined, change: Change | undefined): boolean {
  return item?.revision === change?.revision && item?.tag === tagOf(change?.value)
}
