/**
 * Reads the objects of one kind that apply to a namespace, such as the ResourceQuotas, from the
 * cache. If the namespace has no such object in the cache, reads the latest state from time to
 * time, because another replica may just have created one.
 */
import type { KubeObject } from '../api/object.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Objects, ResourceId } from '../api/object-access.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'

/**
 * How long the server remembers that a namespace has no object of the kind, as in kube-apiserver.
 */
const NONE_MS = 30_000
/**
 * Maximum number of namespaces for which the server remembers that they have no object of the kind.
 * When there are more, the oldest one is evicted.
 */
const NONE_MAX = 10_000

export function createNamespaceRules(
  objects: Pick<Objects, 'list'>,
  resource: ResourceId,
  clock: Clock,
): (namespace: string) => MaybePromise<readonly KubeObject[]> {
  /**
   * Time until which a namespace is assumed to have no object of the kind, by name of the
   * namespace.
   */
  const none = new Map<string, number>()
  const isEnough = (known: readonly KubeObject[], namespace: string): boolean =>
    known.length > 0 || (none.get(namespace) ?? 0) > clock.monotonicMs()
  const lookUp = async (
    namespace: string,
    known: MaybePromise<readonly KubeObject[]>,
  ): Promise<readonly KubeObject[]> => {
    const found = await known
    if (isEnough(found, namespace)) return found
    const latest = await objects.list(resource, namespace, 'latest')
    none.delete(namespace)
    none.set(namespace, clock.monotonicMs() + NONE_MS)
    const [oldest] = none.keys()
    if (none.size > NONE_MAX && oldest !== undefined) none.delete(oldest)
    return latest
  }
  return (namespace) => {
    const known = objects.list(resource, namespace, 'any')
    return known instanceof Promise || !isEnough(known, namespace)
      ? lookUp(namespace, known)
      : known
  }
}
