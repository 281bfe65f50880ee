/** Finds the namespace of a request, for namespaceSelector and the expressions of policies. */
import { notFound } from '../../api/errors.ts'
import { matchesLabels } from '../../api/label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import { type MaybePromise, thenMaybe } from '../../lib/concurrency/maybe-promise.ts'
import type { Attributes } from '../admission.ts'
import type { Objects } from '../../api/object-access.ts'
import { invalidSelector, type MatchCriteria } from './criteria.ts'

const namespaces = { group: '', version: 'v1', plural: 'namespaces' } as const

/** Returns whether the request is for a namespace itself, or a subresource of it. */
export const isOfNamespaces = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  resource.group === '' && resource.plural === 'namespaces'

/**
 * Returns the name of the request's namespace. A Namespace counts as its own namespace. Empty for
 * other cluster-scoped objects.
 */
export const namespaceOf = (
  attributes: Pick<Attributes, 'resource' | 'namespace' | 'name'>,
): string => (isOfNamespaces(attributes) ? attributes.name : attributes.namespace)

/**
 * Returns the object's namespace if it is in memory, so that all plugins of a step see the same
 * state. Undefined if it is not in memory, or if the object is cluster-scoped.
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
    // The caller reads the namespace again, and gets the same error.
    found.catch(() => undefined)
    return undefined
  }
  if (found !== undefined) known.namespace = found
  return found
}

/**
 * Reads a namespace from the cache, or its latest state if the cache does not have it. Fails with
 * NotFound.
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
 * Returns whether the namespace selector matches. Cluster-scoped objects always match, but
 * namespaces match by their own labels: on a write, by their new labels.
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
