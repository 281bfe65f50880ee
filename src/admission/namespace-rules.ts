/**
 * Reads the objects of one kind that apply to a namespace, such as its ResourceQuotas, from the
 * cache. For a namespace without any, the latest state is read once in a while, because another
 * replica may just have created one.
 */
import type { KubeObject } from '../api/object.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Objects, ResourceId } from '../api/object-access.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'

/** How long the absence of objects is cached, as in kube-apiserver. */
const NONE_MS = 30_000
/** Maximum number of namespaces for which the absence is cached. The oldest is evicted first. */
const NONE_MAX = 10_000

export function createNamespaceRules(
  objects: Pick<Objects, 'list'>,
  resource: ResourceId,
  clock: Clock,
): (namespace: string) => MaybePromise<readonly KubeObject[]> {
  /** Time until which the absence is cached, by namespace. */
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
