/** The object after the JSON patch of a mutating webhook. */
import { ApiError, internalError } from '../../api/errors.ts'
import { JsonSyntaxError } from '../../api/json-scanner.ts'
import type { KubeObject } from '../../api/object.ts'
import { decodePatched, type Expected } from '../../codec/decode-body.ts'
import { printString } from '../../codec/json.ts'
import { inSlices, type Steps } from '../../lib/slices.ts'
import { JsonNode } from '../../patch/document.ts'
import { applyOperations } from '../../patch/json-patch.ts'
import { readOperations } from '../../patch/read-operations.ts'
import { PatchError, Work } from '../../patch/work.ts'

/** Undefined: the patch has no operations. Fails with an InternalError, whatever the failurePolicy of the webhook. */
export async function patched(
  patch: string,
  document: () => string,
  expected: Expected,
): Promise<KubeObject | undefined> {
  try {
    return await inSlices(apply(patch, document, expected))
  } catch (error) {
    if (error instanceof PatchError || error instanceof JsonSyntaxError) throw internalError(error.message, error)
    if (error instanceof ApiError && error.reason !== 'InternalError') throw internalError(error.message, error)
    throw error
  }
}

function* apply(patch: string, document: () => string, expected: Expected): Steps<KubeObject | undefined> {
  const work = new Work()
  const { operations } = yield* readOperations(patch, work, false)
  if (operations.length === 0) return undefined
  const root = yield* applyOperations(new JsonNode(document(), work), operations, work)
  yield undefined
  if (expected.shape.custom === undefined) fillType(root, expected, work)
  const decoded = decodePatched(root.print(), expected)
  if ('fault' in decoded) throw internalError(decoded.fault)
  return decoded.object
}

/** A built-in kind is known without its kind and apiVersion. */
function fillType(root: JsonNode, { group, version, kind }: Expected, work: Work): void {
  const members = root.members()
  if (members === undefined) return
  const apiVersion = group === '' ? version : `${group}/${version}`
  for (const [name, text] of [
    ['kind', kind],
    ['apiVersion', apiVersion],
  ] as const) {
    if ((members.get(name)?.print() ?? '""') === '""') members.set(name, new JsonNode(printString(text), work))
  }
}
