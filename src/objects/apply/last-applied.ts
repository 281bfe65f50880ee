/**
 * Handles the annotation in which client-side apply (kubectl) stores the applied configuration. The
 * annotation lets users switch between client-side and server-side apply: fields that client-side
 * apply has set, and that have not changed since, do not cause conflicts. Server-side apply keeps
 * the annotation up to date.
 */
import { type Fields, fieldsOf, isFields, type Json, textOf } from '../../api/object.ts'
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { readAny } from '../../api/json-value.ts'
import { printSorted } from '../codec/json.ts'
import { compare } from './compare.ts'
import { difference, type FieldSet, noFields, union } from './field-set.ts'
import type { Writer } from './managers.ts'
import type { StructMerge } from './merge-type.ts'
import { appliedSet } from './owned.ts'
import { validateApplied } from './validate.ts'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
/** Maximum total size of all annotations of an object. */
const ANNOTATIONS_BYTES_MAX = 256 * 1024

export const isLastApplier = ({ manager }: Writer): boolean => manager === 'kubectl'

/** Returns the fields in the annotation whose values in the live object are still the same. */
export function allowedConflicts(live: Fields, type: StructMerge): FieldSet {
  const last = parse(textOf(annotationsOf(live)[annotation]))
  if (last === undefined || validateApplied(last, type).length > 0) return noFields
  const changed = compare(last, live, type)
  const all = appliedSet(last, type)
  return changed === undefined ? all : difference(all, union(changed.modified, changed.removed))
}

/**
 * Returns the annotations after an apply. The last-applied configuration is updated, or removed if
 * it would exceed the size limit. Returns undefined if the live object does not have this
 * annotation.
 */
export function annotationsAfter(annotations: Fields, applied: Fields): Fields | undefined {
  if (textOf(annotations[annotation]) === '') return undefined
  const { [annotation]: _, ...rest } = annotationsOf(applied)
  const metadata = fieldsOf(applied['metadata'])
  const said =
    'annotations' in metadata
      ? { ...applied, metadata: { ...metadata, annotations: rest } }
      : applied
  const next = { ...annotations, [annotation]: `${printSorted(said)}\n` }
  if (bytesOf(next) <= ANNOTATIONS_BYTES_MAX) return next
  const { [annotation]: _tooLong, ...others } = annotations
  return others
}

const annotationsOf = (object: Fields): Fields =>
  fieldsOf(fieldsOf(object['metadata'])['annotations'])

const bytesOf = (annotations: Fields): number =>
  Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(textOf(value)),
    0,
  )

function parse(text: string): Fields | undefined {
  try {
    const value: Json = readAny(new JsonScanner(text))
    return isFields(value) ? value : undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}
