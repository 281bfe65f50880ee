/** Reads the owners of an object, for the checks of the garbage collector. */
import { fieldsOf, itemsOf, type KubeObject, textOf, textsOf } from '../../../../src/api/object.ts'

export type Owner = {
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly blocks: boolean
}

export const ownersOf = ({ metadata }: KubeObject): Owner[] =>
  itemsOf(fieldsOf(metadata)['ownerReferences']).map(({ kind, name, uid, blockOwnerDeletion }) => ({
    kind: textOf(kind),
    name: textOf(name),
    uid: textOf(uid),
    blocks: blockOwnerDeletion === true,
  }))

/** Whether the object waits for its dependents. */
export const isWaiting = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  textsOf(metadata.finalizers).includes('foregroundDeletion')
