/**
 * A resource of a remote API server: its objects are asked for, and what is known of them is their
 * metadata.
 */
import type { OwnerReference } from '../object-head.ts'
import { RemoteInformer } from '../remote/remote-informer.ts'
import type { RemoteResource } from '../remote/remote-content.ts'
import type { RemoteHead } from '../remote/remote-heads.ts'
import type { RemoteObjects } from '../remote/remote-objects.ts'
import type { Key } from './graph.ts'
import type { ObjectsInformer, SourceObject, Keys, Source, SourceListener } from './source.ts'

export class RemoteSource implements Source {
  readonly identity: RemoteObjects
  #informer: RemoteInformer | undefined

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

  known(key: Key): SourceObject | 'unknown' | undefined {
    if (this.#informer?.isListed !== true) return 'unknown'
    const head = this.#informer.get(key)
    return head && foundAt(key, head)
  }

  async get(key: Key): Promise<SourceObject | undefined> {
    const head = await this.identity.get(key)
    return head && foundAt(key, head)
  }

  async isSomewhere({ name, uid }: OwnerReference): Promise<boolean> {
    for (const [, head] of this.#informer?.all() ?? [])
      if (head.uid === uid && head.name === name) return true
    return false
  }

  follow({ set, known }: SourceListener): ObjectsInformer {
    const informer = new RemoteInformer(this.identity, {
      set: (key, head) => {
        const steps = set(key, head)
        // At once: owners of an object of a remote server are limited by HEADS_BYTES_MAX, and
        // rarely many.
        while (steps !== undefined && steps.next().done !== true);
      },
      known,
    })
    this.#informer = informer
    return {
      listed: informer.listed,
      tried: informer.tried,
      // As upstream: what was written at a remote server a moment ago may not be known yet, and one
      // that is away holds up nobody.
      latest: async () => undefined,
      [Symbol.asyncDispose]: async () => {
        if (this.#informer === informer) this.#informer = undefined
        await informer[Symbol.asyncDispose]()
      },
    }
  }
}

const foundAt = (key: Key, head: RemoteHead): SourceObject => ({
  key,
  resourceVersion: head.resourceVersion,
  head: () => head,
  ownerHead: () => head,
})
