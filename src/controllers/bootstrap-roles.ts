/**
 * Ensures that the default roles and bindings exist. As in kube-apiserver, each server creates
 * missing objects at startup, and adds missing rules and subjects to existing ones. If another
 * server writes an object at the same time, the server whose write fails reads the object again.
 */
import type { Gates } from '../api/gates.ts'
import { fieldsOf, itemsOf, textOf } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { bootstrapPolicy } from '../access/rbac/bootstrap-policy.ts'
import { type PolicyObject, readPolicy } from '../access/rbac/read-policy.ts'
import { reconcile } from '../access/rbac/reconcile.ts'

const root = '/apis/rbac.authorization.k8s.io/v1'
/** Maximum number of objects that are written concurrently. */
const WRITERS = 16
/**
 * Maximum number of attempts per object. An attempt fails if another server writes the object at
 * the same time.
 */
const TRIES = 5

export type BootstrapRolesOptions = {
  readonly handle: Handler
  readonly gates: Gates
  /**
   * Creates objects directly in the store, and returns those that already exist there. Used only
   * for a cluster that is probably new. If undefined, all objects are created by requests.
   */
  readonly createAll:
    | ((wanted: readonly PolicyObject[], signal: AbortSignal) => Promise<PolicyObject[]>)
    | undefined
}

/**
 * Ensures that all roles and bindings exist. If some cannot be written, rejects after all others
 * are written.
 */
export async function ensureRoles(
  { handle, gates, createAll }: BootstrapRolesOptions,
  signal: AbortSignal,
): Promise<void> {
  const policy = readPolicy(bootstrapPolicy, gates)
  const caller = { handle, signal }
  const isNew = createAll !== undefined && (await isNewCluster(caller, policy))
  if (!isNew) await inheritPublicInfo(caller)
  const queue = (isNew ? await createAll(policy, signal) : policy).values()
  const faults: string[] = []
  const slices = new Slices()
  const work = async (): Promise<void> => {
    for (const wanted of queue) {
      if (signal.aborted) return
      const fault = await ensureOne(caller, wanted)
      if (fault !== undefined) faults.push(fault)
      // Requests that are served from memory do not yield to the event loop, so yield here.
      // Otherwise clients that connect at startup would have to wait until all objects are written.
      if (slices.isOver) await slices.turn()
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, work))
  if (faults.length > 0) throw new Error(faults.join('; '))
}

type Caller = { readonly handle: Handler; readonly signal: AbortSignal }

/** Whether the cluster is probably new, so that none of the default roles and bindings exist. */
async function isNewCluster(
  { handle, signal }: Caller,
  [first]: readonly PolicyObject[],
): Promise<boolean> {
  if (first === undefined) return false
  const { path } = placeOf(first)
  return (
    (await request(handle, { method: 'GET', path, query: fromMemory, signal })).status === NOT_FOUND
  )
}

/**
 * Creates the binding system:public-info-viewer as a copy of the binding system:discovery. Before
 * Kubernetes 1.14, system:discovery allowed anonymous users to read the version. If an operator
 * restricted that binding, an upgrade must not restore the permission.
 */
async function inheritPublicInfo({ handle, signal }: Caller): Promise<void> {
  const collection = `${root}/clusterrolebindings`
  const name = 'system:public-info-viewer'
  const read = async (which: string) =>
    request(handle, { method: 'GET', path: `${collection}/${which}`, signal })
  if ((await read(name)).status !== NOT_FOUND) return
  const found = await read('system:discovery')
  if (found.status !== OK) return
  const { metadata, subjects } = fieldsOf(objectOf(found))
  const { labels, annotations } = fieldsOf(metadata)
  const body = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: fieldsOf(labels), annotations: fieldsOf(annotations) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: itemsOf(subjects),
  }
  const { status } = await request(handle, { method: 'POST', path: collection, body, signal })
  // A conflict means that another server has created the binding.
  if (status >= ERROR && status !== CONFLICT)
    throw new Error(`${collection}/${name} could not be written: status ${status}`)
}

/**
 * Creates or updates an object. Returns an error message, or undefined if the object is now
 * correct.
 */
async function ensureOne(caller: Caller, wanted: PolicyObject): Promise<string | undefined> {
  let status = 0
  for (let tries = 0; tries < TRIES; tries++) {
    status = await attempt(caller, wanted, { isFirst: tries === 0 })
    if (status < ERROR) return undefined
    if (status !== CONFLICT && status !== NOT_FOUND) break
  }
  return `${placeOf(wanted).path} could not be written: status ${status}`
}

type Attempt = { readonly isFirst: boolean }

async function attempt(
  { handle, signal }: Caller,
  wanted: PolicyObject,
  { isFirst }: Attempt,
): Promise<number> {
  const { object } = wanted
  const { collection, path } = placeOf(wanted)
  const create = async (): Promise<number> =>
    (await request(handle, { method: 'POST', path: collection, body: object, signal })).status
  const found = await request(handle, {
    method: 'GET',
    path,
    query: isFirst ? fromMemory : {},
    signal,
  })
  if (found.status === NOT_FOUND) return create()
  if (found.status !== OK) return found.status
  const current = fieldsOf(objectOf(found))
  const reconciled = await reconcile(current, object)
  if (reconciled.operation === 'none') return OK
  if (reconciled.operation === 'update') {
    return (await request(handle, { method: 'PUT', path, body: reconciled.object, signal })).status
  }
  const preconditions = { uid: textOf(fieldsOf(current['metadata'])['uid']) }
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions }
  const { status } = await request(handle, { method: 'DELETE', path, body, signal })
  return status === OK || status === NOT_FOUND ? create() : status
}

type ObjectPath = { readonly collection: string; readonly path: string }

function placeOf({ resource, object }: PolicyObject): ObjectPath {
  const { namespace, name = '' } = object.metadata
  const collection =
    namespace === undefined ? `${root}/${resource}` : `${root}/namespaces/${namespace}/${resource}`
  return { collection, path: `${collection}/${name}` }
}

/**
 * Read the object from the cache. If the cached object is outdated, the write fails with a
 * conflict.
 */
const fromMemory = { resourceVersion: '0' } as const

const OK = 200
const ERROR = 400
const NOT_FOUND = 404
const CONFLICT = 409
