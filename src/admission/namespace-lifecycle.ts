/**
 * Rejects writes in a namespace that does not exist, creates in a namespace that is being deleted,
 * and the deletion of the three built-in namespaces. Namespaces are read from the cache. The latest
 * state is read before a request is rejected with NotFound, and for a while after a delete. The
 * transaction that stores a new object checks the namespace again (request/parents.ts).
 */
import { forbidden, namespaceTerminating, notFound } from '../api/errors.ts'
import { fieldsOf, type KubeObject } from '../api/object.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { MaybePromise } from '../lib/concurrency/maybe-promise.ts'
import { type Attributes, type Plugin, shownName } from './admission.ts'
import { isOfNamespaces } from './match/namespaces.ts'

const immortal: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])

/**
 * How long after a delete this replica does not trust the cache. If the namespace is still active
 * in the cache, the replica reads the latest state.
 */
const DOUBT_MS = 30_000
/**
 * Maximum number of deletes that are remembered. When there are more, the oldest one is dropped.
 */
const DOUBTED_MAX = 1000

export type NamespaceLifecycleOptions = {
  /** Reads a namespace. Returns undefined if it does not exist. */
  readonly readNamespace: (
    name: string,
    at: 'any' | 'latest',
  ) => MaybePromise<KubeObject | undefined>
  readonly clock: Clock
}

export function createNamespaceLifecycle({
  readNamespace,
  clock,
}: NamespaceLifecycleOptions): Plugin {
  /**
   * Time until which the cached state of an active namespace is not trusted, by name of the
   * namespace.
   */
  const doubted = new Map<string, number>()

  const doubt = (name: string): void => {
    doubted.delete(name)
    doubted.set(name, clock.monotonicMs() + DOUBT_MS)
    const [oldest] = doubted.keys()
    if (doubted.size > DOUBTED_MAX && oldest !== undefined) doubted.delete(oldest)
  }

  const isDoubted = (name: string): boolean => (doubted.get(name) ?? 0) > clock.monotonicMs()

  const checkOwn = ({ operation, resource, name }: Attributes): void => {
    if (operation !== 'DELETE') return
    if (immortal.has(name)) throw forbidden(resource, name, 'this namespace may not be deleted')
    doubt(name)
  }

  const isAlive = (found: KubeObject, name: string): boolean =>
    !isTerminatingNamespace(found) && !isDoubted(name)

  const checkContent = async (
    attributes: Attributes,
    known: MaybePromise<KubeObject | undefined>,
  ): Promise<KubeObject | undefined> => {
    const { operation, resource, namespace, object } = attributes
    let found = await known
    if (found === undefined || (!isTerminatingNamespace(found) && isDoubted(namespace))) {
      found = await readNamespace(namespace, 'latest')
    }
    if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace)
    if (operation === 'UPDATE' || !isTerminatingNamespace(found)) return object
    throw namespaceTerminating(resource, shownName(attributes), namespace)
  }

  return {
    name: 'NamespaceLifecycle',
    mutate: (attributes) => {
      const { namespace, object } = attributes
      if (isOfNamespaces(attributes)) {
        checkOwn(attributes)
        return object
      }
      if (!isContent(attributes)) return object
      const known = readNamespace(namespace, 'any')
      if (known === undefined || known instanceof Promise || !isAlive(known, namespace)) {
        return checkContent(attributes, known)
      }
      attributes.known.namespace = known
      return object
    },
  }
}

/**
 * Returns whether the request creates or updates an object in a namespace. The caller has already
 * handled requests for a namespace itself.
 */
function isContent({ operation, resource, namespace }: Attributes): boolean {
  if (namespace === '' || operation === 'DELETE' || operation === 'CONNECT') return false
  // The outcome of an access review must not reveal whether a namespace exists, because the user
  // may have no access to it.
  return resource.group !== 'authorization.k8s.io'
}

export const isTerminatingNamespace = (namespace: KubeObject): boolean =>
  fieldsOf(namespace['status'])['phase'] === 'Terminating'
