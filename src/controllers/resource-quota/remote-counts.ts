/**
 * Counts the objects of remote API servers in namespaces, for quotas that limit their number
 * (`count/things.example.com`). The limit is only reported and not enforced, because admission is
 * the task of the remote server that stores an object.
 */
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import type { Quantity } from '../../api/quantity.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import { count } from '../../admission/resource-quota/evaluator.ts'
import { RemoteInformer } from '../remote/remote-informer.ts'
import { RemoteKinds, type RemoteKindsOptions } from '../remote/remote-kinds.ts'
import type { RemoteObjects } from '../remote/remote-objects.ts'

/** Verbs that a resource must support to be counted, as in kube-controller-manager. */
const verbs = ['create', 'list', 'watch', 'delete']

export type RemoteCountsOptions = Omit<RemoteKindsOptions, 'verbs'> & {
  /**
   * Called when the number of objects in a namespace has changed. `name` is the name of the limited
   * resource. If `namespace` is undefined, all namespaces may have changed.
   */
  readonly onChange: (name: string, namespace: string | undefined) => void
}

type RemoteCount = {
  readonly objects: RemoteObjects
  readonly informer: RemoteInformer
  /** The number of objects by namespace. */
  readonly counts: Map<string, number>
}

export class RemoteCounts implements AsyncDisposable {
  readonly #kinds: RemoteKinds
  readonly #onChange: RemoteCountsOptions['onChange']
  readonly #counted = new Map<string, RemoteCount>()
  readonly #ending = new Set<Promise<void>>()

  constructor({ onChange, ...parts }: RemoteCountsOptions) {
    this.#kinds = new RemoteKinds({ ...parts, verbs })
    this.#onChange = onChange
  }

  /**
   * Begins to watch the resources that quotas limit by one of these names. Ends all other watches.
   */
  follow(names: ReadonlySet<string>): void {
    const wanted = new Map<string, RemoteObjects>()
    for (const { objects, isFollowed } of this.#kinds.refresh().kinds) {
      const { group, plural, isNamespaced } = objects.resource
      const name = `count/${plural}.${group}`
      if (isFollowed && isNamespaced && names.has(name)) wanted.set(name, objects)
    }
    for (const [name, { objects }] of this.#counted)
      if (wanted.get(name) !== objects) this.#end(name)
    for (const [name, objects] of wanted) if (!this.#counted.has(name)) this.#begin(name, objects)
  }

  /**
   * Returns the counts for the watched names. If a server has never been reached, its counts are
   * missing.
   */
  usageOf(quota: KubeObject, names: Iterable<string>): ResourceList {
    const used = new Map<string, Quantity>()
    const { scopes, scopeSelector } = fieldsOf(quota['spec'])
    // A quota with scopes does not apply to these objects, because only pods and similar objects
    // can belong to scopes.
    const hasScope = (Array.isArray(scopes) && scopes.length > 0) || scopeSelector !== undefined
    for (const name of names) {
      const one = this.#counted.get(name)
      if (one?.informer.isListed !== true) continue
      used.set(name, count(hasScope ? 0 : (one.counts.get(quota.metadata.namespace ?? '') ?? 0)))
    }
    return used
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of [...this.#counted.keys()]) this.#end(name)
    await Promise.all(this.#ending)
  }

  #begin(name: string, objects: RemoteObjects): void {
    const counts = new Map<string, number>()
    const seen = new Set<string>()
    const informer = new RemoteInformer(objects, {
      set: (key, head) => {
        if (seen.has(key) === (head !== undefined)) return
        const namespace = objects.keys.parse(key)?.namespace ?? ''
        const after = (counts.get(namespace) ?? 0) + (head === undefined ? -1 : 1)
        if (after === 0) counts.delete(namespace)
        else counts.set(namespace, after)
        if (head === undefined) seen.delete(key)
        else seen.add(key)
        if (informer.isListed) this.#onChange(name, namespace)
      },
      known: () => [],
    })
    this.#counted.set(name, { objects, informer, counts })
    void informer.listed.then(() => this.#onChange(name, undefined))
  }

  #end(name: string): void {
    const one = this.#counted.get(name)
    this.#counted.delete(name)
    if (one === undefined) return
    const ending = one.informer[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }
}
