/**
 * Who owns whom. The graph has only objects that have owners, dependents, or a finalizer of the
 * garbage collector while they are being deleted, and of them only their keys in the cache, the
 * uids of owners, and the edges: everything else is read from the cache when it is needed. So an
 * object without owners and dependents costs nothing, and one with an owner some 150 bytes.
 *
 * An owner that a reference names but nobody has seen is a node without a key (upstream calls it
 * virtual).
 */
import type { Item } from '../../storage/cache/item.ts'
import { ownText } from '../../lib/text/own-text.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import type { ObjectHead, OwnerReference } from '../object-head.ts'
import { isRemoteKey } from '../remote/remote-keys.ts'

export type Key = Item['key']

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

export type GraphOptions = {
  /**
   * The key that a reference of the object at `key` leads to. Undefined: the kind is not served, or
   * the reference is not valid.
   */
  readonly keyOf: (reference: OwnerReference, key: Key) => Key | undefined
  /**
   * The object with this uid at this key, if the cache has it: its own key, which costs no memory.
   */
  readonly find: (key: Key, uid: string) => Key | undefined
  /** The object may be garbage, or may be waiting for dependents that are gone. */
  readonly onSuspect: (key: Key) => void
  /** The object is being deleted, and its dependents are to be orphaned. */
  readonly onOrphaning: (key: Key) => void
}

const MARKED = 1
/** It is being deleted in the foreground: it waits until its blocking dependents are gone. */
const WAITING = 2
const ORPHANING = 4
/** It was there and was deleted; never set for objects of remote servers. */
const GONE = 8
/** The rest of the bits: which owners it blocks, by their places in the list. */
const BLOCKS_AT = 4
/**
 * Owners of a node that are kept in a list. A client may send tens of thousands: more are kept in a
 * map, and are set in steps.
 */
export const FEW_OWNERS_MAX = 26

class Node {
  key: Key | undefined
  /** Known of nodes that have had dependents, or that are being deleted. */
  uid: string | undefined
  owners: Node | readonly Node[] | ManyOwners | undefined
  dependents: Node | Set<Node> | undefined
  bits = 0

  constructor(key: Key | undefined, uid: string | undefined) {
    this.key = key
    this.uid = uid
    this.owners = undefined
    this.dependents = undefined
  }
}

/** The owners of a node that has more than FEW_OWNERS_MAX of them. */
class ManyOwners {
  /**
   * For each owner twice the number of the last update that named it, plus one if the node blocks
   * its deletion.
   */
  readonly edges = new Map<Node, number>()
  update = 0
  /** That of the references. Undefined while an update is not complete. */
  digest: string | undefined
}

/** The owners that the object at `key` names. */
type NamedOwners = Pick<ObjectHead, 'owners' | 'ownersDigest'> & { readonly key: Key }

export class Graph {
  readonly #options: GraphOptions
  readonly #byKey = new Map<Key, Node>()
  /** Those whose uid is known. */
  readonly #byUid = new Map<string, Node>()

  constructor(options: GraphOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#byKey.size
  }

  keys(): Iterable<Key> {
    return this.#byKey.keys()
  }

  /**
   * Sets an object as it is now; undefined: it is gone. Returns the rest of the work for an object
   * with many owners: its steps are to be run before the next change of the object is set.
   */
  set(key: Key, head: ObjectHead | undefined): Steps<void> | undefined {
    const found = this.#byKey.get(key)
    if (head === undefined) {
      if (found !== undefined) this.#remove(found)
      return undefined
    }
    // Another object has the name now.
    if (found?.uid === undefined || found.uid === head.uid) return this.#insert(key, head, found)
    this.#remove(found)
    return this.#insert(key, head, undefined)
  }

  /** Whether an object waits for the deletion of its dependents. */
  isWaiting(key: Key): boolean {
    return ((this.#byKey.get(key)?.bits ?? 0) & WAITING) !== 0
  }

  /** Whether one of its owners was not reported yet: when that goes, nobody is told. */
  hasUnseenOwners(key: Key): boolean {
    return listOf(this.#byKey.get(key)?.owners).some((owner) => owner.key === undefined)
  }

  hasDependents(key: Key): boolean {
    return this.#byKey.get(key)?.dependents !== undefined
  }

  /** Whether a dependent that is itself waiting for its dependents exists. */
  hasWaitingDependents(key: Key): boolean {
    for (const { bits } of all(this.#byKey.get(key)?.dependents))
      if ((bits & WAITING) !== 0) return true
    return false
  }

  /** Whether a dependent exists that the object must not go before. */
  hasBlockingDependents(key: Key): boolean {
    const node = this.#byKey.get(key)
    if (node === undefined) return false
    for (const dependent of all(node.dependents)) if (isBlocking(dependent, node)) return true
    return false
  }

  /** The keys of its dependents. */
  *dependentsOf(key: Key): Generator<Key, void, void> {
    for (const dependent of all(this.#byKey.get(key)?.dependents))
      if (dependent.key !== undefined) yield dependent.key
  }

  /** Whether the object with this uid was there and was deleted. */
  wasDeleted(uid: string): boolean {
    return ((this.#byUid.get(uid)?.bits ?? 0) & GONE) !== 0
  }

  #insert(key: Key, head: ObjectHead, found: Node | undefined): Steps<void> | undefined {
    const { isMarked, finalizers } = head
    const isOrphaning = isMarked && finalizers.includes(orphanFinalizer)
    const isWaiting = isMarked && !isOrphaning && finalizers.includes(foregroundFinalizer)
    const named = this.#byUid.get(head.uid)
    // Dependents that came while the cache did not have it have named a node without a key.
    if (found !== undefined && named !== undefined && named.key === undefined)
      this.#merge(named, found)
    let node = found ?? named
    if (node === undefined) {
      if (head.ownersDigest === undefined && head.owners.length === 0 && !isOrphaning && !isWaiting)
        return undefined
      node = new Node(key, undefined)
    }
    if (isOrphaning || isWaiting) this.#learnUid(node, head.uid)
    if (node.key !== undefined) this.#byKey.delete(node.key)
    // The newest of equal strings is the one that the cache has, too.
    node.key = key
    this.#byKey.set(key, node)
    const before = node.bits
    const steps = this.#setOwners(node, head, key)
    node.bits = (node.bits & ~(MARKED | WAITING | ORPHANING | GONE)) | (isMarked ? MARKED : 0)
    if (isOrphaning) node.bits |= ORPHANING
    if (isWaiting) node.bits |= WAITING
    if (isOrphaning && (before & ORPHANING) === 0) this.#options.onOrphaning(key)
    if (isWaiting && (before & WAITING) === 0) {
      for (const dependent of all(node.dependents)) this.#suspect(dependent)
      this.#options.onSuspect(key)
    }
    this.#forgetIfIdle(node)
    return steps
  }

  #setOwners(node: Node, head: ObjectHead, key: Key): Steps<void> | undefined {
    const before = node.owners
    const { ownersDigest } = head
    // The owners need not be parsed, and are those that they were.
    if (
      ownersDigest !== undefined &&
      before instanceof ManyOwners &&
      before.digest === ownersDigest
    )
      return undefined
    const { owners } = head
    if (owners.length <= FEW_OWNERS_MAX) {
      this.#setFewOwners(node, owners, key)
      return undefined
    }
    const many = before instanceof ManyOwners ? before : manyOf(node)
    many.digest = undefined
    many.update++
    node.owners = many
    return this.#setManyOwners(node, many, { owners, ownersDigest, key })
  }

  /**
   * Between two steps owners come and go, and are merged. Ends early if the node is removed, or is
   * set again.
   */
  *#setManyOwners(
    node: Node,
    many: ManyOwners,
    { owners, ownersDigest, key }: NamedOwners,
  ): Steps<void> {
    const { edges, update } = many
    const isCurrent = (): boolean => node.owners === many && many.update === update
    for (const reference of owners) {
      yield
      if (!isCurrent()) return
      const owner = this.#ownerOf(reference, key)
      const edge = edges.get(owner)
      if (edge !== undefined && edge >> 1 === update) continue
      edges.set(owner, 2 * update + (reference.blocks ? 1 : 0))
      const isWaiting = (owner.bits & WAITING) !== 0
      if (edge === undefined) {
        link(owner, node)
        if (isWaiting) this.#options.onSuspect(key)
      } else if (isWaiting && (edge & 1) === 1 && !reference.blocks) this.#suspect(owner)
    }
    for (const [owner, edge] of edges) {
      yield
      if (!isCurrent()) return
      if (edge >> 1 === update) continue
      edges.delete(owner)
      unlink(owner, node)
      if ((edge & 1) === 1 && (owner.bits & WAITING) !== 0) this.#suspect(owner)
      this.#forgetIfIdle(owner)
    }
    many.digest = ownersDigest
  }

  #setFewOwners(node: Node, references: readonly OwnerReference[], key: Key): void {
    const before = node.owners
    if (references.length === 0 && before === undefined) return
    const olds = listOf(before)
    const wereBlocked = olds.map((old) => isBlocking(node, old))
    const isOld = (owner: Node): boolean =>
      before instanceof ManyOwners ? before.edges.has(owner) : olds.includes(owner)
    const owners: Node[] = []
    let blocks = 0
    for (const reference of references) {
      const owner = this.#ownerOf(reference, key)
      // limit: FEW_OWNERS_MAX
      if (owners.includes(owner)) continue
      if (reference.blocks) blocks |= 1 << (BLOCKS_AT + owners.length)
      owners.push(owner)
    }
    node.owners = owners.length > 1 ? owners : owners[0]
    node.bits = (node.bits & (MARKED | WAITING | ORPHANING | GONE)) | blocks
    for (const owner of owners) {
      if (isOld(owner)) continue
      link(owner, node)
      if ((owner.bits & WAITING) !== 0) this.#options.onSuspect(key)
    }
    for (const [at, old] of olds.entries()) {
      // limit: FEW_OWNERS_MAX
      if (!owners.includes(old)) {
        unlink(old, node)
        this.#forgetIfIdle(old)
      }
      // It may have been the last one that kept its owner.
      if (wereBlocked[at] === true && (old.bits & WAITING) !== 0 && !isBlocking(node, old))
        this.#suspect(old)
    }
  }

  /** The node of an owner. If it is not where the reference says, the dependent is suspect. */
  #ownerOf(reference: OwnerReference, key: Key): Node {
    const { keyOf, find, onSuspect } = this.#options
    const { uid } = reference
    const known = this.#byUid.get(uid)
    const wanted = keyOf(reference, key)
    if (known?.key !== undefined) {
      if (known.key !== wanted) onSuspect(key)
      return known
    }
    const seen = wanted === undefined ? undefined : find(wanted, uid)
    if (seen === undefined) {
      onSuspect(key)
      return known ?? this.#learnUid(new Node(undefined, undefined), uid)
    }
    const there = this.#byKey.get(seen)
    // One of another uid is about to be replaced by its own event.
    if (there !== undefined && there.uid !== undefined)
      return known ?? this.#learnUid(new Node(undefined, undefined), uid)
    if (there === undefined) {
      const node = known ?? this.#learnUid(new Node(undefined, undefined), uid)
      node.key = seen
      node.bits &= ~GONE
      this.#byKey.set(seen, node)
      return node
    }
    if (known !== undefined) this.#merge(known, there)
    return this.#learnUid(there, uid)
  }

  /**
   * The dependents of a node without a key are those of the one with a key, which is the same
   * object.
   */
  #merge(virtual: Node, node: Node): void {
    // A copy: each one is taken out of the Set.
    for (const dependent of [...all(virtual.dependents)]) replaceOwner(dependent, virtual, node)
    if (virtual.uid !== undefined) this.#learnUid(node, virtual.uid)
  }

  #learnUid(node: Node, uid: string): Node {
    // It may be a part of the text of an object, or of the request that wrote it.
    const own = node.uid === uid ? node.uid : ownText(uid)
    node.uid = own
    this.#byUid.set(own, node)
    return node
  }

  #remove(node: Node): void {
    const { key, owners } = node
    if (key !== undefined) this.#byKey.delete(key)
    node.key = undefined
    node.owners = undefined
    // What a remote server no longer lists is asked for by its name before anything goes because of
    // it.
    node.bits = key !== undefined && isRemoteKey(key) ? 0 : GONE
    for (const owner of listOf(owners)) {
      unlink(owner, node)
      if ((owner.bits & WAITING) !== 0) this.#suspect(owner)
      this.#forgetIfIdle(owner)
    }
    for (const dependent of all(node.dependents)) this.#suspect(dependent)
    this.#forgetIfIdle(node)
  }

  #suspect({ key }: Node): void {
    if (key !== undefined) this.#options.onSuspect(key)
  }

  #forgetIfIdle(node: Node): void {
    if (node.dependents !== undefined) return
    const isKept = node.owners !== undefined || (node.bits & (WAITING | ORPHANING)) !== 0
    if (isKept) return
    if (node.key !== undefined) this.#byKey.delete(node.key)
    if (node.uid !== undefined && this.#byUid.get(node.uid) === node) this.#byUid.delete(node.uid)
  }
}

function* all(nodes: Node | Set<Node> | undefined): Generator<Node, void, void> {
  if (nodes instanceof Set) yield* nodes
  else if (nodes !== undefined) yield nodes
}

function listOf(owners: Node['owners']): readonly Node[] {
  if (owners === undefined) return []
  if (owners instanceof Node) return [owners]
  return owners instanceof ManyOwners ? [...owners.edges.keys()] : owners
}

/** The owners of a node that has few of them, to be replaced by many. */
function manyOf(node: Node): ManyOwners {
  const many = new ManyOwners()
  for (const owner of listOf(node.owners)) many.edges.set(owner, isBlocking(node, owner) ? 1 : 0)
  return many
}

function link(owner: Node, dependent: Node): void {
  const { dependents } = owner
  if (dependents === undefined) owner.dependents = dependent
  else if (dependents instanceof Set) dependents.add(dependent)
  else if (dependents !== dependent) owner.dependents = new Set([dependents, dependent])
}

function unlink(owner: Node, dependent: Node): void {
  const { dependents } = owner
  if (dependents === dependent) owner.dependents = undefined
  else if (dependents instanceof Set && dependents.delete(dependent) && dependents.size === 0)
    owner.dependents = undefined
}

function replaceOwner(dependent: Node, before: Node, after: Node): void {
  if (dependent.owners instanceof ManyOwners) {
    const { edges } = dependent.owners
    const edge = edges.get(before)
    edges.delete(before)
    if (edge !== undefined && !edges.has(after)) edges.set(after, edge)
  } else {
    const owners = listOf(dependent.owners).map((owner) => (owner === before ? after : owner))
    dependent.owners = owners.length > 1 ? owners : owners[0]
  }
  unlink(before, dependent)
  link(after, dependent)
}

function isBlocking(dependent: Node, owner: Node): boolean {
  if (dependent.owners instanceof ManyOwners)
    return ((dependent.owners.edges.get(owner) ?? 0) & 1) === 1
  const at = listOf(dependent.owners).indexOf(owner)
  return at >= 0 && (dependent.bits & (1 << (BLOCKS_AT + at))) !== 0
}
