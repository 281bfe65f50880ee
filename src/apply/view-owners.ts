/**
 * Owners seen through a view that shows one field of an object under a path of its own, as scale shows the replicas: who owns the
 * field owns it in the view, and what becomes of it there becomes of it in the object.
 */
import { difference, type FieldSet, intersects, isEmptySet } from './field-set.ts'
import { identityOf, type Owner, type Owners, withFields } from './managers.ts'

export type ViewField = {
  /** The field in the object and in the view, each as a set with nothing else in it. */
  readonly inObject: FieldSet
  readonly inView: FieldSet
  readonly objectVersion: string
  readonly viewVersion: string
}

/** An updater is known by its version too, so it is another one in the view: upstream moves the field to it with any write there. */
export function ownersInView(owners: Owners, { inObject, inView, viewVersion }: ViewField): Owners {
  const shown = [...owners.values()].filter(({ fields }) => intersects(fields, inObject))
  const inVersion = shown.map(
    (owner): Owner => ({ ...owner, apiVersion: viewVersion, fields: inView, entry: undefined }),
  )
  return new Map(inVersion.map((owner) => [identityOf(owner), owner]))
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
