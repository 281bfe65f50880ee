/**
 * The graph of owners and dependents. It contains only objects that have owners or dependents, or
 * that are being deleted and have a finalizer of the garbage collector. For these objects, it
 * stores the keys in the cache, the uids of owners, and the edges. All other data is read from the
 * cache when needed. So an object without owners and dependents needs no memory, and an object with
 * one owner needs about 150 bytes.
 *
 * An owner that a reference names but that was never reported is a node without a key. Kubernetes
 * calls it a virtual node.
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
   * Returns the key of an owner. `reference` is an owner reference of the object with the key
   * `key`. Returns undefined if the kind of the owner is not served or the reference is invalid.
   */
  readonly keyOf: (reference: OwnerReference, key: Key) => Key | undefined
  /**
   * Returns the key of the object with this uid as the string that the cache already contains, so
   * that storing the key costs no memory. Returns undefined if the object is not in the cache.
   */
  readonly find: (key: Key, uid: string) => Key | undefined
  /** Called when an object might be garbage, or might no longer have to wait for its dependents. */
  readonly onSuspect: (key: Key) => void
  /**
   * Called instead of `onSuspect` for the dependents of an owner that has many. The generator
   * yields their keys. It does not copy the list of dependents, so this list may change between two
   * keys.
   */
  readonly onSuspects: (keys: Generator<Key, void, void>) => void
  /** Called when an object is being deleted and its dependents have to be orphaned. */
  readonly onOrphaning: (key: Key) => void
}

const MARKED = 1
/**
 * The object is being deleted in the foreground: it waits until the dependents that block its
 * deletion are gone.
 */
const WAITING = 2
const ORPHANING = 4
/** The object existed and was deleted. Never set for objects of remote servers. */
const GONE = 8
/**
 * Position of the first of the remaining bits. Each of them belongs to the owner at the same
 * position in the list of owners, and is set if the node blocks the deletion of this owner.
 */
const BLOCKS_AT = 4
/**
 * Maximum number of owners that a node stores in a list. More owners are stored in a map. Clients
 * can send tens of thousands of owners, so the map is changed in steps, between which other work
 * can run.
 */
export const FEW_OWNERS_MAX = 26

/**
 * Maximum number of dependents of one owner that become suspects in the same tick. Clients can
 * create hundreds of thousands of dependents of one owner.
 */
export const FEW_DEPENDENTS_MAX = 100

class Node {
  key: Key | undefined
  /**
   * The uid of the object. Set only if the object has had dependents, or if it waits until they are
   * deleted or orphaned.
   */
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

/** The owners of a node with more than FEW_OWNERS_MAX owners. */
class ManyOwners {
  /**
   * For each owner, twice the number of the last update that contained this owner, plus one if the
   * node blocks the deletion of the owner.
   */
  readonly edges = new Map<Node, number>()
  update = 0
  /**
   * Digest of the owner references after the last update. Undefined while an update is in progress.
   */
  digest: string | undefined
}

/** The owner references of the object with the key `key`. */
type NamedOwners = Pick<ObjectHead, 'owners' | 'ownersDigest'> & { readonly key: Key }

export class Graph {
  readonly #options: GraphOptions
  readonly #byKey = new Map<Key, Node>()
  /** Nodes by uid. Nodes with an unknown uid are missing. */
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
   * Sets the current state of an object. `head` is undefined if the object does not exist any more.
   * For an object with many owners, returns a generator that performs the rest of the work. The
   * caller must run it to its end before it sets the object again.
   */
  set(key: Key, head: ObjectHead | undefined): Steps<void> | undefined {
    const found = this.#byKey.get(key)
    if (head === undefined) {
      if (found !== undefined) this.#remove(found)
      return undefined
    }
    // If the uid has changed, another object now has this name, so the old node is removed first.
    if (found?.uid === undefined || found.uid === head.uid) return this.#insert(key, head, found)
    this.#remove(found)
    return this.#insert(key, head, undefined)
  }

  /** Whether an object waits for the deletion of its dependents. */
  isWaiting(key: Key): boolean {
    return ((this.#byKey.get(key)?.bits ?? 0) & WAITING) !== 0
  }

  /**
   * Whether no watch event has reported an owner of the object yet. If that owner is deleted, no
   * event reports the deletion.
   */
  hasUnseenOwners(key: Key): boolean {
    return listOf(this.#byKey.get(key)?.owners).some((owner) => owner.key === undefined)
  }

  hasDependents(key: Key): boolean {
    return this.#byKey.get(key)?.dependents !== undefined
  }

  /** Whether any dependent of the object waits for the deletion of its own dependents. */
  hasWaitingDependents(key: Key): boolean {
    for (const { bits } of all(this.#byKey.get(key)?.dependents))
      if ((bits & WAITING) !== 0) return true
    return false
  }

  /** Whether any dependent blocks the deletion of the object. */
  hasBlockingDependents(key: Key): boolean {
    const node = this.#byKey.get(key)
    if (node === undefined) return false
    for (const dependent of all(node.dependents)) if (isBlocking(dependent, node)) return true
    return false
  }

  /** Yields the keys of the dependents. */
  dependentsOf(key: Key): Generator<Key, void, void> {
    return keysOf(this.#byKey.get(key)?.dependents)
  }

  /** Whether the object with this uid existed and was deleted. */
  wasDeleted(uid: string): boolean {
    return ((this.#byUid.get(uid)?.bits ?? 0) & GONE) !== 0
  }

  #insert(key: Key, head: ObjectHead, found: Node | undefined): Steps<void> | undefined {
    const { isMarked, finalizers } = head
    const isOrphaning = isMarked && finalizers.includes(orphanFinalizer)
    const isWaiting = isMarked && !isOrphaning && finalizers.includes(foregroundFinalizer)
    const named = this.#byUid.get(head.uid)
    // There may be two nodes for the object: dependents that arrived while the object was not in
    // the cache refer to a node that has only the uid.
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
    // Replace the key, even by an equal string: the cache retains the new string anyway, so the
    // memory of the old one can be freed.
    node.key = key
    this.#byKey.set(key, node)
    const before = node.bits
    const steps = this.#setOwners(node, head, key)
    node.bits = (node.bits & ~(MARKED | WAITING | ORPHANING | GONE)) | (isMarked ? MARKED : 0)
    if (isOrphaning) node.bits |= ORPHANING
    if (isWaiting) node.bits |= WAITING
    if (isOrphaning && (before & ORPHANING) === 0) this.#options.onOrphaning(key)
    if (isWaiting && (before & WAITING) === 0) {
      this.#suspectAll(node.dependents)
      this.#options.onSuspect(key)
    }
    this.#forgetIfIdle(node)
    return steps
  }

  #setOwners(node: Node, head: ObjectHead, key: Key): Steps<void> | undefined {
    const before = node.owners
    const { ownersDigest } = head
    // If the digest is the same, the owners are the same, so do not parse them.
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
   * Sets the owners of an object that has many. Pauses regularly, so that other events can be
   * processed, which may also change owners. Ends early if the node was removed or its owners were
   * set again during a pause.
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
      // Bounded: `owners` has at most FEW_OWNERS_MAX entries, so each search is short
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
      // Bounded: `owners` has at most FEW_OWNERS_MAX entries, so each search is short
      if (!owners.includes(old)) {
        unlink(old, node)
        this.#forgetIfIdle(old)
      }
      // If the node was the last dependent that blocked this owner, the deletion of the owner can
      // continue.
      if (wereBlocked[at] === true && (old.bits & WAITING) !== 0 && !isBlocking(node, old))
        this.#suspect(old)
    }
  }

  /**
   * Returns the node of an owner. If the cache does not contain the owner under the key in the
   * reference, the dependent becomes a suspect.
   */
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
    // The object at this key has another uid. It is older, and its node will be replaced by the
    // event of the new object.
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
   * Moves the dependents of a node without a key to a node with a key. Both nodes represent the
   * same object.
   */
  #merge(virtual: Node, node: Node): void {
    // Iterate over a copy, because each dependent is removed from the Set.
    for (const dependent of [...all(virtual.dependents)]) replaceOwner(dependent, virtual, node)
    if (virtual.uid !== undefined) this.#learnUid(node, virtual.uid)
  }

  #learnUid(node: Node, uid: string): Node {
    // Copy the uid. It may be a substring of an object or of a request, and would then retain the
    // whole text in memory.
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
    // The deletion of a remote object is not certain, because a remote server may only have stopped
    // listing the object. The object is requested by name before any dependent is deleted.
    node.bits = key !== undefined && isRemoteKey(key) ? 0 : GONE
    for (const owner of listOf(owners)) {
      unlink(owner, node)
      if ((owner.bits & WAITING) !== 0) this.#suspect(owner)
      this.#forgetIfIdle(owner)
    }
    this.#suspectAll(node.dependents)
    this.#forgetIfIdle(node)
  }

  #suspectAll(dependents: Node['dependents']): void {
    if (dependents instanceof Set && dependents.size > FEW_DEPENDENTS_MAX)
      this.#options.onSuspects(keysOf(dependents))
    else for (const dependent of all(dependents)) this.#suspect(dependent)
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

/** Yields the keys of the nodes, without nodes that have no key. */
function* keysOf(nodes: Node | Set<Node> | undefined): Generator<Key, void, void> {
  for (const { key } of all(nodes)) if (key !== undefined) yield key
}

function listOf(owners: Node['owners']): readonly Node[] {
  if (owners === undefined) return []
  if (owners instanceof Node) return [owners]
  return owners instanceof ManyOwners ? [...owners.edges.keys()] : owners
}

/** Converts the list of owners to a map of owners. */
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
