/**
 * The persistentvolumeclaim-protection-controller and the persistentvolume-protection-controller. A
 * finalizer prevents the removal of a claim while a pod uses it, and of a volume while it is bound.
 * Admission adds the finalizer to new objects.
 */
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../api/object.ts'
import type { Item } from '../storage/cache/item.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { volumeClaimName, volumeClaimNames } from '../registry/kinds/core/pod/references.ts'
import { ChangesInformer } from './changes-informer.ts'
import { headOf } from './object-head.ts'
import { ObjectController, type ObjectControllerOptions } from './object-controller.ts'
import type { CacheAccess } from './cache-access.ts'

/** Number of workers of each controller, as in kube-controller-manager. */
const WORKERS_MAX = 1

const claimFinalizer = 'kubernetes.io/pvc-protection'
const volumeFinalizer = 'kubernetes.io/pv-protection'

export const protectVolumes = (options: ObjectControllerOptions): AsyncDisposable =>
  new ObjectController(
    {
      name: 'the protection of a volume',
      queue: 'pvprotection',
      workersMax: WORKERS_MAX,
      group: '',
      plural: 'persistentvolumes',
      concerns: (item) => isConcerned(item, volumeFinalizer),
      work: async (volume, write) => {
        const isUsed = fieldsOf(volume['status'])['phase'] === 'Bound'
        const changed = await protectedObject(volume, volumeFinalizer, async () => isUsed)
        if (changed !== undefined) await write.update(changed)
        return undefined
      },
    },
    options,
  )

export function protectClaims(options: ObjectControllerOptions): AsyncDisposable {
  const { registry, accessOf, log } = options
  const stack = new AsyncDisposableStack()
  const pods = registry.find({ group: '', version: 'v1', plural: 'pods' })
  if (pods === undefined) return stack
  const access = accessOf(pods)
  const controller = new ObjectController(
    {
      name: 'the protection of a claim',
      queue: 'pvcprotection',
      workersMax: WORKERS_MAX,
      group: '',
      plural: 'persistentvolumeclaims',
      concerns: (item) => isConcerned(item, claimFinalizer),
      work: async (claim, write) => {
        const changed = await protectedObject(claim, claimFinalizer, () =>
          isClaimUsed(claim, access),
        )
        if (changed !== undefined) await write.update(changed)
        return undefined
      },
    },
    options,
  )
  stack.use(controller)
  const onPod = (item: Item): void => {
    // Do not decode a large pod to find its claims. It is faster to check all claims again.
    if (item.isLarge) return controller.allAgain()
    const { metadata, spec } = item.peek()
    for (const name of volumeClaimNames(metadata.name ?? '', fieldsOf(spec)))
      controller.again(metadata.namespace, name)
  }
  stack.use(
    new ChangesInformer({
      name: 'pods of claims',
      access,
      // Ignore new pods. They cannot end the use of a claim.
      onChange: ({ type, item }) => (type === 'ADDED' ? undefined : onPod(item)),
      onStart: () => controller.allAgain(),
      log,
    }),
  )
  return stack
}

/**
 * Whether the finalizer of the object has to be changed: it must be removed if the object is being
 * deleted, and added otherwise.
 */
function isConcerned(item: Item, finalizer: string): boolean {
  const { isMarked, finalizers } = headOf(item)
  return isMarked === finalizers.includes(finalizer)
}

/**
 * Returns the object with a missing finalizer added, or with an unneeded finalizer removed. Returns
 * undefined if the object is correct.
 */
async function protectedObject(
  object: KubeObject,
  finalizer: string,
  isUsed: () => Promise<boolean>,
): Promise<KubeObject | undefined> {
  const { metadata } = object
  const finalizers = metadata.finalizers ?? []
  const hasIt = finalizers.includes(finalizer)
  if (metadata.deletionTimestamp === undefined) {
    return hasIt
      ? undefined
      : { ...object, metadata: { ...metadata, finalizers: [...finalizers, finalizer] } }
  }
  if (!hasIt || (await isUsed())) return undefined
  return {
    ...object,
    metadata: { ...metadata, finalizers: finalizers.filter((one) => one !== finalizer) },
  }
}

/**
 * Whether any pod uses the claim. Runs in slices of time, because a namespace can have thousands of
 * pods, each of which must be decoded.
 */
export async function isClaimUsed(
  claim: KubeObject,
  { keys, reader }: CacheAccess,
): Promise<boolean> {
  const { items } = await reader.list(keys.range(claim.metadata.namespace), 'latest')
  const slices = new Slices()
  for (const item of items) {
    if (slices.isOver) await slices.turn()
    if (usesClaim(await item.peekInParts(), claim)) return true
  }
  return false
}

/**
 * Whether a pod uses the claim. A pod that is not assigned to a node does not use it, because the
 * pod cannot start once the claim is being deleted.
 */
export function usesClaim(pod: KubeObject, claim: KubeObject): boolean {
  const { name = '', deletionTimestamp, deletionGracePeriodSeconds: grace } = pod.metadata
  const spec = fieldsOf(pod['spec'])
  if (textOf(spec['nodeName']) === '') return false
  const isShutDown = deletionTimestamp !== undefined && grace === 0
  return itemsOf(spec['volumes']).some((volume) => {
    if (volumeClaimName(name, volume) !== claim.metadata.name) return false
    return volume['ephemeral'] === undefined || (!isShutDown && isControlledBy(claim, pod))
  })
}

const isControlledBy = ({ metadata }: KubeObject, pod: KubeObject): boolean =>
  itemsOf(metadata['ownerReferences']).some(
    ({ uid, controller }) => controller === true && uid === pod.metadata.uid,
  )
