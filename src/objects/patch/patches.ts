/** Applies a patch of any type to an object, and decodes the result. */
import { badRequest, patchRejected, unclassified } from '../../api/errors.ts'
import { JsonMap } from '../../api/json-map.ts'
import { JsonScanner, JsonSyntaxError, type JsonType } from '../../api/json-scanner.ts'
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import { type DecodeResult, decodePatched, type Expected } from '../codec/decode-body.ts'
import { readAny } from '../../api/json-value.ts'
import { objectText } from '../codec/object.ts'
import { JsonNode, type Members, parseValue } from './document.ts'
import { duplicateFields, duplicateSteps } from '../codec/duplicates.ts'
import { stepOf } from '../../lib/scheduling/parts.ts'
import type { Slices, Steps } from '../../lib/scheduling/slices.ts'
import type { Schema } from '../schema/schema.ts'
import { goPrint } from './go-print.ts'
import { applyOperations } from './json-patch.ts'
import { mergeInto } from './merge-patch.ts'
import { mergeTouched } from './merge-touched.ts'
import { readOperations } from './read-operations.ts'
import { RestoreError, restoreStruct } from './restore.ts'
import { mergeMaps } from './strategic.ts'
import { touchedTree } from './touched.ts'
import { PatchError, Work } from './work.ts'

export type Patch = {
  readonly form: 'json' | 'merge' | 'strategic'
  /** The request body. */
  readonly text: string
  /** Whether unknown and duplicate fields must be reported. */
  readonly isChecked: boolean
  /** Whether a JSON patch that replaces the whole object by a scalar fails. False by default. */
  readonly isStrict?: boolean
  /** Time slices for the steps of the work. Undefined if the patch and the object are small. */
  readonly slices?: Slices | undefined
}

export type Patched = DecodeResult & {
  /** Returns the text of the patch for an error message that quotes it. */
  readonly shown: () => string
}

/**
 * Returns the patched object. If the patch cannot be applied, throws the error for the client. Each
 * call parses the patch again, because applying it changes the parsed patch.
 */
export function* applyPatch(current: KubeObject, patch: Patch, expected: Expected): Steps<Patched> {
  if (patch.form === 'strategic') return yield* applyStrategic(current, patch, expected)
  const quick = patch.form === 'merge' ? yield* applyQuickly(current, patch, expected) : undefined
  if (quick !== undefined) return quick
  const { slices } = patch
  const document = yield* stepOf(() => objectText(current, expected.shape.struct), slices)
  const { text, strictFaults } =
    patch.form === 'json' ? yield* applyJson(document, patch) : yield* applyMerge(document, patch)
  yield undefined
  const decoded = yield* stepOf(() => decodeText(text, expected), slices)
  const shown = (): string => text
  return 'fault' in decoded
    ? { ...decoded, shown }
    : { ...decoded, strictFaults: [...strictFaults, ...decoded.strictFaults], shown }
}

/**
 * Decodes a patched document. Parsing it can fail, because inserting a value into another one can
 * exceed the maximum depth, although neither of them does.
 */
function decodeText(text: string, expected: Expected): DecodeResult {
  try {
    return decodePatched(text, expected)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { fault: error.message }
    throw error
  }
}

type PatchedText = { readonly text: string; readonly strictFaults: readonly string[] }

function* applyJson(document: string, patch: Patch): Steps<PatchedText> {
  const { text, isChecked, isStrict, slices } = patch
  const work = new Work(slices)
  const { operations, strictFaults } = yield* readOperations(text, work, isChecked)
  try {
    const root = new JsonNode(document, work)
    yield* root.opened()
    const patched = yield* applyOperations(root, operations, work, isStrict)
    yield undefined
    return { text: yield* stepOf(() => patched.print(), slices), strictFaults }
  } catch (error) {
    throw rejected(error)
  }
}

/**
 * Applies a merge patch only to the fields in it. Returns undefined in the rare cases in which this
 * is not possible. The patch must then be applied to the whole object.
 */
function* applyQuickly(
  current: KubeObject,
  given: Patch,
  { shape }: Expected,
): Steps<Patched | undefined> {
  if (shape.struct.open !== undefined) return undefined
  const { slices } = given
  const work = new Work(slices)
  const { patch, strictFaults } = yield* readMergePatch(given, work)
  if (strictFaults.length > 0) return undefined
  yield undefined
  try {
    const object = yield* mergeTouched(current, patch, { shape, work, slices })
    return object && { object, strictFaults, shown: () => '' }
  } catch (error) {
    throw rejected(error)
  }
}

function* applyMerge(document: string, given: Patch): Steps<PatchedText> {
  const { slices } = given
  const work = new Work(slices)
  const { patch, strictFaults } = yield* readMergePatch(given, work)
  yield undefined
  try {
    const root = new JsonNode(document, work)
    yield* root.opened()
    yield* mergeInto(root.members() ?? new Map(), patch)
    yield undefined
    return { text: yield* stepOf(() => root.print(), slices), strictFaults }
  } catch (error) {
    throw rejected(error)
  }
}

type MergePatch = { readonly patch: Members; readonly strictFaults: readonly string[] }

function* readMergePatch({ text, isChecked, slices }: Patch, work: Work): Steps<MergePatch> {
  try {
    const node =
      slices === undefined
        ? parseValue(text, work)
        : yield* stepOf(() => parseValue(text, work), slices)
    if (node === null) throw badRequest('Invalid JSON Patch')
    yield undefined
    if (slices !== undefined) yield* node.opened()
    const patch = node.members()
    yield undefined
    if (patch === undefined) throw new JsonSyntaxError(notAMap(new JsonScanner(text).peekType()))
    return {
      patch,
      strictFaults: !isChecked
        ? []
        : slices === undefined
          ? duplicateFields(text)
          : yield* duplicateSteps(text),
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw badRequest(isChecked ? `error decoding patch: ${error.message}` : 'Invalid JSON Patch')
  }
}

const notAMap = (type: JsonType): string =>
  `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`

const rejected = (error: unknown): unknown =>
  error instanceof PatchError ? patchRejected(error) : error

/** Applies a strategic merge patch. The kind and apiVersion cannot be changed by the patch. */
function* applyStrategic(
  current: KubeObject,
  { text, isChecked, slices }: Patch,
  { shape }: Expected,
): Steps<Patched> {
  const patch = yield* stepOf(() => readStrategic(text), slices)
  const duplicates = !isChecked
    ? []
    : slices === undefined
      ? duplicateFields(text)
      : yield* duplicateSteps(text)
  yield undefined
  const touched = yield* stepOf(() => touchedTree(current, patch, shape.struct), slices)
  const merged = yield* mergeStrategic(touched, patch, { schema: shape.struct, slices })
  const shown = (): string => goPrint(patch)
  yield undefined
  try {
    const known = { tree: current, value: current }
    const { value, strictFaults } = yield* stepOf(
      () => restoreStruct(merged, shape.struct, known),
      slices,
    )
    const { kind, apiVersion } = current
    const object = { ...value, kind, apiVersion, metadata: fieldsOf(value['metadata']) }
    const refusal = shape.refuse?.(object)
    if (refusal !== undefined) throw unclassified(refusal)
    const whole = yield* stepOf(() => shape.setDefaults(object), slices)
    return { object: whole, strictFaults: [...duplicates, ...strictFaults], shown }
  } catch (error) {
    if (error instanceof RestoreError) return { fault: error.message, shown }
    throw error
  }
}

function* mergeStrategic(
  live: JsonMap,
  patch: JsonMap,
  { schema, slices }: { readonly schema: Schema } & Pick<Patch, 'slices'>,
): Steps<JsonMap> {
  try {
    return yield* mergeMaps(live, patch, { schema, work: new Work(slices) })
  } catch (error) {
    throw rejected(error)
  }
}

function readStrategic(text: string): JsonMap {
  try {
    const scanner = new JsonScanner(text)
    const patch = readAny(scanner)
    scanner.end()
    if (patch === null) return new JsonMap()
    if (!(patch instanceof JsonMap))
      throw new JsonSyntaxError(notAMap(new JsonScanner(text).peekType()))
    return patch
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(error.message)
    throw error
  }
}
