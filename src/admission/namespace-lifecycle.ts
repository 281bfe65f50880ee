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
 * How long this replica distrusts its cache after it has handled the delete of a namespace. If the
 * cache still contains the namespace as active, the replica reads the latest state.
 */
const DOUBT_MS = 30_000
/**
 * Maximum number of deleted namespaces that this replica remembers. If there are more, it forgets
 * the oldest one.
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
   * The recently deleted namespaces by name. The value is the time until which the cache is not
   * trusted if it contains the namespace as active.
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
 * Returns whether the request creates or updates an object in a namespace. Requests for Namespace
 * objects are not passed to this function.
 */
function isContent({ operation, resource, namespace }: Attributes): boolean {
  if (namespace === '' || operation === 'DELETE' || operation === 'CONNECT') return false
  // Access reviews pass even if the namespace does not exist. Otherwise users without access to a
  // namespace could find out whether it exists.
  return resource.group !== 'authorization.k8s.io'
}

export const isTerminatingNamespace = (namespace: KubeObject): boolean =>
  fieldsOf(namespace['status'])['phase'] === 'Terminating'
