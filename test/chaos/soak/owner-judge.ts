/**
 * Receives the events of objects that own each other, in the order of their revisions, and detects
 * wrong deletions.
 */
import { fieldsOf, itemsOf, textOf, textsOf } from '../../../src/api/object.ts'
import type { StreamedEvent } from './event-stream.ts'

export type Meta = {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly isDeleting: boolean
  readonly finalizers: readonly string[]
  readonly owners: readonly { readonly name: string; readonly uid: string }[]
}

export class OwnerJudge {
  readonly live = new Map<string, Meta>()
  /** UIDs of objects that no longer exist. */
  readonly gone = new Set<string>()
  /** UIDs of objects that the test itself has deleted or may have deleted. */
  readonly asked = new Set<string>()
  /**
   * All deleted objects. `fault` describes what is wrong with a deletion, unless the test itself
   * has requested it.
   */
  readonly #deleted: { readonly meta: Meta; readonly fault: string | undefined }[] = []
  /** UIDs of objects that are or were waiting for the deletion of their dependents. */
  readonly #waited = new Set<string>()

  see({ type, object }: StreamedEvent): void {
    const metadata = readMeta(object)
    const { uid } = metadata
    // An object that is marked for deletion was judged when it was marked. Its removal is not
    // judged again.
    const isDecided = this.live.get(uid)?.isDeleting === true
    const isDeleted = type === 'DELETED' || metadata.isDeleting
    if (isDeleted && !isDecided)
      this.#deleted.push({ meta: metadata, fault: this.#faultOf(metadata) })
    if (isWaiting(metadata)) this.#waited.add(uid)
    if (type === 'DELETED') {
      this.live.delete(uid)
      this.gone.add(uid)
    } else this.live.set(uid, metadata)
  }

  #faultOf({ name, resourceVersion, owners }: Meta): string | undefined {
    if (owners.length === 0) return `${name} was deleted without an owner`
    for (const reference of owners) {
      const owner = this.live.get(reference.uid)
      // Ignore owners that have ever waited for their dependents. They may have been waiting when
      // the garbage collector decided to delete this object, so the deletion may be correct.
      if (owner === undefined || owner.name !== reference.name || this.#waited.has(owner.uid))
        continue
      return `${name} was deleted at ${resourceVersion}, but its owner ${owner.name} was there`
    }
    return undefined
  }

  /**
   * Returns the deletions that the test did not request. They are known only at the end of the
   * test, because the event of a deletion can arrive before the response to the request.
   */
  #byCollector(): { readonly fault: string | undefined }[] {
    return this.#deleted.filter(({ meta: { uid } }) => !this.asked.has(uid))
  }

  get collected(): number {
    return this.#byCollector().length
  }

  faults(): string[] {
    return this.#byCollector().flatMap(({ fault }) => fault ?? [])
  }

  garbage(): string[] {
    const isGarbage = ({ owners }: Meta): boolean =>
      owners.length > 0 && owners.every(({ uid, name }) => this.live.get(uid)?.name !== name)
    return [...this.live.values()].filter(isGarbage).map(({ name }) => name)
  }
}

/**
 * Reads the metadata of an object. Throws an error if the name, the UID or the resourceVersion is
 * missing.
 */
function readMeta({ metadata }: StreamedEvent['object']): Meta {
  const { name, uid, resourceVersion, deletionTimestamp, finalizers, ownerReferences } =
    fieldsOf(metadata)
  const owners = itemsOf(ownerReferences).map((owner) => ({
    name: textOf(owner['name']),
    uid: textOf(owner['uid']),
  }))
  return {
    name: textOf(name),
    uid: textOf(uid),
    resourceVersion: textOf(resourceVersion),
    isDeleting: deletionTimestamp !== undefined,
    finalizers: textsOf(finalizers),
    owners,
  }
}

const isWaiting = ({ isDeleting, finalizers }: Meta): boolean =>
  isDeleting && finalizers.includes('foregroundDeletion')
