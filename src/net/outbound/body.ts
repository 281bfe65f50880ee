import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { type Fields, isFields } from '../../api/object.ts'
import { readAny } from '../../api/json-value.ts'

/**
 * Returns the object in a webhook's response. Returns undefined if the response is not a JSON
 * object.
 */
export function fieldsIn(text: string): Fields | undefined {
  try {
    const scanner = new JsonScanner(text)
    const value = readAny(scanner)
    scanner.end()
    return isFields(value) ? value : undefined
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return undefined
  }
}
