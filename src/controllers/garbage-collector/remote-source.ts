/** A resource of a remote API server: its objects are asked for, and what is known of them is their metadata. */
import type { OwnerReference } from '../object-head.ts'
import { FollowedRemote } from '../remote/followed-remote.ts'
import type { RemoteResource } from '../remote/remote-content.ts'
import type { RemoteHead } from '../remote/remote-heads.ts'
import type { RemoteObjects } from '../remote/remote-objects.ts'
import type { Key } from './graph.ts'
import type { FollowedObjects, Found, Keys, Source, Told } from './source.ts'

export class RemoteSource implements Source {
  readonly identity: RemoteObjects
  #followed: FollowedRemote | undefined

  constructor(objects: RemoteObjects) {
    this.identity = objects
  }

  get remote(): RemoteObjects {
    return this.identity
  }

  get resource(): RemoteResource {
    return this.identity.resource
  }

  get keys(): Keys {
    return this.identity.keys
  }

  known(key: Key): Found | 'unknown' | undefined {
    if (this.#followed?.isListed !== true) return 'unknown'
    const head = this.#followed.get(key)
    return head && foundAt(key, head)
  }

  async get(key: Key): Promise<Found | undefined> {
    const head = await this.identity.get(key)
    return head && foundAt(key, head)
  }

  async isSomewhere({ name, uid }: OwnerReference): Promise<boolean> {
    for (const [, head] of this.#followed?.all() ?? [])
      if (head.uid === uid && head.name === name) return true
    return false
  }

  follow({ set, known }: Told): FollowedObjects {
    const followed = new FollowedRemote(this.identity, {
      set: (key, head) => {
        const steps = set(key, head)
        // At once: owners of an object of a remote server are limited by HEADS_BYTES_MAX, and rarely many.
        while (steps !== undefined && steps.next().done !== true);
      },
      known,
    })
    this.#followed = followed
    return {
      listed: followed.listed,
      tried: followed.tried,
      // As upstream: what was written at a remote server a moment ago may not be known yet, and one that is away holds up nobody.
      latest: async () => undefined,
      [Symbol.asyncDispose]: async () => {
        if (this.#followed === followed) this.#followed = undefined
        await followed[Symbol.asyncDispose]()
      },
    }
  }
}

const foundAt = (key: Key, head: RemoteHead): Found => ({
  key,
  resourceVersion: head.resourceVersion,
  head: () => head,
  ownerHead: () => head,
})
