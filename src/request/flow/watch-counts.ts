/**
 * Counts the watches that a write has to notify: those for its resource, its namespace, and the
 * object itself.
 */
import type { RequestInfo, ResourceInfo } from '../../api/context.ts'

export class WatchCounts {
  readonly #counts = new Map<string, number>()

  /**
   * Counts a watch. Returns a function that must be called once, when the watch ends. If `query`
   * contains a field selector, the watch might match only a few objects.
   */
  add(info: ResourceInfo, query: URLSearchParams): () => void {
    // A watch for the pods of one node is not counted, because few writes affect it.
    if (
      info.plural === 'pods' &&
      /(?:^|,)spec\.nodeName==?[^=,]/.test(query.get('fieldSelector') ?? '')
    )
      return nothing
    const key = keyOf(info, info.namespace, info.name)
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    return () => {
      const left = (this.#counts.get(key) ?? 1) - 1
      if (left === 0) this.#counts.delete(key)
      else this.#counts.set(key, left)
    }
  }

  /** Returns the number of watches to notify. Returns 0 if the request is not for a resource. */
  of(info: RequestInfo): number {
    if (info.kind !== 'resource' || this.#counts.size === 0) return 0
    const { namespace, name } = info
    let count = this.#counts.get(keyOf(info, '', '')) ?? 0
    if (namespace !== '') count += this.#counts.get(keyOf(info, namespace, '')) ?? 0
    if (name !== '') count += this.#counts.get(keyOf(info, namespace, name)) ?? 0
    return count
  }
}

const keyOf = ({ group, plural }: ResourceInfo, namespace: string, name: string): string =>
  `${group}/${plural}/${namespace}/${name}`

const nothing = (): void => undefined
