/** What is wrong with a value, as upstream says it: the text names the value once more, from the root of what was validated. */
import { type FieldFault, invalidShown, notSupportedShown, tooLong, tooMany } from '../../api/field-fault.ts'
import { goSyntax } from '../../api/go-value.ts'
import type { Json } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'

export type Place = {
  /** From the root of what is validated: `spec.a[0]`. */
  readonly name: string
  /** What stands before it in paths. */
  readonly prefix: string
  /** What the value was before the update; undefined: it is new. */
  readonly old: Json | undefined
  readonly faults: FieldFault[]
}

/** Upstream's path of nothing is printed as `<nil>`. */
export function pathOf({ prefix }: Pick<Place, 'prefix'>, name: string): string {
  const own = name.replace(/^\./, '')
  if (prefix === '') return own === '' ? '<nil>' : own
  return own === '' ? prefix : `${prefix}.${own}`
}

export function valueFault(place: Place, value: Json, why: string, name = place.name): FieldFault {
  return invalidShown(pathOf(place, place.name), goSyntax(value), `${name} in body ${why}`)
}

export function typeFault(
  place: Place,
  { wanted, found, shown }: { readonly wanted: string; readonly found: string; readonly shown: string },
): FieldFault {
  const why = `${place.name} in body must be of type ${wanted}: ${quote(found)}`
  const path = pathOf(place, place.name)
  return { path, reason: 'FieldValueTypeInvalid', message: `Invalid value: ${quote(shown)}: ${why}` }
}

export function enumFault(place: Place, value: Json, values: readonly Json[]): FieldFault {
  const supported = values.map((allowed) => (typeof allowed === 'string' ? allowed : printJson(allowed)))
  return notSupportedShown(pathOf(place, place.name), value === null ? '"null"' : goSyntax(value), supported)
}

const printJson = (value: Json): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part))

export const longFault = (place: Place, lengthMax: number): FieldFault => tooLong(pathOf(place, place.name), lengthMax)

export const manyFault = (place: Place, count: number, countMax: number): FieldFault =>
  tooMany(pathOf(place, place.name), count, countMax)

/** Upstream has lost the place of these; it is only in the text. */
export const junctorFault = (place: Place, why: string): FieldFault =>
  invalidShown(place.prefix === '' ? '<nil>' : place.prefix, '""', `${quote(place.name)} ${why}`)
