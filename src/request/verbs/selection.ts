/** Computes which objects a list or a watch selects: a key range and a filter. */
import { badRequest } from '../../api/errors.ts'
import { type FieldTerm, parseFieldSelector } from '../../api/field-selector.ts'
import { parseLabelSelector, type Requirement } from '../../api/label-selector.ts'
import { checkPathSegment } from '../../api/names.ts'
import type { Matches } from '../../storage/cache/item.ts'
import { selects, type SelectorTerm } from '../../storage/cache/selector.ts'
import type { IndexedValue } from '../../storage/cache/tree.ts'
import type { Resource } from '../../registry/resource.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { Key } from '../../storage/engine.ts'
import { type KeyRange, rangeOfKey, type ResourceKeys, toKey } from '../../storage/keys.ts'
import { fieldReader } from './field-labels.ts'

export type SelectionPlan = {
  readonly range: KeyRange
  /** Whether the range has a single key. */
  readonly isOneKey: boolean
  /** Filters the objects in the range. Undefined if all of them are selected. */
  readonly matches: Matches | undefined
  /** Values that all selected objects have, and for which an index might exist. */
  readonly by?: readonly IndexedValue[] | undefined
  /**
   * Returns a filter for the part of the selector that kube-apiserver looks up in an index. Absent
   * if kube-apiserver uses no index for this selector.
   */
  readonly indexed?: (() => Matches) | undefined
  /** Suffix of all selected keys, which is the name of the objects. */
  readonly name?: Key | undefined
}

export type Selectors = {
  readonly requirements: readonly Requirement[]
  readonly terms: readonly FieldTerm[]
}

/** Parses the selectors. Fails with BadRequest if a selector cannot be parsed. */
export function parseSelectors(
  { labelSelector, fieldSelector }: SelectorOptions,
  release: number,
): Selectors {
  if (labelSelector === '' && fieldSelector === '') return everything
  return {
    requirements: parseLabelSelector(labelSelector, release),
    terms: parseFieldSelector(fieldSelector),
  }
}

type SelectorOptions = { readonly labelSelector: string; readonly fieldSelector: string }

const everything: Selectors = { requirements: [], terms: [] }

/** Computes the selection. Fails with BadRequest for a field that the kind does not support. */
export function choose(
  request: ResourceRequest,
  { requirements, terms }: Selectors,
  keys: ResourceKeys,
): SelectionPlan {
  const { resource } = request
  if (requirements.length === 0 && terms.length === 0 && request.name === '') {
    const { namespace } = request
    return {
      range: keys.range(namespace === '' ? undefined : namespace),
      isOneKey: false,
      matches: undefined,
    }
  }
  const selectorTerms = terms.map((term) => selectorTerm(term, resource, keys))
  if (request.name !== '' && nameIn(terms) !== request.name && terms.length > 0) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  }
  const name = request.name === '' ? nameIn(terms) : request.name
  const namespace =
    request.namespace === '' && resource.isNamespaced ? namespaceIn(terms) : request.namespace
  const isOneKey = name !== '' && (namespace !== '' || !resource.isNamespaced)
  const range = isOneKey
    ? rangeOfKey(keys.key(namespace, name))
    : keys.range(namespace === '' ? undefined : namespace)
  if (requirements.length === 0 && terms.length === 0)
    return { range, isOneKey, matches: undefined }
  return {
    range,
    isOneKey,
    matches: selects({ requirements, terms: selectorTerms }),
    by: isOneKey ? undefined : valuesToLookUp({ requirements, terms }, resource.selection.indexed),
    indexed: isOneKey || resource.isCustom ? undefined : indexed(selectorTerms, resource),
    name: isOneKey || name === '' || name.length > HINT_CHARACTERS_MAX ? undefined : toKey(name),
  }
}

function indexed(
  terms: readonly SelectorTerm[],
  { selection }: Resource,
): (() => Matches) | undefined {
  const { indexed: indexedFields = [] } = selection
  // Bounded: a kind has only a few indexed fields, so each search is short.
  const found = terms.filter(
    (term) => term.isEqual && 'field' in term && indexedFields.includes(term.field),
  )
  return found.length === 0 ? undefined : () => selects({ requirements: [], terms: found })
}

/**
 * Maximum number of values and names to look up in indexes, and their maximum length. Further
 * values are ignored, because they are not needed for a correct result, and the cache would store
 * them in the keys of lookup results.
 */
const HINTS_MAX = 8
const HINT_CHARACTERS_MAX = 512

/**
 * Returns values that all selected objects have, and for which an index might exist. Values of
 * fields come first.
 */
export function valuesToLookUp(
  { requirements, terms }: Selectors,
  indexedFields: readonly string[] = [],
): readonly IndexedValue[] {
  // Bounded: a kind has only a few indexed fields, so each search is short.
  const fields = terms.filter(({ field, isEqual }) => isEqual && indexedFields.includes(field))
  return [...fields, ...requirements.flatMap(valueOfLabel)]
    .filter(({ value }) => value.length <= HINT_CHARACTERS_MAX)
    .slice(0, HINTS_MAX)
}

function valueOfLabel(requirement: Requirement): IndexedValue[] {
  if (requirement.operator !== 'in') return []
  const [value, other] = requirement.values
  return value === undefined || other !== undefined ? [] : [{ label: requirement.key, value }]
}

/**
 * Returns a function that checks whether an object matches a term of a field selector. Name and
 * namespace are compared with the key, without decoding the object.
 */
function selectorTerm(
  { field, isEqual, value }: FieldTerm,
  resource: Resource,
  keys: ResourceKeys,
): SelectorTerm {
  const read = fieldReader(resource, field)
  if (field === 'metadata.name') return { isEqual, value, isOf: keys.hasName(value) }
  if (field === 'metadata.namespace') return { isEqual, value, isOf: keys.hasNamespace(value) }
  return { isEqual, value, field, read }
}

/**
 * Returns the name that the terms require. A term metadata.name=x reduces a list to reading one
 * key, and metadata.namespace=x restricts the key range.
 */
const nameIn = (terms: readonly FieldTerm[]): string => asked(terms, 'metadata.name')
const namespaceIn = (terms: readonly FieldTerm[]): string => asked(terms, 'metadata.namespace')

function asked(terms: readonly FieldTerm[], wanted: string): string {
  const value = terms.find(({ field, isEqual }) => field === wanted && isEqual)?.value ?? ''
  return checkPathSegment(value).length === 0 ? value : ''
}
