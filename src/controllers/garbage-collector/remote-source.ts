/**
 * A resource of a remote API server. Its objects are requested from that server, and only their
 * metadata is read.
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
        // Run all steps without a pause. HEADS_BYTES_MAX limits the number of owners of a remote
        // object.
        while (steps !== undefined && steps.next().done !== true);
      },
      known,
    })
    this.#informer = informer
    return {
      listed: informer.listed,
      tried: informer.tried,
      // Do not wait for recent writes on a remote server, because an unreachable server would block
      // other work. kube-controller-manager does not wait for them either.
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
