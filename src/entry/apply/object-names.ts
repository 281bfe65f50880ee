import type { KubeObject } from '../../api/object.ts'

/** The namespace of objects whose manifest has none. */
export const DEFAULT_NAMESPACE = 'default'

type NamedObject = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>

export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''

/**
 * Returns the name of a kind with its group, such as `Deployment.apps`. For the core group, returns
 * only the kind, such as `Pod`.
 */
export function groupKindOf({
  apiVersion,
  kind,
}: Pick<NamedObject, 'apiVersion' | 'kind'>): string {
  const group = groupOf(apiVersion)
  return group === '' ? kind : `${kind}.${group}`
}

/** Returns the name of an object as kubectl prints it, such as `deployment.apps/web`. */
export const describeObject = (object: NamedObject): string =>
  `${groupKindOf(object).toLowerCase()}/${object.metadata.name}`

/**
 * Returns a key that identifies an object on the server. The key does not depend on the version in
 * the manifest. The key of a cluster-scoped object contains the default namespace.
 */
export const keyOf = (object: NamedObject): string =>
  [
    groupKindOf(object),
    (object.metadata.namespace ?? '') || DEFAULT_NAMESPACE,
    object.metadata.name,
  ].join('/')
