/**
 * Computes the field managers of a view. A view is an object that represents one field of another
 * object: for example, Scale represents the replicas of a Deployment. The managers of this field
 * own the corresponding field in the view. If the view gets new managers, the object gets them as
 * well.
 */
import { difference, type FieldSet, intersects, isEmptySet } from './field-set.ts'
import { identityOf, type Owner, type Owners, withFields } from './managers.ts'

export type ViewField = {
  /**
   * Returns the field that the view represents in a version of the object, as a field set.
   * Undefined if this version does not have the field. `inView` is the corresponding field of the
   * view.
   */
  readonly inObject: (apiVersion: string) => FieldSet | undefined
  readonly inView: FieldSet
  readonly objectVersion: string
  readonly viewVersion: string
}

/**
 * Returns the managers of the view. The key of a manager with the operation Update includes its
 * version, so the same manager has another key in the view. As in kube-apiserver, any write to the
 * view moves the field from the key in the object to the key in the view.
 */
export function ownersInView(owners: Owners, { inObject, inView, viewVersion }: ViewField): Owners {
  const shown = [...owners.values()].filter(({ apiVersion, fields }) => {
    const field = inObject(apiVersion)
    return field !== undefined && intersects(fields, field)
  })
  const inVersion = shown.map(
    (owner): Owner => ({ ...owner, apiVersion: viewVersion, fields: inView, entry: undefined }),
  )
  return new Map(inVersion.map((owner) => [identityOf(owner), owner]))
}

/**
 * Returns the managers of the object after a write to the view. The entries that the write added do
 * not have a time.
 */
export function ownersInObject(owners: Owners, viewOwners: Owners, field: ViewField): Owners {
  const { inObject, inView, objectVersion } = field
  const after = new Map<string, Owner>()
  for (const [identity, owner] of owners) {
    const lost = viewOwners.has(identity) ? undefined : inObject(owner.apiVersion)
    const isKept = lost === undefined || !intersects(owner.fields, lost)
    const fields = isKept ? owner.fields : difference(owner.fields, lost)
    if (!isEmptySet(fields)) after.set(identity, withFields(owner, fields))
  }
  const written = inObject(objectVersion)
  if (written === undefined) return after
  for (const [identity, owner] of viewOwners) {
    if (owners.has(identity) || !intersects(owner.fields, inView)) continue
    after.set(identity, {
      ...owner,
      apiVersion: objectVersion,
      fields: written,
      time: undefined,
      entry: undefined,
    })
  }
  return after
}
