import type { KubeObject } from '../../api/object.ts'
import type { Item } from '../../storage/cache/item.ts'
import { encodeStored } from '../../objects/codec/object.ts'
import { Slices, type SlicesTime } from '../../lib/scheduling/slices.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Decision } from '../../storage/store.ts'
import type { WriteAccess } from './access.ts'
import { decideDeletion, isMarked } from '../../registry/deletion.ts'

/** Maximum number of concurrent deletes for one CustomResourceDefinition. */
const DELETES_MAX = 16
/**
 * Number of objects in a batch. Before each batch, the server checks again whether the
 * CustomResourceDefinition is still being deleted.
 */
const BATCH = 128

export type DeleteInstancesOptions = {
  /**
   * Whether the CustomResourceDefinition still exists and is being deleted. This function is called
   * after the list and before each batch. If it returns true, no listed object belongs to a
   * definition that was created later under the same name.
   */
  readonly isDoomed: () => Promise<boolean>
  readonly time?: SlicesTime
}

/**
 * Deletes all objects of a custom resource whose CustomResourceDefinition is being deleted. As in
 * kube-apiserver, these deletes have no options and skip admission. Returns how many of the listed
 * objects remain because of their finalizers.
 */
export async function deleteInstances(
  resource: Resource,
  access: Pick<WriteAccess, 'keys' | 'reader' | 'storage' | 'now'>,
  { isDoomed, time }: DeleteInstancesOptions,
): Promise<number> {
  const { keys, reader } = access
  const { items } = await reader.list(keys.range(), 'latest')
  let left = 0
  for (let at = 0; at < items.length; at += BATCH) {
    if (!(await isDoomed())) return 0
    left += await deleteBatch(resource, access, { items: items.slice(at, at + BATCH), time })
  }
  return left
}

async function deleteBatch(
  resource: Resource,
  { storage: { store, decode }, now }: Pick<WriteAccess, 'storage' | 'now'>,
  { items, time }: { readonly items: readonly Item[]; readonly time: SlicesTime | undefined },
): Promise<number> {
  const queue = items.values()
  let left = 0
  const slices = new Slices(time)
  const work = async (): Promise<void> => {
    for (const item of queue) {
      if (slices.isOver) await slices.turn()
      // The object only waits until its finalizers are removed, which can take a long time. No
      // further write is needed.
      if (isHeld(item.peek())) {
        left++
        continue
      }
      let isLeft = false
      await store.update(item.key, { decode }, (current): Decision => {
        isLeft = false
        // Another replica might already have deleted the object. An object that now has the same
        // name was not in the list.
        if (current?.createRevision !== item.createRevision) return 'unchanged'
        const deletion = decideDeletion(current.object, resource.deletion, noOptions, now())
        isLeft = deletion.step === 'mark' || deletion.step === 'keep'
        if (!isLeft) return 'delete'
        return deletion.step !== 'mark' || isMarked(current.object)
          ? 'unchanged'
          : { put: encodeStored(deletion.object, resource.shape) }
      })
      if (isLeft) left++
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: DELETES_MAX }, work))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return left
}

const isHeld = (object: KubeObject): boolean =>
  isMarked(object) && (object.metadata.finalizers ?? []).length > 0

const noOptions = {
  gracePeriodSeconds: undefined,
  orphanDependents: undefined,
  propagation: undefined,
} as const
