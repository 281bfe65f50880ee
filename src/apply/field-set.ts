/**
 * A set of fields of an object, as a tree: each node is a place in the object, known by the elements on the way there
 * (path-element.ts), and is in the set or only leads to others that are. Sets never change; what an operation leaves as it was
 * is the same node, so that its text need not be written again.
 */
export type FieldSet = { readonly isOwned: boolean; readonly children: ReadonlyMap<string, FieldSet> }

const noChildren: ReadonlyMap<string, FieldSet> = new Map()
export const noFields: FieldSet = { isOwned: false, children: noChildren }
/** A place in the set with nothing below it. */
export const ownedLeaf: FieldSet = { isOwned: true, children: noChildren }

export const isEmptySet = (set: FieldSet): boolean => !set.isOwned && set.children.size === 0

export function union(one: FieldSet, other: FieldSet): FieldSet {
  if (one === other || isEmptySet(other)) return one
  if (isEmptySet(one)) return other
  let children: Map<string, FieldSet> | undefined
  for (const [element, theirs] of other.children) {
    const ours = one.children.get(element)
    const both = ours === undefined ? theirs : union(ours, theirs)
    if (both !== ours) (children ??= new Map(one.children)).set(element, both)
  }
  if (children === undefined && (one.isOwned || !other.isOwned)) return one
  return { isOwned: one.isOwned || other.isOwned, children: children ?? one.children }
}

/** Without the places that are in `other`; what lies below those stays. */
export const difference = (set: FieldSet, other: FieldSet): FieldSet =>
  isEmptySet(other) ? set : filtered(set, other, { isOwned: set.isOwned && !other.isOwned, below: difference })

/** Without the places that are in `other` and all that lies below them. */
export const recursiveDifference = (set: FieldSet, other: FieldSet): FieldSet =>
  other.isOwned ? noFields : filtered(set, other, { isOwned: set.isOwned, below: recursiveDifference })

type Step = {
  readonly isOwned: boolean
  readonly below: (set: FieldSet, other: FieldSet) => FieldSet
}

/** Walks what both have; branches that only `set` has stay. */
function filtered(set: FieldSet, other: FieldSet, { isOwned, below }: Step): FieldSet {
  let children: Map<string, FieldSet> | undefined
  const fewer = set.children.size < other.children.size ? set.children : other.children
  for (const element of fewer.keys()) {
    const [ours, theirs] = [set.children.get(element), other.children.get(element)]
    if (ours === undefined || theirs === undefined) continue
    const left = below(ours, theirs)
    if (left === ours) continue
    children ??= new Map(set.children)
    if (isEmptySet(left)) children.delete(element)
    else children.set(element, left)
  }
  if (children === undefined && isOwned === set.isOwned) return set
  return { isOwned, children: children ?? set.children }
}

/** In pairs, so that what has grown is copied seldom. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = noFields, second] = sets
  if (second === undefined) return first
  const middle = sets.length >> 1
  return union(unionOf(sets.slice(0, middle)), unionOf(sets.slice(middle)))
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

/** Whether the two have a place in common; makes nothing. */
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

/** A node of a set from what was found below it. */
export const nodeOf = (isOwned: boolean, children: ReadonlyMap<string, FieldSet> | undefined): FieldSet =>
  children === undefined || children.size === 0 ? (isOwned ? ownedLeaf : noFields) : { isOwned, children }
