/**
 * Creates the allocators for Services. An allocated address is an IPAddress object or, with the
 * MultiCIDRServiceAllocator feature gate off, an entry in a record that the server stores in etcd.
 * Node ports are entries in a similar record.
 */
import { unclassified } from '../../api/errors.ts'
import type { Cidr } from '../../api/ip.ts'
import type { KubeObject } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Key } from '../../storage/engine.ts'
import { serverRecords } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { ClusterIps, type Parent } from './cluster-ips.ts'
import { IpRecords } from './ip-records.ts'
import type { AllocatorMetrics } from './metrics.ts'
import { RangeRecord } from './range-record.ts'
import { adopted, type NumberRange } from './number-set.ts'
import { RecordedIps } from './recorded-ips.ts'
import { Repair } from './repair.ts'
import { ServiceAllocator } from './service-allocator.ts'

/** Timeout of a request that the server sends to itself. */
const REQUEST_MS_MAX = 15_000

export type ServiceAddressesIn = 'objects' | 'objects and records' | 'records'

/** The objects of one resource in the cache. `get` and `has` are for cluster-scoped resources. */
export type ResourceObjects = {
  readonly get: (name: string, at: 'any' | 'latest') => Promise<KubeObject | undefined>
  /** Whether the cache contains the object. The object is not decoded. */
  readonly has: (name: string) => Promise<boolean>
  readonly list: (at: 'any' | 'latest') => Promise<readonly KubeObject[]>
}

export type AllocatorsOptions = {
  readonly handle: Handler
  readonly store: Store
  /** Minor version of the release that the control plane serves. */
  readonly release: number
  /** The prefix of all keys. */
  readonly root: Key
  readonly addresses: ResourceObjects
  readonly ranges: ResourceObjects
  readonly services: ResourceObjects
  /**
   * The ranges of cluster IPs, one for each IP family of the cluster. The first one is the primary
   * range.
   */
  readonly cidrs: readonly Cidr[]
  /**
   * Where allocated addresses are stored: only in objects, in objects and in the records of older
   * servers, or only in these records.
   */
  readonly addressesIn: ServiceAddressesIn
  readonly nodePorts: NumberRange
  readonly metrics: AllocatorMetrics
  readonly random: () => number
  /** Returns a number that increases when the database is replaced by another database. */
  readonly life: () => number
  readonly wallMs: () => number
  readonly log: Log
}

export type ServiceAllocators = { readonly allocator: ServiceAllocator; readonly repair: Repair }

export function createAllocators(options: AllocatorsOptions): ServiceAllocators {
  const { handle, store, root, random, life, log, cidrs, wallMs } = options
  const writes = {
    createAddress: (address: KubeObject) => createAddress(handle, address),
    deleteAddress: (ip: string, uid: string) => deleteAddress(handle, ip, uid),
  }
  const reads = {
    listRanges: options.ranges.list,
    readAddress: options.addresses.get,
    hasAddress: options.addresses.has,
  }
  const isRecorded = options.addressesIn === 'records'
  const ranges = options.addressesIn === 'objects' ? [] : cidrs
  const records = new IpRecords({ store, root, ranges, life, random, log })
  const clusterIps = isRecorded
    ? new RecordedIps(records.entries)
    : new ClusterIps({ ...reads, ...writes, records, random })
  const nodePorts = createNodePorts(options)
  const deleteEndpoints = (parent: Parent): Promise<void> => deleteEndpointsOf(handle, parent)
  const allocator = new ServiceAllocator({
    release: options.release,
    clusterIps,
    nodePorts,
    cidrs,
    metrics: options.metrics,
    chosenScope: isRecorded ? 'dynamic' : 'static',
    deleteEndpoints,
    log,
  })
  const listServices = (): Promise<readonly KubeObject[]> => options.services.list('latest')
  const listAddresses = (): Promise<readonly KubeObject[]> => options.addresses.list('latest')
  const { readAddress, hasAddress } = reads
  const lists = { listServices, listAddresses, readAddress, hasAddress }
  const repair = new Repair({
    nodePorts,
    ...lists,
    ...writes,
    records,
    hasAddressObjects: !isRecorded,
    life,
    wallMs,
    log,
  })
  return { allocator, repair }
}

function createNodePorts({
  store,
  root,
  nodePorts: range,
  metrics,
  random,
  life,
}: AllocatorsOptions): RangeRecord {
  const { first, last } = range
  // If the range has changed, ports that are in both the old and the new range remain allocated.
  const adopt = (text: string, bytes: Buffer): Buffer => {
    const from = Number.parseInt(text, 10)
    return Number.isNaN(from) ? Buffer.alloc(0) : adopted(bytes, from, range)
  }
  const key = `${root}${serverRecords.serviceNodePorts}`
  const onStored = (taken: number): void => metrics.portsLeft(taken, last - first + 1 - taken)
  return new RangeRecord({
    store,
    key,
    range,
    text: `${first}-${last}`,
    adopt,
    random,
    life,
    onStored,
  })
}

const collection = '/apis/networking.k8s.io/v1/ipaddresses'

async function createAddress(handle: Handler, address: KubeObject): Promise<boolean> {
  const signal = AbortSignal.timeout(REQUEST_MS_MAX)
  const { status } = await request(handle, {
    method: 'POST',
    path: collection,
    body: address,
    signal,
  })
  if (status !== CREATED && status !== CONFLICT) throw unexpected(status, 'created')
  return status === CREATED
}

async function deleteAddress(handle: Handler, ip: string, uid: string): Promise<void> {
  const signal = AbortSignal.timeout(REQUEST_MS_MAX)
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } }
  const { status } = await request(handle, {
    method: 'DELETE',
    path: `${collection}/${ip}`,
    body,
    signal,
  })
  if (status !== OK && status !== NOT_FOUND && status !== CONFLICT)
    throw unexpected(status, 'deleted')
}

async function deleteEndpointsOf(handle: Handler, { namespace, name }: Parent): Promise<void> {
  const signal = AbortSignal.timeout(REQUEST_MS_MAX)
  const path = `/api/v1/namespaces/${namespace}/endpoints/${name}`
  await request(handle, { method: 'DELETE', path, signal })
}

const unexpected = (status: number, done: string): Error =>
  unclassified(`an address of a service could not be ${done}: status ${status}`)

const OK = 200
const CREATED = 201
const NOT_FOUND = 404
const CONFLICT = 409
