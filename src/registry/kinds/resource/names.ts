/** Rules for names of drivers, pools, devices and attributes, and for lists of such names. */
import { cutText } from '../../../lib/text/cut-text.ts'
import { quote } from '../../../api/quote.ts'
import {
  checked,
  duplicateShown,
  faultsOfEach,
  type FieldFault,
  invalidValue,
  required,
  tooLong,
  tooMany,
} from '../../../api/field-fault.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../api/names.ts'
import type { Fields, Json } from '../../../api/object.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { mapEach, once } from '../../../lib/scheduling/parts.ts'
import { validateDriverName } from '../storage/csi-node.ts'

const POOL_NAME_BYTES_MAX = 253
const IDENTIFIER_BYTES_MAX = 32
/**
 * Maximum number of characters of a key that an error shows: a domain, a slash and an identifier.
 * Longer keys are truncated in the middle.
 */
const KEY_SHOWN_MAX = 63 + 1 + IDENTIFIER_BYTES_MAX

/**
 * The first release in which a list that is too long has only this error, the error of a duplicate
 * names the item instead of its key, and incomplete names are invalid instead of missing.
 */
export const WHOLE_ITEMS_SINCE = 35

export const validateLabel = (name: string, path: string): FieldFault[] =>
  checked(path, name, checkDnsLabel)
export const validateSubdomain = (name: string, path: string): FieldFault[] =>
  checked(path, name, checkDnsSubdomain)

export function validateClassName(name: string, path: string): FieldFault[] {
  return name === '' ? [required(path)] : validateSubdomain(name, path)
}

export function validatePoolName(name: string, path: string): FieldFault[] {
  if (name === '') return [required(path)]
  return [
    ...(Buffer.byteLength(name) > POOL_NAME_BYTES_MAX ? [tooLong(path, POOL_NAME_BYTES_MAX)] : []),
    ...name.split('/').flatMap((part) => validateSubdomain(part, path)),
  ]
}

const identifierRule =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"

function validateIdentifier(id: string, path: string): FieldFault[] {
  const faults =
    Buffer.byteLength(id) > IDENTIFIER_BYTES_MAX ? [tooLong(path, IDENTIFIER_BYTES_MAX)] : []
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(id)) return faults
  const message = `Invalid value: ${quote(id)}: ${identifierRule}`
  return [...faults, { path, reason: 'FieldValueTypeInvalid', message }]
}

/**
 * Validates a name of the form `name` or `domain/name`. As in kube-apiserver, names with several
 * slashes are not validated.
 */
export function validateQualified(name: string, path: string, release: number): FieldFault[] {
  const isLater = release >= WHOLE_ITEMS_SINCE
  const missing = (why: string): FieldFault =>
    isLater ? invalidValue(path, '', why) : required(path, why)
  if (name === '' && !isLater) return [missing('name required')]
  const parts = name.split('/')
  const [domain = '', id = ''] = parts
  if (parts.length === 1) return validateIdentifier(domain, path)
  if (parts.length > 2) return []
  return [
    ...(domain === ''
      ? [missing('the domain must not be empty')]
      : validateDriverName(domain, path, release)),
    ...(id === '' ? [missing('the name must not be empty')] : validateIdentifier(id, path)),
  ]
}

type Validate<T> = (item: T, path: string) => readonly FieldFault[]

type ListRules<T> = {
  readonly validate: Validate<T>
  readonly max?: number
  readonly release: number
}

export function validateList<T>(
  items: readonly T[],
  path: string,
  { validate, max = Infinity, release }: ListRules<T>,
): FieldFault[] {
  const faults = items.length > max ? [tooMany(path, items.length, max)] : []
  if (faults.length > 0 && release >= WHOLE_ITEMS_SINCE) return faults
  return [...faultsOfEach(items, (item, at) => validate(item, `${path}[${at}]`)), ...faults]
}

type Key<T> = {
  readonly of: (item: T) => string
  /** Name of the key, which errors of releases before 1.35 contain. */
  readonly name?: string
  /** The JSON of a key whose text is shown without quotes in errors. */
  readonly plainJson?: (item: T) => Json
}

/** Validates a list whose items have unique keys. */
export function validateSet<T>(
  items: readonly T[],
  path: string,
  { key, ...rules }: ListRules<T> & { readonly key: Key<T> },
): FieldFault[] {
  const { max = Infinity, release } = rules
  const isLater = release >= WHOLE_ITEMS_SINCE
  if (isLater && items.length > max) return validateList(items, path, rules)
  const keys = mapEach('keys of items', items, (item) => key.of(item))
  const repeats = repeatsIn(keys)
  const suffix = key.name === undefined || isLater ? '' : `.${key.name}`
  return [
    ...validateList(items, path, rules),
    ...faultsOfEach(keys, (text, at) => {
      const item = items[at]
      if (item === undefined || !repeats.has(at)) return []
      return [
        duplicateShown(
          `${path}[${at}]${suffix}`,
          key.plainJson === undefined ? quote(text) : cutText(text),
          '',
          key.plainJson === undefined ? undefined : { json: key.plainJson(item) },
        ),
      ]
    }),
  ]
}

type MapRules = {
  readonly key: Validate<string>
  readonly item?: Validate<Json | undefined>
  /** Maximum number of entries. If there are more, only this error is reported. */
  readonly max?: number
  /** Maximum number of characters of a key that an error shows. */
  readonly shownMax?: number
}

export function validateMap(
  map: Fields,
  path: string,
  { key, item, max = Infinity, shownMax = KEY_SHOWN_MAX }: MapRules,
): FieldFault[] {
  const names = once('names of a map', () => Object.keys(map))
  if (names.length > max) return [tooMany(path, names.length, max)]
  return faultsOfEach(names, (name) => {
    const place = `${path}[${shortened(name, shownMax)}]`
    return [...key(name, place), ...(item?.(map[name], place) ?? [])]
  })
}

function shortened(text: string, max: number): string {
  if (text.length <= max) return text
  const rest = max - '...'.length
  return `${text.slice(0, Math.floor((rest + 1) / 2))}...${text.slice(text.length - Math.floor(rest / 2))}`
}
