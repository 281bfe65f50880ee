/**
 * Finds atomic lists, maps and structs in an apply configuration. Mutating policies must not set
 * such values, because everything that is missing from the new value would be removed. Authors of
 * expressions rarely intend this.
 */
import { isFields, type Json } from '../../api/object.ts'
import type { MergeType } from '../../objects/apply/merge-type.ts'
import { BoundedTexts } from '../../lib/text/bounded-texts.ts'
import { FAULTS_CHARACTERS_MAX } from '../../api/field-fault.ts'

/** Returns the paths of the atomic values. A path includes the indexes of list items. */
export function atomicsIn(value: Json, type: MergeType): readonly string[] {
  const found = new BoundedTexts(FAULTS_CHARACTERS_MAX)
  visit(value, type, { path: '', found })
  return found.all
}

type AtomicContext = { readonly path: string; readonly found: BoundedTexts }

function visit(value: Json, type: MergeType, { path, found }: AtomicContext): void {
  if (Array.isArray(value)) {
    // A list is atomic if the type of its field is unknown.
    if (type.form === 'any' || (type.form === 'list' && type.by === 'whole')) found.add(() => path)
    if (type.form !== 'list') return
    for (const [at, item] of value.entries())
      visit(item, type.of, { path: `${path}[${at}]`, found })
  } else if (isFields(value)) {
    const isAtomic =
      type.form === 'any' ? type.isWhole === true : 'isAtomic' in type && type.isAtomic
    if (isAtomic) found.add(() => path)
    if (type.form !== 'struct') return
    for (const [name, { below }] of type.fields) {
      const field = value[name]
      if (field !== undefined) visit(field, below, { path: `${path}.${name}`, found })
    }
  }
}
