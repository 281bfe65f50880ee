import type { Target } from './fields.ts'

export const NAMESPACE = 'sweep'

/** Where objects of a kind are created; for a part of an object, the path of the part. */
export function collectionOf({ apiVersion, plural, isNamespaced, part }: Target): string {
  const place = isNamespaced ? `namespaces/${NAMESPACE}/` : ''
  if (part !== undefined)
    return `/api/v1/${place}${plural}/part${part === 'delete' ? '' : `/${part}`}`
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/${place}${plural}`
}
