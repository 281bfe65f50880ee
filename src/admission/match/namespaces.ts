/**
 * Finds the namespace of a request, for namespace selectors and for the expressions of policies.
 */
import { notFound } from '../../api/errors.ts'
import { matchesLabels } from '../../api/label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import { type MaybePromise, thenMaybe } from '../../lib/concurrency/maybe-promise.ts'
import type { Attributes } from '../admission.ts'
import type { Objects } from '../../api/object-access.ts'
import { invalidSelector, type MatchCriteria } from './criteria.ts'

const namespaces = { group: '', version: 'v1', plural: 'namespaces' } as const

/** Returns whether the request is for a Namespace, or for a subresource of a Namespace. */
export const isOfNamespaces = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  resource.group === '' && resource.plural === 'namespaces'

/**
 * Returns the name of the request's namespace. For a Namespace, returns its own name. For other
 * cluster-scoped objects, returns an empty string.
 */
export const namespaceOf = (
  attributes: Pick<Attributes, 'resource' | 'namespace' | 'name'>,
): string => (isOfNamespaces(attributes) ? attributes.name : attributes.namespace)

/**
 * Returns the Namespace that contains the object of the request, if it is in memory. All plugins of
 * a step get the same state of the Namespace. Returns undefined if the Namespace is not in memory,
 * or if the object of the request is cluster-scoped.
 */
export function knownNamespace(
  attributes: Attributes,
  objects: Pick<Objects, 'get'>,
): KubeObject | undefined {
  const { namespace, known } = attributes
  if (known.namespace !== undefined) return known.namespace
  if (namespace === '' || isOfNamespaces(attributes)) return undefined
  const found = objects.get(namespaces, { namespace: '', name: namespace }, 'any')
  if (found instanceof Promise) {
    // Ignore the error here. The caller reads the namespace again and gets the same error.
    found.catch(() => undefined)
    return undefined
  }
  if (found !== undefined) known.namespace = found
  return found
}

/**
 * Reads a namespace from the cache. If it is not in the cache, reads the latest state. Fails with
 * NotFound if the namespace does not exist.
 */
export function findNamespace(
  objects: Pick<Objects, 'get'>,
  name: string,
): MaybePromise<KubeObject> {
  const known = objects.get(namespaces, { namespace: '', name }, 'any')
  return known === undefined || known instanceof Promise ? findLater(objects, name, known) : known
}

async function findLater(
  objects: Pick<Objects, 'get'>,
  name: string,
  known: MaybePromise<KubeObject | undefined>,
): Promise<KubeObject> {
  const found = (await known) ?? (await objects.get(namespaces, { namespace: '', name }, 'latest'))
  if (found === undefined) throw notFound(namespaces, name)
  return found
}

/**
 * Returns whether the namespace selector matches the labels of the object's namespace. For a
 * Namespace, the selector is compared with its own labels; in a create or an update, with the new
 * labels. Other cluster-scoped objects always match.
 */
export function matchesNamespaceSelector(
  { namespaceSelector }: MatchCriteria,
  attributes: Attributes,
  objects: Pick<Objects, 'get'>,
): MaybePromise<boolean> {
  if (namespaceSelector === undefined) throw invalidSelector('namespaceSelector')
  const name = namespaceOf(attributes)
  if (namespaceSelector.length === 0 || (name === '' && !isOfNamespaces(attributes))) return true
  const { operation, subresource, object } = attributes
  const isWritten = subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')
  if (isOfNamespaces(attributes) && isWritten)
    return matchesLabels(namespaceSelector, object?.metadata.labels)
  const found = findNamespace(objects, name)
  const isMatched = ({ metadata }: KubeObject): boolean =>
    matchesLabels(namespaceSelector, metadata.labels)
  return thenMaybe(found, isMatched)
}
