/**
 * Validation errors as upstream reports them: the message repeats the path of the value, from the
 * root of what was validated.
 */
import { invalidShown, notSupportedShown, tooLong, tooMany } from '../../../api/field-fault.ts'
import { goShown } from '../../../api/go-value.ts'
import type { Json } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import type { Fault, ValidationContext } from './validation-context.ts'

/** Upstream prints an empty path as `<nil>`. */
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

/** Upstream loses the path of these errors; it is only in the message. */
export function junctorFault(place: ValidationContext, why: string): Fault {
  return () =>
    invalidShown(place.prefix === '' ? '<nil>' : place.prefix, '""', `${quote(place.name)} ${why}`)
}
