/**
 * The roles and bindings that every cluster begins with: made where they are not there, and given
 * what they lack where they are, whenever a server starts, as kube-apiserver does. Another server
 * may do the same at the same time: who comes second looks again.
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
/** Written side by side. */
const WRITERS = 16
/** Each time somebody else was first. */
const TRIES = 5

export type BootstrapRolesOptions = {
  readonly handle: Handler
  readonly gates: Gates
  /**
   * Stores objects that probably do not exist, below the handler. Returns those that exist.
   * Undefined: the handler writes all of them.
   */
  readonly createAll:
    | ((wanted: readonly PolicyObject[], signal: AbortSignal) => Promise<PolicyObject[]>)
    | undefined
}

/** Fails when something could not be written, after it has written all the rest. */
export async function ensureRoles(
  { handle, gates, createAll }: BootstrapRolesOptions,
  signal: AbortSignal,
): Promise<void> {
  const policy = readPolicy(bootstrapPolicy, (gate) => gates.isOn(gate))
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
      // What memory answers holds the event loop: who connects at the start is not to wait for all
      // of it.
      if (slices.isOver) await slices.turn()
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, work))
  if (faults.length > 0) throw new Error(faults.join('; '))
}

type Caller = { readonly handle: Handler; readonly signal: AbortSignal }

/** Whether probably nothing of the policy exists. */
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
 * Before 1.14 anonymous users could read the version by the binding of system:discovery. Where an
 * operator has changed that one, the binding that came after it begins as its copy, so that nobody
 * gets back by an upgrade what was taken from them.
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
  // Another server was first.
  if (status >= ERROR && status !== CONFLICT)
    throw new Error(`${collection}/${name} could not be written: status ${status}`)
}

/** What went wrong; undefined: it is as it should be. */
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

/** What memory has is mostly the latest; a write that begins with less is refused. */
const fromMemory = { resourceVersion: '0' } as const

const OK = 200
const ERROR = 400
const NOT_FOUND = 404
const CONFLICT = 409
