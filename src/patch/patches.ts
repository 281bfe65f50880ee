/** The kinds of patches behind one door: from an object as JSON and the body of a patch to the patched object as JSON. */
import { badRequest, patchRejected } from '../api/errors.ts'
import { JsonScanner, JsonSyntaxError, type JsonType } from '../api/json-scanner.ts'
import { JsonNode, type Members, parseValue } from './document.ts'
import { duplicateFields } from './duplicates.ts'
import { applyOperations } from './json-patch.ts'
import { mergeInto } from './merge-patch.ts'
import { readOperations } from './read-operations.ts'
import { PatchError, Work } from './work.ts'

export type Patch = {
  /** The body. */
  readonly text: string
  /** Whether anybody wants to know which fields of it are unknown or given twice. */
  readonly isChecked: boolean
}

export type Patched = {
  /** JSON. */
  readonly text: string
  /** What an error quotes. */
  readonly shown: string
  /** Of the patch itself, for who is strict. */
  readonly strictFaults: readonly string[]
}

/** Fails with the error that the client gets. */
export function applyJsonPatch(document: string, { text, isChecked }: Patch): Patched {
  const work = new Work()
  const { operations, strictFaults } = readOperations(text, work, isChecked)
  return rejecting(() => {
    const root = new JsonNode(document, work)
    root.members()
    const patched = applyOperations(root, operations, work).print()
    return { text: patched, shown: patched, strictFaults }
  })
}

export function applyMergePatch(document: string, { text, isChecked }: Patch): Patched {
  const work = new Work()
  const { patch, strictFaults } = readMergePatch(text, work, isChecked)
  return rejecting(() => {
    const root = new JsonNode(document, work)
    mergeInto(root.members() ?? new Map(), patch)
    const patched = root.print()
    return { text: patched, shown: patched, strictFaults }
  })
}

function readMergePatch(
  text: string,
  work: Work,
  isChecked: boolean,
): { patch: Members; strictFaults: readonly string[] } {
  try {
    const node = parseValue(text, work)
    const patch = node?.members()
    if (node !== null && patch === undefined) throw new JsonSyntaxError(notAMap(new JsonScanner(text).peekType()))
    if (patch === undefined) throw badRequest('Invalid JSON Patch')
    return { patch, strictFaults: isChecked ? duplicateFields(text) : [] }
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(`error decoding patch: ${error.message}`)
    throw error
  }
}

export const notAMap = (type: JsonType): string =>
  `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`

function rejecting<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw error instanceof PatchError ? patchRejected(error) : error
  }
}
