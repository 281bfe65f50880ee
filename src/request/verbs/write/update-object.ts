import type { KubeObject } from '../../../api/object.ts'
import { assert } from '../../../lib/errors.ts'
import { shownAt } from '../../../registry/resource.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import type { Key } from '../../../storage/engine.ts'
import { isCode } from '../../../storage/errors.ts'
import type { WriteAccess } from '../access.ts'
import type { WrittenObject } from '../represent/representation.ts'
import { toApiError } from '../storage-errors.ts'
import type { WriteOptions } from '../write-options.ts'
import { HeldAllocation } from './allocate.ts'
import { type CommitResult, commit } from './commit.ts'
import { type WriteDecision, decide } from './decide.ts'
import { complete, mutate } from './steps.ts'
import { storeNew } from './store-new.ts'
import type { Change, UpdateOutcome, Write } from './write.ts'
import { answered, readBack, shownLarge, withVersion } from './written.ts'

type Updating = {
  readonly options: WriteOptions
  readonly access: WriteAccess
  readonly owners: 'recorded' | 'stated'
}

/** Changes an object or one of its subresources. */
export async function updateObject(
  request: ResourceRequest,
  change: Change,
  { options, access, owners }: Updating,
): Promise<UpdateOutcome> {
  const { resource, name, context } = request
  const corruptKey = access.corruptKey?.(access.keys.key(request.namespace, name))
  const operation = { resource, name, verb: 'update', corruptKey }
  const allocation = access.effects.allocator && new HeldAllocation(access.effects.allocator)
  let write: Write = { request, options, access, owners, allocation }
  for (;;) {
    try {
      return await updateOnce(write, change)
    } catch (error) {
      await write.allocation?.giveBack(error)
      // If the object with its managedFields is too large for etcd, it is stored without them. An
      // apply fails instead.
      if (write.owners !== 'recorded' || !isCode(error, 'too-large'))
        throw toApiError(context, operation, error)
      write = { ...write, owners: 'dropped' }
    } finally {
      context.endWrite()
    }
  }
}

/**
 * Updates the object once. The caller tries again without managedFields if the object is too large.
 */
async function updateOnce(write: Write, change: Change): Promise<UpdateOutcome> {
  const { request, options, access, allocation } = write
  const key = access.keys.key(request.namespace, request.name)
  let decided: WriteDecision | undefined
  let renamed: WrittenObject | undefined
  const committed = await commit(
    request,
    { key, access, isDryRun: options.isDryRun },
    async (current) => {
      if (renamed !== undefined) return 'unchanged'
      allocation?.withdraw()
      const given = await change(current && shownAt(request, current.object), current?.object)
      const mutated = await mutate(write, given, current)
      const completed = await complete(write, mutated, current)
      // A webhook changed the name of the new object, so that it differs from the name in the path.
      if (current === undefined && completed.metadata.name !== request.name) {
        renamed = await storeNew(write, completed)
        return 'unchanged'
      }
      const made = (): WriteDecision => decide(request.resource, completed, current?.object)
      decided = request.context.isLarge ? await request.context.inParts(made) : made()
      allocation?.offer()
      return decided.decision
    },
  )
  if (renamed !== undefined) {
    await allocation?.keep()
    return { isNew: true, ...renamed }
  }
  assert(decided !== undefined, 'a write was decided')
  const { outcome, previous } = committed
  if (outcome === 'put' && previous !== undefined && !options.isDryRun)
    access.effects.onUpdated?.(decided.object, previous.object)
  const updated = await updatedOf(write, key, { decided, committed })
  await allocation?.keep()
  return updated
}

type CommittedUpdate = { readonly decided: WriteDecision; readonly committed: CommitResult }

/** Returns the object for the response. */
async function updatedOf(
  { request, options, access, owners }: Write,
  key: Key,
  { decided, committed }: CommittedUpdate,
): Promise<UpdateOutcome> {
  const { resource, namespace } = request
  const { decision } = decided
  const { outcome, previous } = committed
  const bytes = typeof decision === 'object' ? { stored: decision.put } : {}
  const appliedTo = owners === 'stated' ? previous?.object : undefined
  const writing = {
    request,
    resource,
    access,
    ...bytes,
    mayHoldUnknown: request.view !== undefined,
    appliedTo,
  }
  const object: KubeObject = options.isDryRun
    ? await readBack(decided.object, writing)
    : decided.object
  if (outcome === 'deleted' && !options.isDryRun)
    await access.effects.allocator?.release(object, namespace)
  const isNew = previous === undefined
  if (options.isDryRun && isNew)
    return { isNew, ...(await shownLarge(request, shownAt(request, object))) }
  // If a write removes the last finalizer, the object is deleted. The response then contains the
  // previous resourceVersion.
  const revision =
    outcome === 'deleted' ? (previous?.revision ?? committed.revision) : committed.revision
  const isStored = outcome === 'put' && !options.isDryRun
  const stored = isStored ? await answered(object, key, revision, writing) : undefined
  if (stored !== undefined && request.view === undefined) return { isNew, ...stored }
  const json = request.view === undefined ? committed.unchanged?.wire() : undefined
  const shown = shownAt(request, stored?.object ?? withVersion(object, revision))
  return {
    isNew,
    ...(json === undefined ? await shownLarge(request, shown) : { object: shown, json }),
  }
}
