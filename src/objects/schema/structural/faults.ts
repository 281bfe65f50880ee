/**
 * Creates validation errors with kube-apiserver's messages, in which paths begin at the validated
 * value.
 */
import { invalidShown, notSupportedShown, tooLong, tooMany } from '../../../api/field-fault.ts'
import { goShown } from '../../../api/go-value.ts'
import type { Json } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import type { Fault, ValidationContext } from './validation-context.ts'

/** Returns the full path of a value. As in kube-apiserver, an empty path is printed as `<nil>`. */
export function pathOf({ prefix }: Pick<ValidationContext, 'prefix'>, name: string): string {
  const own = name.replace(/^\./, '')
  if (prefix === '') return own === '' ? '<nil>' : own
  return own === '' ? prefix : `${prefix}.${own}`
}

export function valueFault(
  place: ValidationContext,
  value: Json,
  why: string,
  name?: string,
): Fault {
  return () =>
    invalidShown(pathOf(place, place.name), goShown(value), `${name ?? place.name} in body ${why}`)
}

export function typeFault(
  place: ValidationContext,
  {
    wanted,
    found,
    shown,
  }: { readonly wanted: string; readonly found: string; readonly shown: string },
): Fault {
  return () => {
    const why = `${place.name} in body must be of type ${wanted}: ${quote(found)}`
    const path = pathOf(place, place.name)
    return {
      path,
      reason: 'FieldValueTypeInvalid',
      message: `Invalid value: ${quote(shown)}: ${why}`,
    }
  }
}

export function enumFault(place: ValidationContext, value: Json, values: readonly Json[]): Fault {
  return () => {
    const supported = values.map((allowed) =>
      typeof allowed === 'string' ? allowed : printJson(allowed),
    )
    return notSupportedShown(pathOf(place, place.name), goShown(value), supported)
  }
}

const printJson = (value: Json): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part))

export function longFault(place: ValidationContext, lengthMax: number): Fault {
  return () => tooLong(pathOf(place, place.name), lengthMax)
}

export function manyFault(place: ValidationContext, count: number, countMax: number): Fault {
  return () => tooMany(pathOf(place, place.name), count, countMax)
}

/**
 * Returns an error for allOf, anyOf, oneOf or not. As in kube-apiserver, its message contains the
 * path of the value, but the field of the error does not.
 */
export function junctorFault(place: ValidationContext, why: string): Fault {
  return () =>
    invalidShown(place.prefix === '' ? '<nil>' : place.prefix, '""', `${quote(place.name)} ${why}`)
}
