/**
 * Owners seen through a view that shows one field of an object under a path of its own, as scale shows the replicas: who owns the
 * field owns it in the view, and what becomes of it there becomes of it in the object.
 */
import { difference, type FieldSet, intersects, isEmptySet } from './field-set.ts'
import type { Owner, Owners } from './managers.ts'
import { withFields } from './managers.ts'

export type ViewField = {
  /** The field in the object and in the view, each as a set with nothing else in it. */
  readonly inObject: FieldSet
  readonly inView: FieldSet
  readonly objectVersion: string
  readonly viewVersion: string
}

export function ownersInView(owners: Owners, { inObject, inView, viewVersion }: ViewField): Owners {
  const shown = [...owners].filter(([, { fields }]) => intersects(fields, inObject))
  return new Map(
    shown.map(([identity, owner]) => [
      identity,
      { ...owner, apiVersion: viewVersion, fields: inView, entry: undefined },
    ]),
  )
}

/** The owners of the object, now that the view's are these. What was written through the view has no time. */
export function ownersInObject(owners: Owners, viewOwners: Owners, field: ViewField): Owners {
  const { inObject, inView, objectVersion } = field
  const after = new Map<string, Owner>()
  for (const [identity, owner] of owners) {
    const isKept = viewOwners.has(identity) || !intersects(owner.fields, inObject)
    const fields = isKept ? owner.fields : difference(owner.fields, inObject)
    if (!isEmptySet(fields)) after.set(identity, withFields(owner, fields))
  }
  for (const [identity, owner] of viewOwners) {
    if (owners.has(identity) || !intersects(owner.fields, inView)) continue
    after.set(identity, { ...owner, apiVersion: objectVersion, fields: inObject, time: undefined, entry: undefined })
  }
  return after
}
