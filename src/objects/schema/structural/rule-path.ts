/**
 * Parses the `fieldPath` of a rule, such as `.a.b` or `['a-b'].c`. It leads from the value that the
 * rule validates to a field inside it.
 */
import { type Fields, fieldsOf, isFields, type Json } from '../../../api/object.ts'

const step = /^(?:\.([^.[\]\s']+)|\['([^'\n]+)'\])/

/**
 * Returns the path as errors show it. Returns undefined if the schema has no field at the path. A
 * path cannot refer to items of lists.
 */
export function readRulePath(path: string, schema: Fields): string | undefined {
  let rest = path
  let read = ''
  let at: Json | undefined = schema
  while (rest !== '') {
    const match = step.exec(rest)
    const name = match?.[1] ?? match?.[2]
    if (match === null || name === undefined || !isFields(at)) return undefined
    const [properties, additionalProperties]: readonly (Json | undefined)[] = [
      at['properties'],
      at['additionalProperties'],
    ]
    const isProperty: boolean = isFields(properties) && Object.hasOwn(properties, name)
    if (!isProperty && !isFields(additionalProperties)) return undefined
    at = isProperty ? fieldsOf(properties)[name] : additionalProperties
    read += isProperty ? `.${name}` : `[${name}]`
    rest = rest.slice(match[0].length)
  }
  return read
}
