/** What the collector writes: through the handler, as its service account. Each write names the version that it was decided on. */
import type { Fields } from '../../api/object.ts'
import { type HandleAs, request } from '../../api/own-request.ts'
import type { Item } from '../../cache/item.ts'
import type { OwnerReference } from '../object-head.ts'
import { objectPath } from '../served-resources.ts'
import type { Source } from './sources.ts'
import { type Outcome, outcomeOrThrow } from '../write-outcome.ts'

export type Propagation = 'Background' | 'Foreground' | 'Orphan'

/** An object as it was read. */
export type Read = { readonly source: Source; readonly item: Item; readonly uid: string }

export class Writes {
  readonly #handle: HandleAs
  readonly #signal: AbortSignal

  constructor(handle: HandleAs, signal: AbortSignal) {
    this.#handle = handle
    this.#signal = signal
  }

  async delete({ source, item, uid }: Read, propagationPolicy: Propagation): Promise<Outcome> {
    const preconditions = { uid, resourceVersion: String(item.revision) }
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, propagationPolicy }
    const path = pathOf(source, item)
    return outcomeOrThrow(path, await request(this.#handle, { method: 'DELETE', path, body, signal: this.#signal }))
  }

  setOwners(read: Read, owners: readonly Fields[]): Promise<Outcome> {
    return this.#patch(read, { ownerReferences: owners.length === 0 ? null : owners })
  }

  /** Without those owners. */
  dropOwners(read: Read, all: readonly OwnerReference[], uids: ReadonlySet<string>): Promise<Outcome> {
    return this.setOwners(
      read,
      all.filter(({ uid }) => !uids.has(uid)).map(({ fields }) => fields),
    )
  }

  setFinalizers(read: Read, finalizers: readonly string[]): Promise<Outcome> {
    return this.#patch(read, { finalizers: finalizers.length === 0 ? null : finalizers })
  }

  async #patch({ source, item, uid }: Read, change: Fields): Promise<Outcome> {
    const body = { metadata: { uid, resourceVersion: String(item.revision), ...change } }
    const path = pathOf(source, item)
    const sent = { method: 'PATCH', path, body, isMergePatch: true, signal: this.#signal }
    return outcomeOrThrow(path, await request(this.#handle, sent))
  }
}

function pathOf({ resource, keys }: Source, { key }: Item): string {
  const { namespace, name = '' } = keys.parse(key) ?? {}
  return objectPath(resource, namespace, name)
}
