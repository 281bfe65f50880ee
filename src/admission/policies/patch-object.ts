/**
 * Patches of type JSONPatch. An expression constructs operations, which are applied to the object
 * of the request.
 */
import { internalError } from '../../api/errors.ts'
import { JsonSyntaxError } from '../../api/json-scanner.ts'
import type { KubeObject } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import {
  CelError,
  isList,
  isStruct,
  itemsOf,
  ConstructedStruct,
  type Result,
  type StructValue,
} from '../../objects/cel/values.ts'
import { decodePatched } from '../../objects/codec/decode-body.ts'
import { strictText } from '../../objects/codec/head.ts'
import { printOrdered } from '../../objects/codec/json.ts'
import { objectText } from '../../objects/codec/object.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import { JsonNode, valueOf } from '../../objects/patch/document.ts'
import {
  applyOperations,
  type Operation,
  refusesScalars,
  TestFailed,
} from '../../objects/patch/json-patch.ts'
import { PatchError, Work } from '../../objects/patch/work.ts'
import { fillType } from '../webhooks/patched.ts'
import type { MutatedKind } from './mutated.ts'
import { MutationFault, NativeValues } from './native-value.ts'
import { typeNameFaults } from './type-names.ts'

/**
 * Maximum size of a patched object in characters, because it is decoded in one tick of the event
 * loop. etcd accepts 1.5 MB.
 */
const OBJECT_CHARACTERS_MAX = 8 * 1024 * 1024

/**
 * Returns the patched object, or the object itself if a test operation fails. Fails with a
 * MutationFault, to which the failurePolicy applies, or with an InternalError, which rejects the
 * request.
 */
export function* patchObject(
  result: Result,
  object: KubeObject,
  { expected, release }: MutatedKind,
): Steps<KubeObject> {
  const work = new Work()
  const operations = operationsOf(result, work)
  yield undefined
  const root = new JsonNode(objectText(object, expected.shape.struct), work)
  try {
    const patched = yield* applyOperations(root, operations, work, refusesScalars(release))
    yield undefined
    if (expected.shape.custom === undefined) fillType(patched, expected, work)
    else refuseOtherVersion(patched, object)
    return decoded(patched.print(), expected)
  } catch (error) {
    if (error instanceof TestFailed) return object
    if (error instanceof PatchError || error instanceof JsonSyntaxError) {
      throw new MutationFault(`JSON Patch: ${error.message}`)
    }
    throw error
  }
}

/**
 * Rejects a patch that changes the apiVersion of a custom object. kube-apiserver cannot convert
 * such an object, and fails in the same way.
 */
function refuseOtherVersion(patched: JsonNode, { apiVersion, kind }: KubeObject): void {
  const given = textOf(patched.members()?.get('apiVersion'))
  if (given === '' || given === apiVersion || textOf(patched.members()?.get('kind')) !== kind)
    return
  const shown = `${given.includes('/') ? '' : '/'}${given}, Kind=${kind}`
  throw internalError(
    `failed to convert object: ${shown} is unstructured and is not suitable for converting to ${quote(apiVersion)}`,
  )
}

/**
 * Returns the string that a JSON node represents, or an empty string if the node is not a string.
 */
function textOf(node: JsonNode | null | undefined): string {
  const value: unknown = node === null || node === undefined ? '' : JSON.parse(node.print())
  return typeof value === 'string' ? value : ''
}

function decoded(text: string, expected: MutatedKind['expected']): KubeObject {
  if (text.length > OBJECT_CHARACTERS_MAX)
    throw new MutationFault('JSON Patch: the patched object is too large')
  const made = decodePatched(text, expected)
  if ('fault' in made) throw internalError(made.fault)
  // Unknown fields of a built-in kind are an error. Unknown fields of custom objects are pruned
  // instead.
  if (made.strictFaults.length > 0 && expected.shape.custom === undefined) {
    throw internalError(`strict decoding error: ${strictText([], made.strictFaults)}`)
  }
  return made.object
}

function operationsOf(result: Result, work: Work): Operation[] {
  const values = new NativeValues()
  const operations: Operation[] = []
  if (!isList(result)) return operations
  for (const item of itemsOf(result)) {
    if (!isStruct(item))
      throw new MutationFault(
        'type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch',
      )
    const from = textIn(item, 'from')
    operations.push({
      op: textIn(item, 'op'),
      path: textIn(item, 'path'),
      from: from === '' ? undefined : from,
      value: operandOf(item, values, work),
    })
  }
  return operations
}

const textIn = (operation: StructValue, name: string): string => {
  const text = operation.get(name)
  return typeof text === 'string' ? text : ''
}

function operandOf(operation: StructValue, values: NativeValues, work: Work): Operation['value'] {
  const value = operation.get('value')
  if (value === undefined || value instanceof CelError) return undefined
  if (value instanceof ConstructedStruct && value.typeName !== 'JSONPatch') {
    const misnamed = typeNameFaults(value)
    if (misnamed !== '') throw new MutationFault(`type mismatch: ${misnamed}`)
  }
  try {
    return valueOf(printOrdered(values.patchOf(value)), work)
  } catch (error) {
    if (!(error instanceof MutationFault)) throw error
    throw new MutationFault(
      `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${error.message}`,
    )
  }
}
