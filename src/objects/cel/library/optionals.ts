/** Functions and macros for optional values. */
import type { Library } from '../environment.ts'
import { type FunctionPart, global, member } from '../functions.ts'
import { optionalMacros } from '../macros.ts'
import { bool, int, list, map, optional, parameter, type Type } from '../types.ts'
import {
  ArrayList,
  CelError,
  Duration,
  isList,
  isMap,
  isStruct,
  itemsOf,
  none,
  noSuchOverload,
  Optional,
  type Result,
  Timestamp,
  Uint,
  type Value,
} from '../values.ts'

const V = parameter('V')
const K = parameter('K')
const optionalV = optional(V)

/** Whether a value is null, zero, false or empty. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0 || value === 0n) return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof Duration) return value.nanos === 0n
  if (value instanceof Timestamp) return false
  if (value instanceof Optional) return value.value === undefined
  if (isList(value) || isMap(value)) return value.size === 0
  return isStruct(value) ? [...value.fields()].length === 0 : false
}

const onOptional =
  (run: (value: Value | undefined) => Result): FunctionPart['run'] =>
  (given) =>
    given instanceof Optional ? run(given.value) : noSuchOverload

const never = (): Result => noSuchOverload

function unwrap(items: Value): Result {
  if (!isList(items)) return noSuchOverload
  const values: Value[] = []
  for (const item of itemsOf(items)) {
    if (!(item instanceof Optional)) return noSuchOverload
    if (item.value !== undefined) values.push(item.value)
  }
  return new ArrayList(values)
}

const indexed = (
  id: string,
  collection: Type,
  key: Type,
): Pick<FunctionPart, 'overloads'>['overloads'][number] => global(id, [collection, key], optionalV)

const atEnd =
  (last: boolean): FunctionPart['run'] =>
  (items) => {
    if (!isList(items)) return noSuchOverload
    return items.size === 0 ? none : new Optional(items.at(last ? items.size - 1 : 0))
  }

export const optionalsLibrary: Library = {
  macros: optionalMacros,
  functions: [
    {
      name: 'optional.of',
      overloads: [global('optional_of', [V], optionalV)],
      run: (value) => new Optional(value),
    },
    {
      name: 'optional.ofNonZeroValue',
      overloads: [global('optional_ofNonZeroValue', [V], optionalV)],
      run: (value) => (isZero(value) ? none : new Optional(value)),
    },
    { name: 'optional.none', overloads: [global('optional_none', [], optionalV)], run: () => none },
    {
      name: 'hasValue',
      overloads: [member('optional_hasValue', [optionalV], bool)],
      run: onOptional((value) => value !== undefined),
    },
    {
      name: 'value',
      overloads: [member('optional_value', [optionalV], V)],
      run: onOptional(
        (value) => value ?? (value === null ? null : new CelError('optional.none() dereference')),
      ),
    },
    {
      name: 'or',
      overloads: [member('optional_or_optional', [optionalV, optionalV], optionalV)],
      run: never,
    },
    {
      name: 'orValue',
      overloads: [member('optional_orValue_value', [optionalV, V], V)],
      run: never,
    },
    {
      name: '_[?_]',
      overloads: [
        indexed('list_optindex_optional_int', list(V), int),
        indexed('optional_list_optindex_optional_int', optional(list(V)), int),
        indexed('map_optindex_optional_value', map(K, V), K),
        indexed('optional_map_optindex_optional_value', optional(map(K, V)), K),
      ],
      run: never,
    },
    {
      name: '_[_]',
      overloads: [
        indexed('optional_list_index_int', optional(list(V)), int),
        indexed('optional_map_index_value', optional(map(K, V)), K),
      ],
      run: never,
    },
    { name: 'first', overloads: [member('list_first', [list(V)], optionalV)], run: atEnd(false) },
    { name: 'last', overloads: [member('list_last', [list(V)], optionalV)], run: atEnd(true) },
    {
      name: 'optional.unwrap',
      overloads: [global('optional_unwrap', [list(optionalV)], list(V))],
      run: unwrap,
    },
    {
      name: 'unwrapOpt',
      overloads: [member('optional_unwrapOpt', [list(optionalV)], list(V))],
      run: unwrap,
    },
  ],
}
