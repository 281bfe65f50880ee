/**
 * Patches of type ApplyConfiguration. An expression constructs an object, which is merged into the
 * object of the request, as in server-side apply.
 */
import { goPlain, goSyntax } from '../../api/go-value.ts'
import { type Fields, fieldsOf, isFields, type Json, type KubeObject } from '../../api/object.ts'
import { merge } from '../../objects/apply/merge.ts'
import type { MergeType } from '../../objects/apply/merge-type.ts'
import { mergeTypeOfObjects } from '../../objects/apply/object-merge-type.ts'
import { childOf } from '../../objects/apply/owned.ts'
import { itemElement, printElement } from '../../objects/apply/path-element.ts'
import { formatFaults, validateApplied, validateTyped } from '../../objects/apply/validate.ts'
import { wholeWire } from '../../objects/apply/wire.ts'
import { ConstructedStruct, type Result } from '../../objects/cel/values.ts'
import { decodePatched } from '../../objects/codec/decode-body.ts'
import { printOrdered } from '../../objects/codec/json.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import { RestoreError, restoreStruct } from '../../objects/patch/restore.ts'
import { atomicsIn } from './atomics.ts'
import { goTextOf } from './foreign-text.ts'
import type { MutatedKind } from './mutated.ts'
import { type ForeignValue, MutationFault, NativeValues } from './native-value.ts'
import { typeNameFaults } from './type-names.ts'

/** The first release in which lists of the object may contain several items with the same key. */
const REPEATS_ALLOWED_SINCE = 35

/**
 * Returns the merged object. Fails with a MutationFault if the result of the expression cannot be
 * merged.
 */
export function* applyConfiguration(
  result: Result,
  object: KubeObject,
  mutated: MutatedKind,
): Steps<KubeObject> {
  const { group, version, kind, shape } = mutated.expected
  if (!(result instanceof ConstructedStruct))
    throw new MutationFault('unsupported return type from ApplyConfiguration expression')
  const misnamed = typeNameFaults(result)
  if (misnamed !== '') throw new MutationFault(`type mismatch: ${misnamed}`)
  const values = new NativeValues()
  const apiVersion = group === '' ? version : `${group}/${version}`
  const applied: Fields = { ...fieldsOf(values.appliedOf(result)), apiVersion, kind }
  const gvk = `${group}/${version}, Kind=${kind}`
  if (!mutated.hasSchema)
    throw refused(
      'failed to convert patch object to typed object',
      `no corresponding type for ${gvk}`,
    )
  const type = mergeTypeOfObjects(shape.struct)
  const misfit = values.foreign
    .map((one) => foreignFault(one, applied, type))
    .find((fault) => fault !== undefined)
  const faults = misfit === undefined ? validateApplied(applied, type) : [misfit]
  if (faults.length > 0)
    throw refused('failed to convert patch object to typed object', formatFaults(faults))
  const atomics = atomicsIn(applied, type)
  if (atomics.length > 0) {
    throw refused(
      'invalid ApplyConfiguration',
      `may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    )
  }
  yield undefined
  const live = wholeWire(object, shape.struct)
  yield undefined
  const misfits = (mutated.release < REPEATS_ALLOWED_SINCE ? validateApplied : validateTyped)(
    live,
    type,
  )
  if (misfits.length > 0)
    throw refused('failed to convert original object to typed object', formatFaults(misfits))
  yield undefined
  const merged = fieldsOf(merge(live, applied, type))
  yield undefined
  return merged === live ? object : objectOf(merged, { live, object, mutated, gvk })
}

const refused = (what: string, why: string): MutationFault =>
  new MutationFault(`error applying patch: ${what}: ${why}`)

type AppliedConfiguration = {
  readonly live: Fields
  readonly object: KubeObject
  readonly mutated: MutatedKind
  readonly gvk: string
}

function objectOf(
  merged: Fields,
  { live, object, mutated: { expected }, gvk }: AppliedConfiguration,
): KubeObject {
  const { shape } = expected
  const { kind, apiVersion } = object
  const refuse = (why: string): MutationFault =>
    new MutationFault(`unable to convert unstructured object to ${gvk}: ${why}`)
  if (shape.custom !== undefined) {
    const decoded = decodePatched(printOrdered(merged), expected, 'apply')
    if ('fault' in decoded) throw refuse(decoded.fault)
    return decoded.object
  }
  try {
    const { value } = restoreStruct(merged, shape.struct, { tree: live, value: object })
    const restored = { ...value, kind, apiVersion, metadata: fieldsOf(value['metadata']) }
    const why = shape.refuse?.(restored)
    if (why !== undefined) throw refuse(why)
    return shape.setDefaults(restored)
  } catch (error) {
    throw error instanceof RestoreError ? refuse(error.message) : error
  }
}

/**
 * Returns an error if the value does not have the type of the field. Returns undefined if the type
 * is unknown, because any value is then allowed.
 */
function foreignFault(
  { path, value, json }: ForeignValue,
  root: Json,
  type: MergeType,
): string | undefined {
  let [at, below]: [Json, MergeType] = [root, type]
  let shown = ''
  for (const [depth, key] of path.entries()) {
    const item: Json =
      (Array.isArray(at) ? at[Number(key)] : isFields(at) ? at[key] : undefined) ?? null
    if (below.form === 'list') {
      if (below.by === 'keys' && depth === path.length - 1) {
        return `${shown}: element ${key}: associative list with keys may not have non-map elements`
      }
      shown += printElement(
        (below.by === 'whole' ? undefined : itemElement(item, below)) ?? `i:${key}`,
      )
      below = below.of
    } else if (below.form === 'map' || below.form === 'struct') {
      const child = childOf(String(key), below)
      shown += printElement(child.element)
      below = child.below
    } else return undefined
    at = item
  }
  const { plain, syntax, name } = goTextOf(value) ?? {
    plain: goPlain(json),
    syntax: goSyntax(json).replaceAll('map[string]interface {}', 'map[ref.Val]ref.Val'),
    name: Array.isArray(json) ? '[]ref.Val' : 'map[ref.Val]ref.Val',
  }
  switch (below.form) {
    case 'any':
      return undefined
    case 'list':
    case 'map':
    case 'struct':
      return `${shown}: expected ${below.form === 'list' ? 'list' : 'map'}, got &{${plain}}`
    case 'scalar':
      if (below.scalar === 'string')
        return `${shown}: expected string, got &value.valueUnstructured{Value:${syntax}}`
      if (below.scalar === 'numeric')
        return `${shown}: expected numeric (int or float), got ${name}`
      return `${shown}: expected ${below.scalar === 'boolean' ? 'boolean' : 'any scalar'}, got &{${plain}}`
  }
}
