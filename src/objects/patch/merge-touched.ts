/**
 * Applies a merge patch to an object of a built-in kind. Only the fields in the patch are printed,
 * merged and decoded again. All other fields stay decoded, so the cost does not depend on them.
 * This is possible only for kinds in which all fields have types.
 */
import { type Fields, fieldsOf, isFields, type Json, type KubeObject } from '../../api/object.ts'
import { type Decoding, decodeStruct } from '../codec/decode.ts'
import { printFields } from '../codec/print.ts'
import { once, stepOf } from '../../lib/scheduling/parts.ts'
import type { Slices, Steps } from '../../lib/scheduling/slices.ts'
import type { ObjectSchema } from '../schema/object-schema.ts'
import type { Struct } from '../schema/schema.ts'
import { JsonNode, type Members } from './document.ts'
import { mergeInto } from './merge-patch.ts'
import type { Work } from './work.ts'

type MergeContext = {
  readonly shape: Shape
  readonly work: Work
  readonly slices?: Slices | undefined
}

type Shape = Pick<ObjectSchema, 'struct' | 'setDefaults' | 'refuse'>

/**
 * Returns the patched object. The patch cannot be used again. Returns undefined if there is an
 * error, or if the patch sets the kind or apiVersion. The caller must then patch the whole object,
 * because errors quote all of it.
 */
export function* mergeTouched(
  current: KubeObject,
  patch: Members,
  { shape: { struct, setDefaults, refuse }, work, slices }: MergeContext,
): Steps<KubeObject | undefined> {
  if (patch.has('kind') || patch.has('apiVersion')) return undefined
  if (slices !== undefined) yield* openStructs(current, patch, struct)
  const places = placesIn(current, patch, struct)
  yield undefined
  const print = (): string => printFields(partOf(current, places), struct, 0)
  const printed = slices === undefined ? print() : yield* stepOf(print, slices)
  const root = new JsonNode(`{${printed}}`, work)
  if (slices !== undefined) yield* root.opened()
  yield* mergeInto(root.members() ?? new Map(), patch)
  yield undefined
  const decode = (): Decoding =>
    decodeStruct(
      once('merged text', () => root.print()),
      struct,
    )
  const { value, fault, strictFaults } =
    slices === undefined ? decode() : yield* stepOf(decode, slices)
  if (fault !== undefined || strictFaults.length > 0) return undefined
  const { kind, apiVersion } = current
  const fields = joined(current, value, places)
  const object = { ...fields, kind, apiVersion, metadata: fieldsOf(fields['metadata']) }
  if (refuse?.(object) !== undefined) return undefined
  return slices === undefined
    ? setDefaults(object)
    : yield* stepOf(() => setDefaults(object), slices)
}

/**
 * The fields that a patch changes. For a struct that exists, these are the changed fields inside
 * it. All other values are changed as a whole.
 */
type StructFields = ReadonlyMap<string, StructFields | 'whole'>

/** Parses in time slices those parts of the patch that `placesIn` reads next. */
function* openStructs(value: Fields, patch: Members, { byName }: Struct): Steps<void> {
  for (const [key, given] of patch) {
    const schema = byName.get(key)?.schema
    const own = value[key]
    if (given === null || schema?.type !== 'struct' || !isFields(own)) continue
    yield* given.opened()
    const members = given.members()
    if (members !== undefined) yield* openStructs(own, members, schema)
  }
}

function placesIn(value: Fields, patch: Members, { byName }: Struct): StructFields {
  const places = new Map<string, StructFields | 'whole'>()
  for (const [key, given] of patch) {
    const schema = byName.get(key)?.schema
    // Unknown fields are skipped here, because the decoder reports them.
    if (schema === undefined) continue
    const own = value[key]
    const isInside = schema.type === 'struct' && isFields(own)
    const members = isInside ? given?.members() : undefined
    places.set(key, isInside && members !== undefined ? placesIn(own, members, schema) : 'whole')
  }
  return places
}

function partOf(value: Fields, places: StructFields): Fields {
  const part: { [name: string]: Json } = {}
  for (const [name, inside] of places) {
    const own = value[name]
    if (own !== undefined) part[name] = inside === 'whole' ? own : partOf(fieldsOf(own), inside)
  }
  return part
}

/** Returns a copy of a value, in which the changed fields have the values in `part`. */
function joined(value: Fields, part: Fields, places: StructFields): Fields {
  const all: { [name: string]: Json | undefined } = { ...value }
  for (const [name, inside] of places) {
    const made = part[name]
    if (made === undefined) delete all[name]
    else
      all[name] = inside === 'whole' ? made : joined(fieldsOf(value[name]), fieldsOf(made), inside)
  }
  return all
}
