/**
 * Computes the field managers of a view. A view represents one field of another object: for
 * example, Scale represents the replicas of a Deployment. The managers of the field in the object
 * own the corresponding field in the view. Changes of ownership in the view are applied to the
 * object.
 */
import { difference, type FieldSet, intersects, isEmptySet } from './field-set.ts'
import { identityOf, type Owner, type Owners, withFields } from './managers.ts'

export type ViewField = {
  /**
   * Returns the field in a version of the object, as a field set. Returns undefined if the version
   * does not have the view. `inView` is the corresponding field in the view.
   */
  readonly inObject: (apiVersion: string) => FieldSet | undefined
  readonly inView: FieldSet
  readonly objectVersion: string
  readonly viewVersion: string
}

/**
 * Returns the managers of the view. The identity of an updater includes its version, so an updater
 * of the object has a different identity in the view. As in kube-apiserver, any write through the
 * view transfers the field to that identity.
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
 * Returns the managers of the object after a write through the view. Entries that the write added
 * have no time.
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
