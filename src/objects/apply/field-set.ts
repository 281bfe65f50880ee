/**
 * A set of fields of an object, represented as a tree. Each node stands for a field, whose path is
 * formed by the path elements from the root to the node (path-element.ts). Some nodes are not in
 * the set themselves, but only on the path to fields in the set. Sets are immutable. Operations
 * reuse unchanged nodes, so that their cached text can be reused.
 */
import { eachItem, isDivided, once } from '../../lib/scheduling/parts.ts'

export type FieldSet = {
  readonly isOwned: boolean
  readonly children: ReadonlyMap<string, FieldSet>
}

const noChildren: ReadonlyMap<string, FieldSet> = new Map()
export const noFields: FieldSet = { isOwned: false, children: noChildren }
/** A node for a field that is in the set and that has no fields below it in the set. */
export const ownedLeaf: FieldSet = { isOwned: true, children: noChildren }

export const isEmptySet = (set: FieldSet): boolean => !set.isOwned && set.children.size === 0

export function union(one: FieldSet, other: FieldSet): FieldSet {
  if (one === other || isEmptySet(other)) return one
  if (isEmptySet(one)) return other
  const { children } = visited(other.children, (changed, element) => {
    const [ours, theirs] = [one.children.get(element), other.children.get(element)]
    if (theirs === undefined) return true
    const both = ours === undefined ? theirs : union(ours, theirs)
    if (both !== ours) (changed.children ??= new Map(one.children)).set(element, both)
    return true
  })
  if (children === undefined && (one.isOwned || !other.isOwned)) return one
  return { isOwned: one.isOwned || other.isOwned, children: children ?? one.children }
}

/** Returns the set without the fields that are in `other`. Fields below them are kept. */
export const difference = (set: FieldSet, other: FieldSet): FieldSet =>
  isEmptySet(other)
    ? set
    : filtered(set, other, { isOwned: set.isOwned && !other.isOwned, below: difference })

/** Returns the set without the fields that are in `other` and all fields below them. */
export const recursiveDifference = (set: FieldSet, other: FieldSet): FieldSet =>
  other.isOwned
    ? noFields
    : filtered(set, other, { isOwned: set.isOwned, below: recursiveDifference })

type Step = {
  readonly isOwned: boolean
  readonly below: (set: FieldSet, other: FieldSet) => FieldSet
}

/**
 * Returns a copy of `set` in which `below` was applied to each child that also exists in `other`.
 * All other children are kept.
 */
function filtered(set: FieldSet, other: FieldSet, { isOwned, below }: Step): FieldSet {
  const fewer = set.children.size < other.children.size ? set.children : other.children
  const visit = (changed: ChangedChildren, element: string): boolean => {
    const [ours, theirs] = [set.children.get(element), other.children.get(element)]
    if (ours === undefined || theirs === undefined) return true
    const left = below(ours, theirs)
    if (left === ours) return true
    changed.children ??= new Map(set.children)
    if (isEmptySet(left)) changed.children.delete(element)
    else changed.children.set(element, left)
    return true
  }
  const { children } = visited(fewer, visit)
  if (children === undefined && isOwned === set.isOwned) return set
  return { isOwned, children: children ?? set.children }
}

/** The children of a node after modifications. Undefined if none of them was modified. */
type ChangedChildren = { children: Map<string, FieldSet> | undefined }

const unchanged = (): ChangedChildren => ({ children: undefined })

/**
 * Calls a function for each element. If the caller's work is divided into parts
 * (lib/scheduling/parts.ts), this loop can be interrupted.
 */
function visited(
  children: ReadonlyMap<string, FieldSet>,
  visit: (changed: ChangedChildren, element: string) => boolean,
): ChangedChildren {
  if (isDivided()) {
    const elements = once('elements of a field set', () => [...children.keys()])
    return eachItem('changes of a field set', elements, unchanged, visit)
  }
  const changed = unchanged()
  for (const element of children.keys()) visit(changed, element)
  return changed
}

/**
 * Returns the union of all sets. The sets are joined in pairs, because adding them one by one would
 * copy a growing set each time. In work that is divided into parts, the union of each pair is
 * stored, so that later parts do not repeat it.
 */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = noFields, second] = sets
  if (second === undefined) return first
  const middle = sets.length >> 1
  return once('union of a pair', () =>
    union(unionOf(sets.slice(0, middle)), unionOf(sets.slice(middle))),
  )
}

export function intersection(one: FieldSet, other: FieldSet): FieldSet {
  if (one === other) return one
  const children = new Map<string, FieldSet>()
  const [fewer, more] = one.children.size <= other.children.size ? [one, other] : [other, one]
  for (const [element, ours] of fewer.children) {
    const theirs = more.children.get(element)
    if (theirs === undefined) continue
    const both = intersection(ours, theirs)
    if (!isEmptySet(both)) children.set(element, both)
  }
  const isOwned = one.isOwned && other.isOwned
  return isOwned || children.size > 0 ? { isOwned, children } : noFields
}

/**
 * Whether two sets have a field in common. Unlike `intersection`, this does not allocate memory.
 */
export function intersects(one: FieldSet, other: FieldSet): boolean {
  if (one.isOwned && other.isOwned) return true
  const [fewer, more] = one.children.size <= other.children.size ? [one, other] : [other, one]
  for (const [element, ours] of fewer.children) {
    const theirs = more.children.get(element)
    if (theirs !== undefined && intersects(ours, theirs)) return true
  }
  return false
}

export function isSameSet(one: FieldSet, other: FieldSet): boolean {
  if (one === other) return true
  if (one.isOwned !== other.isOwned || one.children.size !== other.children.size) return false
  for (const [element, ours] of one.children) {
    const theirs = other.children.get(element)
    if (theirs === undefined || !isSameSet(ours, theirs)) return false
  }
  return true
}

/** Returns a node with these children. All nodes without children share one object. */
export const nodeOf = (
  isOwned: boolean,
  children: ReadonlyMap<string, FieldSet> | undefined,
): FieldSet =>
  children === undefined || children.size === 0
    ? isOwned
      ? ownedLeaf
      : noFields
    : { isOwned, children }
