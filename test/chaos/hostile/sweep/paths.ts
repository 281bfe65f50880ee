import type { Target } from './fields.ts'

export const NAMESPACE = 'sweep'

/** Returns the path at which objects of a kind are created, or the path of a subresource. */
export function collectionOf({ apiVersion, plural, isNamespaced, part }: Target): string {
  const place = isNamespaced ? `namespaces/${NAMESPACE}/` : ''
  if (part !== undefined)
    return `/api/v1/${place}${plural}/part${part === 'delete' ? '' : `/${part}`}`
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/${place}${plural}`
}
