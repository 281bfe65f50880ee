/**
 * The namespace of a request, which namespaceSelector and the expressions of policies are about.
 */
import { notFound } from '../../api/errors.ts'
import { matchesLabels } from '../../api/label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import { type MaybePromise, thenMaybe } from '../../lib/concurrency/maybe-promise.ts'
import type { Attributes } from '../admission.ts'
import type { Objects } from '../../api/object-access.ts'
import { invalidSelector, type MatchCriteria } from './criteria.ts'

const namespaces = { group: '', version: 'v1', plural: 'namespaces' } as const

/** Whether the request is about a namespace itself, or a part of it. */
export const isOfNamespaces = ({ resource }: Pick<Attributes, 'resource'>): boolean =>
  resource.group === '' && resource.plural === 'namespaces'

/** That of a namespace is its own name. Empty: the object is in no namespace. */
export const namespaceOf = (
  attributes: Pick<Attributes, 'resource' | 'namespace' | 'name'>,
): string => (isOfNamespaces(attributes) ? attributes.name : attributes.namespace)

/**
 * That of the object, if it is in memory: all plugins of a step see the same. Undefined: it is not,
 * or the object is in none.
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
    // The caller asks again, and meets the same failure.
    found.catch(() => undefined)
    return undefined
  }
  if (found !== undefined) known.namespace = found
  return found
}

/**
 * From the cache; a namespace that is not there is looked up in its latest state. Fails with
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
 * Objects in no namespace always match, but namespaces match by their own labels: those that they
 * are about to have.
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
