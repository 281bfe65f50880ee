/** Builds the audit annotation that contains the patch of a mutating webhook. */
import { JsonScanner } from '../../api/json-scanner.ts'
import { compareKeys, printOrdered, printString, readRaw } from '../../objects/codec/json.ts'

type Patching = { readonly configuration: string; readonly webhook: string; readonly patch: string }

/** Returns the annotation. `patch` has been applied successfully, so it is a list of objects. */
export const patchAnnotation = ({ configuration, webhook, patch }: Patching): string =>
  `${printOrdered({ configuration, webhook }).slice(0, -1)},"patch":${printOperations(patch)},"patchType":"JSONPatch"}`

/**
 * Formats operations as Go formats decoded operations: without whitespace or duplicate members, and
 * with members sorted by name.
 */
function printOperations(patch: string): string {
  const scanner = new JsonScanner(patch)
  const operations: string[] = []
  scanner.peekType()
  for (let more = scanner.beginArray(); more; more = scanner.nextInArray())
    operations.push(printOperation(scanner))
  return `[${operations.join(',')}]`
}

function printOperation(scanner: JsonScanner): string {
  const members = new Map<string, string>()
  scanner.peekType()
  for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
    members.set(scanner.readKey(), readRaw(scanner))
  }
  const names = [...members.keys()].sort(compareKeys)
  return `{${names.map((name) => `${printString(name)}:${members.get(name)}`).join(',')}}`
}
