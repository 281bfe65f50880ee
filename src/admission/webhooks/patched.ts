/** Applies the JSON patch of a mutating webhook to an object. */
import { ApiError, internalError, unclassified } from '../../api/errors.ts'
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import type { KubeObject } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { decodePatched, type Expected } from '../../objects/codec/decode-body.ts'
import { decodeStruct } from '../../objects/codec/decode.ts'
import { printString } from '../../objects/codec/json.ts'
import { inSlices, type Steps } from '../../lib/scheduling/slices.ts'
import { JsonNode } from '../../objects/patch/document.ts'
import { applyOperations, refusesScalars } from '../../objects/patch/json-patch.ts'
import { type JsonPatch, readOperations } from '../../objects/patch/read-operations.ts'
import { PatchError, Work } from '../../objects/patch/work.ts'
import { isSame } from '../../objects/schema/equal.ts'

export type Patched = {
  readonly object: KubeObject
  /**
   * Whether the patch changed the object. As in kube-apiserver, the object is compared before
   * defaults are set again, so a patch that removes a default value counts as a change.
   */
  readonly isChanged: boolean
}

/** Thrown if a patch cannot be decoded. */
export class UndecodablePatch extends Error {
  override readonly name = 'UndecodablePatch'
}

/** The kind of the patched object, and the minor version of the release. */
type PatchedKind = Expected & { readonly release: number }

/**
 * Resolves to the patched object, or to undefined if the patch has no operations. Fails with an
 * UndecodablePatch, or with an InternalError, whatever the failurePolicy of the webhook.
 */
export async function patched(
  patch: string,
  document: () => string,
  expected: PatchedKind,
): Promise<Patched | undefined> {
  try {
    return await inSlices(apply(patch, document, expected))
  } catch (error) {
    if (error instanceof PatchError || error instanceof JsonSyntaxError)
      throw internalError(error.message, error)
    // If the patched object cannot be decoded, the client gets an internal error, because the
    // webhook caused the error. Invalid errors and server errors are returned unchanged.
    if (error instanceof ApiError && error.code < 500 && error.reason !== 'Invalid')
      throw internalError(error.message, error)
    throw error
  }
}

function* apply(
  patch: string,
  document: () => string,
  expected: PatchedKind,
): Steps<Patched | undefined> {
  const work = new Work()
  const operations = yield* decode(patch, work)
  if (operations.length === 0) return undefined
  const before = document()
  const isStrict = refusesScalars(expected.release)
  const root = yield* applyOperations(new JsonNode(before, work), operations, work, isStrict)
  yield undefined
  if (expected.shape.custom === undefined) fillType(root, expected, work)
  else {
    refuseOtherVersion(root, expected)
    dropWrongLabels(root)
  }
  const after = root.print()
  const decoded = decodePatched(after, expected, 'webhook')
  if ('fault' in decoded)
    throw isOtherKind(decoded.fault) ? unclassified(decoded.fault) : internalError(decoded.fault)
  yield undefined
  return {
    object: decoded.object,
    isChanged: after !== before && !(yield* isSameGiven(before, after, expected)),
  }
}

function* decode(patch: string, work: Work): Steps<JsonPatch['operations']> {
  try {
    return (yield* readOperations(patch, work, false)).operations
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'BadRequest')
      throw new UndecodablePatch(error.message, { cause: error })
    throw error
  }
}

/**
 * Returns whether two JSON strings decode to the same object. A string can be several megabytes
 * long. Therefore the event loop can run other work after each of the two strings is decoded.
 */
export function* isSameGiven(
  before: string,
  after: string,
  { shape }: Pick<Expected, 'shape'>,
): Steps<boolean> {
  const { value: one } = decodeStruct(before, shape.struct)
  yield undefined
  const { value: other } = decodeStruct(after, shape.struct)
  yield undefined
  return isSame(one, other)
}

/**
 * Returns whether an error means that the patch has changed the kind to another existing kind.
 * kube-apiserver returns this error as a conversion error, not as an internal error.
 */
const isOtherKind = (fault: string): boolean => fault.startsWith('converting (')

/** Rejects a custom object with another version. The decoder rejects other kinds. */
function refuseOtherVersion(root: JsonNode, expected: Expected): void {
  const [apiVersion, kind] = ['apiVersion', 'kind'].map((name) => {
    const value = root.members()?.get(name)?.print() ?? ''
    return value.startsWith('"') ? new JsonScanner(value).readString() : ''
  })
  const wanted = expected.group === '' ? expected.version : `${expected.group}/${expected.version}`
  if (apiVersion === undefined || apiVersion === '' || apiVersion === wanted) return
  const type = `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`
  throw unclassified(
    `${type} is unstructured and is not suitable for converting to ${quote(wanted)}`,
  )
}

/**
 * Drops the labels of a custom object if any label is not a string, and does the same for
 * annotations. kube-apiserver treats such labels and annotations as absent.
 */
function dropWrongLabels(root: JsonNode): void {
  const metadata = root.members()?.get('metadata')?.members()
  for (const field of ['labels', 'annotations']) {
    const values = metadata?.get(field)?.members()?.values() ?? []
    if ([...values].some((value) => value !== null && !value.print().startsWith('"')))
      metadata?.delete(field)
  }
}

/** Sets kind and apiVersion if they are missing, because they can be derived for built-in kinds. */
export function fillType(root: JsonNode, { group, version, kind }: Expected, work: Work): void {
  const members = root.members()
  if (members === undefined) return
  const apiVersion = group === '' ? version : `${group}/${version}`
  for (const [name, text] of [
    ['kind', kind],
    ['apiVersion', apiVersion],
  ] as const) {
    if ((members.get(name)?.print() ?? '""') === '""')
      members.set(name, new JsonNode(printString(text), work))
  }
}
