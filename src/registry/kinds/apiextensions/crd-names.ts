/** Validates the names of a custom kind, both the requested and the accepted names. */
import {
  checked,
  faultsOfEach,
  type FieldFault,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { checkDns1035Label } from '../../../api/names.ts'
import { type Fields, textOf, textsOf } from '../../../api/object.ts'

/** Reports required names that are missing in a CRD. */
export const requireNames = (names: Fields, path: string): FieldFault[] =>
  ['plural', 'singular', 'kind', 'listKind'].flatMap((name) =>
    textOf(names[name]) === '' ? [required(`${path}.${name}`)] : [],
  )

export function validateNames(names: Fields, path: string): FieldFault[] {
  const { plural, singular, kind, listKind } = names
  const label = (name: string, value: string): FieldFault[] =>
    value === '' ? [] : checked(`${path}.${name}`, value, checkDns1035Label)
  const isSameKind = textOf(kind) !== '' && kind === listKind
  return [
    ...label('plural', textOf(plural)),
    ...label('singular', textOf(singular)),
    ...validateKind(textOf(kind), `${path}.kind`),
    ...validateKind(textOf(listKind), `${path}.listKind`),
    ...validateLabels(names['shortNames'], `${path}.shortNames`),
    ...(isSameKind
      ? [
          invalidValue(
            `${path}.listKind`,
            textOf(listKind),
            'kind and listKind may not be the same',
          ),
        ]
      : []),
    ...validateLabels(names['categories'], `${path}.categories`),
  ]
}

const validateLabels = (list: Fields[string], path: string): FieldFault[] =>
  faultsOfEach(textsOf(list), (name, at) => checked(`${path}[${at}]`, name, checkDns1035Label))

/** Validates a kind. In lower case, it must be a DNS label. */
export function validateKind(kind: string, path: string): FieldFault[] {
  const faults = kind === '' ? [] : checkDns1035Label(kind.toLowerCase())
  if (faults.length === 0) return []
  return [
    invalidValue(
      path,
      kind,
      `may have mixed case, but should otherwise match: ${faults.join(',')}`,
    ),
  ]
}
