/**
 * Reads and writes the field managers of an object, which are the entries of
 * metadata.managedFields. If an entry is unchanged, the same JavaScript object is written again,
 * with the same text.
 */
import { type Fields, fieldsOf, isFields, type Json, textOf } from '../../api/object.ts'
import { compareKeys, printString } from '../codec/json.ts'
import { once } from '../../lib/scheduling/parts.ts'
import { type FieldSet, isEmptySet } from './field-set.ts'
import { parseFieldsV1, printFieldsV1 } from './fields-v1.ts'
import { SHARED_CHARACTERS_MAX } from './field-set-cache.ts'

type Operation = 'Apply' | 'Update'
const operations: readonly Operation[] = ['Apply', 'Update']

/** A field manager and its operation, Apply or Update. */
export type Writer = {
  readonly manager: string
  readonly operation: Operation
  readonly apiVersion: string
  /** Name of the subresource, or empty for the object itself. */
  readonly subresource: string
}

export type Owner = Writer & {
  /** Time of the manager's last change. Undefined if the entry has no time. */
  readonly time: string | undefined
  readonly fields: FieldSet
  /**
   * The entry of managedFields from which this manager was read. Undefined if the manager was
   * changed since.
   */
  readonly entry: Fields | undefined
}

/** Field managers, keyed by identity (`identityOf`). */
export type Owners = ReadonlyMap<string, Owner>

/**
 * Returns the key of a manager. It contains the API version only for the operation Update.
 * Therefore, an applier has one entry for all versions, and an updater has an entry for each
 * version.
 */
export function identityOf({ manager, operation, apiVersion, subresource }: Writer): string {
  const version = operation === 'Update' ? `,"apiVersion":${printString(apiVersion)}` : ''
  const part = subresource === '' ? '' : `,"subresource":${printString(subresource)}`
  return `{"manager":${printString(manager)},"operation":"${operation}"${version}${part}}`
}

/**
 * Reads the managers of an object. Returns undefined if any entry is invalid. Callers then ignore
 * all entries.
 */
export function readOwners(managedFields: Json | undefined): Owners | undefined {
  const owners = new Map<string, Owner>()
  if (!Array.isArray(managedFields)) return owners
  for (const item of managedFields) {
    const entry = fieldsOf(item)
    const operation = operations.find((known) => known === entry['operation'])
    const fields = once('fields of entry', () => fieldsOfEntry(entry))
    const apiVersion = textOf(entry['apiVersion'])
    if (operation === undefined || fields === undefined || apiVersion === '') return undefined
    if (entry['fieldsType'] !== 'FieldsV1') return undefined
    const [manager, subresource] = [textOf(entry['manager']), textOf(entry['subresource'])]
    const time = typeof entry['time'] === 'string' ? entry['time'] : undefined
    const owner = { manager, operation, apiVersion, subresource, time, fields, entry }
    owners.set(identityOf(owner), owner)
  }
  return owners
}

/**
 * Parsed field sets by entry, for texts that are too long for the cache. All readers of an object
 * share its entries, so a long text is parsed only once and not for each write.
 */
const parsed = new WeakMap<Fields, { readonly fields: FieldSet | undefined }>()

function fieldsOfEntry(entry: Fields): FieldSet | undefined {
  const text = textOf(entry['fieldsV1']) || '{}'
  if (text.length <= SHARED_CHARACTERS_MAX) return parseFieldsV1(text)
  const known = parsed.get(entry)
  if (known !== undefined) return known.fields
  const fields = parseFieldsV1(text)
  parsed.set(entry, { fields })
  return fields
}

/**
 * Returns the entries in the order of kube-apiserver, without managers that own no fields. Returns
 * undefined if there are no entries.
 */
export function printOwners(owners: Owners): readonly Fields[] | undefined {
  const all: Owner[] = []
  for (const owner of owners.values()) if (!isEmptySet(owner.fields)) all.push(owner)
  return all.length === 0 ? undefined : all.sort(compareOwners).map(entryOf)
}

function entryOf({
  manager,
  operation,
  apiVersion,
  time,
  fields,
  subresource,
  entry,
}: Owner): Fields {
  if (entry !== undefined) return entry
  const fieldsV1 = once('fieldsV1 of entry', () => printFieldsV1(fields))
  const made: { [name: string]: string } = { manager, operation, apiVersion }
  if (time !== undefined) made['time'] = time
  made['fieldsType'] = 'FieldsV1'
  made['fieldsV1'] = fieldsV1
  if (subresource !== '') made['subresource'] = subresource
  if (fieldsV1.length > SHARED_CHARACTERS_MAX) parsed.set(made, { fields })
  return made
}

function compareOwners(one: Owner, other: Owner): number {
  return (
    compareKeys(one.operation, other.operation) ||
    compareKeys(one.time ?? '', other.time ?? '') ||
    compareKeys(one.manager, other.manager) ||
    compareKeys(one.apiVersion, other.apiVersion) ||
    compareKeys(one.subresource, other.subresource)
  )
}

export const withFields = (owner: Owner, fields: FieldSet): Owner =>
  fields === owner.fields ? owner : { ...owner, fields, entry: undefined }

/** Whether two lists of entries are equal, except for their times. */
export function isSameButTimes(one: Json | undefined, other: Json | undefined): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false
  return other.every((entry: Json, at) => {
    const own: Json = one[at] ?? null
    return own === entry || isSameEntry(own, entry)
  })
}

const isSameEntry = (one: Json, other: Json): boolean =>
  isFields(one) &&
  isFields(other) &&
  timeless.every((name) => textOf(one[name]) === textOf(other[name]))

/**
 * The fields of an entry that are compared. The long one is the last, so that it is rarely
 * compared.
 */
const timeless = ['manager', 'operation', 'apiVersion', 'subresource', 'fieldsV1'] as const
