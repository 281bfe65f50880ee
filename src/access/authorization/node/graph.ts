/**
 * Records which objects are related to a node: the pods that are bound to the node, the objects
 * that these pods refer to, the volumes bound to the claims of the pods, the secrets of these
 * volumes, and the attachments and ResourceSlices of the node.
 *
 * Each node counts the references of its pods. A decision therefore takes one or two lookups
 * regardless of the number of pods, and the cost of an update depends only on the number of
 * references of the pod.
 *
 * Objects are identified by `namespace/name`, or by the name alone if they are cluster-scoped.
 */
import { ownText } from '../../../lib/text/own-text.ts'

/** Resources that a pod can refer to. */
export type RelatedResource = 'secrets' | 'configmaps' | 'serviceaccounts' | 'resourceclaims'

/**
 * Returns a key that identifies the object to which a pod refers. Namespaces cannot contain a
 * slash, so keys are unique.
 */
export const referenceTo = (
  resource: RelatedResource | 'persistentvolumeclaims',
  namespace: string,
  name: string,
): string => `${resource}/${namespace}/${name}`

const claimPrefix = 'persistentvolumeclaims/'

export type PodContent = {
  readonly node: string
  /**
   * Keys that `referenceTo` returned, without duplicates. The graph retains them, so they must not
   * be substrings of longer strings, which would also stay in memory.
   */
  readonly references: readonly string[]
}

export type VolumeContent = {
  /** The key of the claim that the volume is bound to. */
  readonly claim: string
  /** The keys of the secrets that the volume refers to. */
  readonly secrets: readonly string[]
}

type Pod = { readonly node: Node; readonly references: readonly string[] }

/**
 * A node, with the number of its pods that refer to each object. Claims are counted separately,
 * because they lead to volumes.
 */
type Node = {
  readonly name: string
  pods: number
  readonly references: Map<string, number>
  readonly claims: Map<string, number>
}

const none: readonly string[] = []

export class NodeGraph {
  readonly #nodes = new Map<string, Node>()
  readonly #pods = new Map<string, Pod>()
  readonly #volumes = new Map<string, VolumeContent>()
  /**
   * For each claim, the names of the volumes that are bound to it. A claim has more than one volume
   * only if old volumes still refer to it.
   */
  readonly #volumesOfClaim = new Map<string, Set<string>>()
  readonly #attachments = new Map<string, string>()
  readonly #slices = new Map<string, string>()

  /** Updates a pod. If `content` is undefined, the pod does not exist or is not bound to a node. */
  setPod(name: string, content: PodContent | undefined): void {
    const known = this.#pods.get(name)
    // Most updates of a pod change only its status, which the graph does not use.
    if (known !== undefined && content !== undefined && isSamePod(known, content)) return
    if (known !== undefined) this.#release(known)
    if (content === undefined) {
      this.#pods.delete(name)
      return
    }
    const node = this.#nodeOf(content.node)
    node.pods++
    for (const reference of content.references) count(node, reference, 1)
    this.#pods.set(known === undefined ? ownText(name) : name, {
      node,
      references: content.references,
    })
  }

  /**
   * Updates a volume. If `content` is undefined, the volume does not exist or is not bound to a
   * claim.
   */
  setVolume(name: string, content: VolumeContent | undefined): void {
    const known = this.#volumes.get(name)
    if (known !== undefined) {
      const others = this.#volumesOfClaim.get(known.claim)
      others?.delete(name)
      if (others?.size === 0) this.#volumesOfClaim.delete(known.claim)
    }
    if (content === undefined) {
      this.#volumes.delete(name)
      return
    }
    const own = ownText(name)
    this.#volumes.set(own, content)
    const volumes = this.#volumesOfClaim.get(content.claim)
    if (volumes === undefined) this.#volumesOfClaim.set(content.claim, new Set([own]))
    else volumes.add(own)
  }

  /** Updates an attachment. If `node` is undefined, the attachment does not exist. */
  setAttachment(name: string, node: string | undefined): void {
    setOrDelete(this.#attachments, name, node)
  }

  /**
   * Updates a ResourceSlice. If `node` is undefined, the slice does not exist or does not belong to
   * a node.
   */
  setSlice(name: string, node: string | undefined): void {
    setOrDelete(this.#slices, name, node)
  }

  /** Returns the names of all objects of one kind in the graph. */
  names(what: 'pods' | 'volumes' | 'attachments' | 'slices'): Iterable<string> {
    switch (what) {
      case 'pods':
        return this.#pods.keys()
      case 'volumes':
        return this.#volumes.keys()
      case 'attachments':
        return this.#attachments.keys()
      case 'slices':
        return this.#slices.keys()
    }
  }

  hasPod(node: string, namespace: string, name: string): boolean {
    return this.#pods.get(`${namespace}/${name}`)?.node.name === node
  }

  refersTo(
    nodeName: string,
    resource: RelatedResource,
    { namespace, name }: NamespacedName,
  ): boolean {
    const node = this.#nodes.get(nodeName)
    if (node === undefined || namespace.includes('/')) return false
    const reference = referenceTo(resource, namespace, name)
    return (
      node.references.has(reference) || (resource === 'secrets' && this.#mounts(node, reference))
    )
  }

  hasClaim(node: string, { namespace, name }: NamespacedName): boolean {
    if (namespace.includes('/')) return false
    return (
      this.#nodes.get(node)?.claims.has(referenceTo('persistentvolumeclaims', namespace, name)) ??
      false
    )
  }

  hasVolume(node: string, name: string): boolean {
    const claim = this.#volumes.get(name)?.claim
    return claim !== undefined && (this.#nodes.get(node)?.claims.has(claim) ?? false)
  }

  hasAttachment(node: string, name: string): boolean {
    return this.#attachments.get(name) === node
  }

  hasSlice(node: string, name: string): boolean {
    return this.#slices.get(name) === node
  }

  /**
   * Whether the node has a claim that is bound to a volume with this secret. Iterates over the
   * claims of the node, because they are few, while all volumes may use the same secret.
   */
  #mounts({ claims }: Node, secret: string): boolean {
    for (const claim of claims.keys()) {
      for (const name of this.#volumesOfClaim.get(claim) ?? none) {
        if (this.#volumes.get(name)?.secrets.includes(secret) === true) return true
      }
    }
    return false
  }

  #nodeOf(name: string): Node {
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    const node: Node = { name, pods: 0, references: new Map(), claims: new Map() }
    this.#nodes.set(name, node)
    return node
  }

  #release({ node, references }: Pod): void {
    for (const reference of references) count(node, reference, -1)
    node.pods--
    if (node.pods === 0) this.#nodes.delete(node.name)
  }
}

const isSamePod = ({ node, references }: Pod, content: PodContent): boolean =>
  node.name === content.node &&
  references.length === content.references.length &&
  references.every((reference, at) => reference === content.references[at])

type NamespacedName = { readonly namespace: string; readonly name: string }

function count({ references, claims }: Node, reference: string, change: 1 | -1): void {
  const counts = reference.startsWith(claimPrefix) ? claims : references
  const after = (counts.get(reference) ?? 0) + change
  if (after === 0) counts.delete(reference)
  else counts.set(reference, after)
}

function setOrDelete<T>(map: Map<string, T>, name: string, value: T | undefined): void {
  if (value === undefined) map.delete(name)
  else map.set(ownText(name), value)
}
