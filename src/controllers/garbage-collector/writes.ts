/**
 * The writes of the garbage collector. They are sent with the identity of its service account. Each
 * write requires the resourceVersion on which the decision was based.
 */
import type { Fields } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import type { OwnerReference } from '../object-head.ts'
import { failureText, NOT_FOUND } from '../remote/ask-remote.ts'
import { RemoteAway } from '../remote/remote-objects.ts'
import { objectPath } from '../served-resources.ts'
import type { Key } from './graph.ts'
import type { Source } from './source.ts'
import { type Outcome, outcomeOf, outcomeOrThrow } from '../write-outcome.ts'

export type Propagation = 'Background' | 'Foreground' | 'Orphan'

/** An object in the state in which it was read. */
export type ObjectRevision = {
  readonly source: Source
  readonly key: Key
  readonly uid: string
  /**
   * The resourceVersion of the object. Empty if the remote server does not use resource versions.
   */
  readonly resourceVersion: string
}

type WriteRequest = {
  readonly method: string
  readonly body: Fields
  readonly isMergePatch?: boolean
}

export class Writes {
  readonly #handle: Handler
  readonly #signal: AbortSignal

  constructor(handle: Handler, signal: AbortSignal) {
    this.#handle = handle
    this.#signal = signal
  }

  delete(read: ObjectRevision, propagationPolicy: Propagation): Promise<Outcome> {
    const preconditions = versionOf(read)
    return this.#send(read, {
      method: 'DELETE',
      body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, propagationPolicy },
    })
  }

  setOwners(read: ObjectRevision, owners: readonly Fields[]): Promise<Outcome> {
    return this.#patch(read, { ownerReferences: owners.length === 0 ? null : owners })
  }

  /** Removes the owner references with these uids. */
  dropOwners(
    read: ObjectRevision,
    all: readonly OwnerReference[],
    uids: ReadonlySet<string>,
  ): Promise<Outcome> {
    return this.setOwners(
      read,
      all.filter(({ uid }) => !uids.has(uid)).map(({ fields }) => fields),
    )
  }

  setFinalizers(read: ObjectRevision, finalizers: readonly string[]): Promise<Outcome> {
    return this.#patch(read, { finalizers: finalizers.length === 0 ? null : finalizers })
  }

  #patch(read: ObjectRevision, change: Fields): Promise<Outcome> {
    return this.#send(read, {
      method: 'PATCH',
      body: { metadata: { ...versionOf(read), ...change } },
      isMergePatch: true,
    })
  }

  async #send({ source, key }: ObjectRevision, sent: WriteRequest): Promise<Outcome> {
    const { namespace, name = '' } = source.keys.parse(key) ?? {}
    const path = objectPath(source.resource, namespace, name)
    if (source.remote === undefined)
      return outcomeOrThrow(
        path,
        await request(this.#handle, { ...sent, path, signal: this.#signal }),
      )
    const answer = await source.remote.send({ ...sent, path })
    if (answer.status === NOT_FOUND && !source.remote.isAbsent(answer, name))
      throw new RemoteAway(source.keys.prefix, failureText(path, answer))
    const outcome = outcomeOf(answer)
    if (outcome === undefined) throw new Error(failureText(path, answer))
    return outcome
  }
}

const versionOf = ({ uid, resourceVersion }: ObjectRevision): Fields =>
  resourceVersion === '' ? { uid } : { uid, resourceVersion }
