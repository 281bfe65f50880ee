/** Which objects of a resource a list or a watch is about: a range of keys, and what to look for in it. */
import { badRequest } from '../api/errors.ts'
import { type FieldTerm, parseFieldSelector } from '../api/field-selector.ts'
import { matchesLabels, parseLabelSelector } from '../api/label-selector.ts'
import { checkPathSegment } from '../api/names.ts'
import type { KubeObject } from '../api/object.ts'
import type { ResourceRequest } from '../registry/resource.ts'
import { type KeyRange, rangeOfKey, type ResourceKeys } from '../storage/keys.ts'
import { fieldReader } from './field-labels.ts'

export type Chosen = {
  readonly range: KeyRange
  /** Undefined: everything in the range. */
  readonly matches: ((object: KubeObject) => boolean) | undefined
}

type Selectors = { readonly labelSelector: string; readonly fieldSelector: string }

/** Fails with a BadRequest for a selector that cannot be read, or names a field that the kind does not offer. */
export function choose(request: ResourceRequest, selectors: Selectors, keys: ResourceKeys): Chosen {
  const { resource, namespace } = request
  if (selectors.labelSelector === '' && selectors.fieldSelector === '' && request.name === '') {
    return { range: keys.range(namespace === '' ? undefined : namespace), matches: undefined }
  }
  const requirements = parseLabelSelector(selectors.labelSelector)
  const terms = parseFieldSelector(selectors.fieldSelector)
  const readers = terms.map(({ field }) => fieldReader(resource, field))
  if (request.name !== '' && nameIn(terms) !== request.name && terms.length > 0) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  }
  const name = request.name === '' ? nameIn(terms) : request.name
  const isOneKey = name !== '' && (namespace !== '' || !resource.isNamespaced)
  const range = isOneKey ? rangeOfKey(keys.key(namespace, name)) : keys.range(namespace === '' ? undefined : namespace)
  if (requirements.length === 0 && terms.length === 0) return { range, matches: undefined }
  const matches = (object: KubeObject): boolean =>
    matchesLabels(requirements, object.metadata.labels) &&
    terms.every(({ isEqual, value }, at) => (readers[at]?.(object) === value) === isEqual)
  return { range, matches }
}

/** A name that is asked for by equality makes a list a look at one key. */
function nameIn(terms: readonly FieldTerm[]): string {
  const name = terms.find(({ field, isEqual }) => field === 'metadata.name' && isEqual)?.value ?? ''
  return checkPathSegment(name).length === 0 ? name : ''
}
