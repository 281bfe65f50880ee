/**
 * Adapts field managers to a schema that has changed since their last write. If a list, a map or a
 * struct has become atomic, each manager that owned a part of it then owns all of it. If it has
 * become granular, its managers are unchanged.
 */
import { eachItem } from '../../lib/scheduling/parts.ts'
import { type FieldSet, ownedLeaf } from './field-set.ts'
import { type Owner, type Owners, withFields } from './managers.ts'
import type { MergeType, StructMerge } from './merge-type.ts'

/**
 * Returns the managers with field sets that match the schema. `typeIn` returns undefined if the
 * kind has no such version; managers of that version are unchanged.
 */
export function fitOwners(
  owners: Owners,
  typeIn: (apiVersion: string) => StructMerge | undefined,
): Owners {
  const { fitted } = eachItem(
    'owners to fit',
    [...owners],
    (): { fitted: Map<string, Owner> | undefined } => ({ fitted: undefined }),
    (state, [identity, owner]) => {
      const type = typeIn(owner.apiVersion)
      if (type === undefined || isKnownToFit(owner.fields, type)) return true
      const fields = fit(owner.fields, type)
      remember(fields, type)
      if (fields !== owner.fields)
        (state.fitted ??= new Map(owners)).set(identity, withFields(owner, fields))
      return true
    },
  )
  return fitted ?? owners
}

/**
 * Field sets that are known to match a type. Objects with the same managers share their sets, so
 * most sets have been checked before.
 */
const known = new WeakMap<StructMerge, WeakSet<FieldSet>>()

const isKnownToFit = (fields: FieldSet, type: StructMerge): boolean =>
  known.get(type)?.has(fields) === true

function remember(fields: FieldSet, type: StructMerge): void {
  const sets = known.get(type) ?? new WeakSet()
  known.set(type, sets.add(fields))
}

function fit(set: FieldSet, type: MergeType): FieldSet {
  if (set.children.size === 0 || type.form === 'scalar' || type.form === 'any') return set
  if (type.form === 'list' ? type.by === 'whole' : type.isAtomic) return ownedLeaf
  let children: Map<string, FieldSet> | undefined
  for (const [element, child] of set.children) {
    const below = typeAt(element, type)
    const fitted = below === undefined ? child : fit(child, below)
    if (fitted !== child) (children ??= new Map(set.children)).set(element, fitted)
  }
  return children === undefined ? set : { isOwned: set.isOwned, children }
}

/** Returns the type of an element, or undefined if the schema does not declare the element. */
function typeAt(
  element: string,
  type: Exclude<MergeType, { form: 'scalar' | 'any' }>,
): MergeType | undefined {
  return type.form === 'struct' ? type.fields.get(element.slice('f:'.length))?.below : type.of
}
