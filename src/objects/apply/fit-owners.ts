/**
 * Adapts field managers to a schema that has changed since their last write. If a list, map or
 * struct is atomic now and was granular before, each manager that owned a part of it now owns all
 * of it. If it is granular now and was atomic before, its managers stay unchanged.
 */
import { eachItem } from '../../lib/scheduling/parts.ts'
import { type FieldSet, ownedLeaf } from './field-set.ts'
import { type Owner, type Owners, withFields } from './managers.ts'
import type { MergeType, StructMerge } from './merge-type.ts'

/**
 * Returns the managers with field sets that match the schema. `typeIn` returns the merge type of an
 * API version. It returns undefined if the kind does not have this version; its managers are then
 * unchanged.
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
 * Field sets that match a merge type. Objects with the same managers share their field sets, so
 * most sets need to be checked only once.
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

/** Returns the merge type of a field or item, or undefined if the schema does not declare it. */
function typeAt(
  element: string,
  type: Exclude<MergeType, { form: 'scalar' | 'any' }>,
): MergeType | undefined {
  return type.form === 'struct' ? type.fields.get(element.slice('f:'.length))?.below : type.of
}
