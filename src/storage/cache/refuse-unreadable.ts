/**
 * Refuses a list if one of its objects cannot be read, because the client would assume that the
 * objects are complete. Also refuses a watch that begins with the existing objects, if one of these
 * objects cannot be read.
 */
import { keyAfter, type KeyRange } from '../keys.ts'
import type { Freshness } from './fresh-state.ts'
import type { ResourceSpec } from './resource-options.ts'
import type { CachedResource } from './resource.ts'
import type { SelectResult } from './tree.ts'

export function refuseUnreadable(resource: CachedResource, range: KeyRange, at: Freshness): void {
  const { unreadable, spec } = resource
  if (unreadable.size === 0) return
  const fault = unreadable.listFault(range, { isLatest: at !== 'any', kind: kindOf(spec) })
  if (fault !== undefined) throw fault
}

export type ReadPage = {
  readonly page: SelectResult
  readonly range: KeyRange
  readonly at: Freshness
  readonly limit: number
}

/**
 * Checks a page for unreadable objects. If one is in the page, throws its error. If one comes after
 * the page, reports that the page is not the last one, even if no readable object follows.
 */
export function checkPage(
  resource: CachedResource,
  { page, range, at, limit }: ReadPage,
): SelectResult {
  const { unreadable, spec } = resource
  if (unreadable.size === 0) return page
  const last = page.items.length >= limit ? page.items.at(-1)?.key : undefined
  const end = last === undefined ? range.to : keyAfter(last)
  refuseUnreadable(resource, { from: range.from, to: end }, at)
  const rest = { from: end, to: range.to }
  const isMore =
    unreadable.listFault(rest, { isLatest: at !== 'any', kind: kindOf(spec) }) !== undefined
  return isMore ? { ...page, more: true, remaining: Math.max(page.remaining, 1) } : page
}

/** Returns the kind as it appears in kube-apiserver's messages. */
export const kindOf = ({ goKind, name }: ResourceSpec): string => goKind ?? name
