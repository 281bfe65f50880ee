/** The object after the JSON patch of a mutating webhook. */
import { ApiError, internalError, unclassified } from '../../api/errors.ts'
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import type { KubeObject } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
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
    // That the patch cannot be read is no fault of the request. That it makes another kind of a custom object is told as it is.
    if (error instanceof ApiError && error.code < 500 && error.reason !== 'Invalid')
      throw internalError(error.message, error)
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
  else refuseOtherVersion(root, expected)
  const decoded = decodePatched(root.print(), expected, 'webhook')
  if ('fault' in decoded) throw isOtherKind(decoded.fault) ? unclassified(decoded.fault) : internalError(decoded.fault)
  return decoded.object
}

/** A kind that exists can be decoded; upstream fails when it converts the object, which it takes for no internal error. */
const isOtherKind = (fault: string): boolean => fault.startsWith('converting (')

/** Of a custom object; another kind is refused by the decoder. */
function refuseOtherVersion(root: JsonNode, expected: Expected): void {
  const [apiVersion, kind] = ['apiVersion', 'kind'].map((name) => {
    const value = root.members()?.get(name)?.print() ?? ''
    return value.startsWith('"') ? new JsonScanner(value).readString() : ''
  })
  const wanted = expected.group === '' ? expected.version : `${expected.group}/${expected.version}`
  if (apiVersion === undefined || apiVersion === '' || apiVersion === wanted) return
  const type = `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`
  throw unclassified(`${type} is unstructured and is not suitable for converting to ${quote(wanted)}`)
}

/** A built-in kind is known without its kind and apiVersion. */
export function fillType(root: JsonNode, { group, version, kind }: Expected, work: Work): void {
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
