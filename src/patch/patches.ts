/** The kinds of patches behind one door: from an object and the body of a patch to the object that comes out. */
import { badRequest, patchRejected, unclassified } from '../api/errors.ts'
import { JsonMap } from '../api/json-map.ts'
import { JsonScanner, JsonSyntaxError, type JsonType } from '../api/json-scanner.ts'
import { fieldsOf, type KubeObject } from '../api/object.ts'
import { type Decoded, decodePatched, type Expected } from '../codec/decode-body.ts'
import { readAny } from '../api/json-value.ts'
import { objectText } from '../codec/object.ts'
import { JsonNode, type Members, parseValue } from './document.ts'
import { duplicateFields } from '../codec/duplicates.ts'
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
  /** The body. */
  readonly text: string
  /** Whether anybody wants to know which fields of it are unknown or given twice. */
  readonly isChecked: boolean
}

export type Patched = Decoded & {
  /** What an error quotes. */
  readonly shown: () => string
}

/** The patch is read anew each time: applying it uses it up. Fails with the error that the client gets. */
export function applyPatch(current: KubeObject, patch: Patch, expected: Expected): Patched {
  if (patch.form === 'strategic') return applyStrategic(current, patch, expected)
  const quick = patch.form === 'merge' ? applyQuickly(current, patch, expected) : undefined
  if (quick !== undefined) return quick
  const document = objectText(current, expected.shape.struct)
  const { text, strictFaults } = patch.form === 'json' ? applyJson(document, patch) : applyMerge(document, patch)
  const decoded = decodeText(text, expected)
  const shown = (): string => text
  return 'fault' in decoded
    ? { ...decoded, shown }
    : { ...decoded, strictFaults: [...strictFaults, ...decoded.strictFaults], shown }
}

/** Two values that may nest as deep as they do may nest too deep when one is put into the other. */
function decodeText(text: string, expected: Expected): Decoded {
  try {
    return decodePatched(text, expected)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { fault: error.message }
    throw error
  }
}

type PatchedText = { readonly text: string; readonly strictFaults: readonly string[] }

function applyJson(document: string, { text, isChecked }: Patch): PatchedText {
  const work = new Work()
  const { operations, strictFaults } = readOperations(text, work, isChecked)
  return rejecting(() => {
    const root = new JsonNode(document, work)
    root.members()
    return { text: applyOperations(root, operations, work).print(), strictFaults }
  })
}

/** Undefined: as most patches are not, this one is to be applied to the whole object. */
function applyQuickly(current: KubeObject, { text, isChecked }: Patch, { shape }: Expected): Patched | undefined {
  if (shape.struct.open !== undefined) return undefined
  const work = new Work()
  const { patch, strictFaults } = readMergePatch(text, work, isChecked)
  if (strictFaults.length > 0) return undefined
  const object = rejecting(() => mergeTouched(current, patch, { shape, work }))
  return object && { object, strictFaults, shown: () => '' }
}

function applyMerge(document: string, { text, isChecked }: Patch): PatchedText {
  const work = new Work()
  const { patch, strictFaults } = readMergePatch(text, work, isChecked)
  return rejecting(() => {
    const root = new JsonNode(document, work)
    mergeInto(root.members() ?? new Map(), patch)
    return { text: root.print(), strictFaults }
  })
}

type MergePatch = { readonly patch: Members; readonly strictFaults: readonly string[] }

function readMergePatch(text: string, work: Work, isChecked: boolean): MergePatch {
  try {
    const node = parseValue(text, work)
    if (node === null) throw badRequest('Invalid JSON Patch')
    const patch = node.members()
    if (patch === undefined) throw new JsonSyntaxError(notAMap(new JsonScanner(text).peekType()))
    return { patch, strictFaults: isChecked ? duplicateFields(text) : [] }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw badRequest(isChecked ? `error decoding patch: ${error.message}` : 'Invalid JSON Patch')
  }
}

const notAMap = (type: JsonType): string =>
  `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`

function rejecting<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw error instanceof PatchError ? patchRejected(error) : error
  }
}

/** Kind and apiVersion stay as they are, whatever the patch says. */
function applyStrategic(current: KubeObject, { text, isChecked }: Patch, { shape }: Expected): Patched {
  const patch = readStrategic(text)
  const duplicates = isChecked ? duplicateFields(text) : []
  const merged = mergeMaps(touchedTree(current, patch, shape.struct), patch, shape.struct)
  const shown = (): string => goPrint(patch)
  try {
    const { value, strictFaults } = restoreStruct(merged, shape.struct, { tree: current, value: current })
    const { kind, apiVersion } = current
    const object = { ...value, kind, apiVersion, metadata: fieldsOf(value['metadata']) }
    const refusal = shape.refuse?.(object)
    if (refusal !== undefined) throw unclassified(refusal)
    return { object: shape.setDefaults(object), strictFaults: [...duplicates, ...strictFaults], shown }
  } catch (error) {
    if (error instanceof RestoreError) return { fault: error.message, shown }
    throw error
  }
}

function readStrategic(text: string): JsonMap {
  try {
    const scanner = new JsonScanner(text)
    const patch = readAny(scanner)
    scanner.end()
    if (patch === null) return new JsonMap()
    if (!(patch instanceof JsonMap)) throw new JsonSyntaxError(notAMap(new JsonScanner(text).peekType()))
    return patch
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(error.message)
    throw error
  }
}
