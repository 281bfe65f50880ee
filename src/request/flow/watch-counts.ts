/**
 * How many watches a write has to be told to: those of its resource, of its namespace, and of the
 * object itself.
 */
import type { RequestInfo, ResourceInfo } from '../../api/context.ts'

export class WatchCounts {
  readonly #counts = new Map<string, number>()

  /**
   * Returns what is to be called once, when the watch ends. `query`: its field selector may make it
   * one of few objects.
   */
  add(info: ResourceInfo, query: URLSearchParams): () => void {
    // Pods of one node wake only the watches of that node, which few writes concern.
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

  /** 0 for what is no write of a resource. */
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
