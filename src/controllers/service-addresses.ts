/**
 * Allocates the addresses of a Service as soon as it is written, and again when a client deletes
 * one of its IPAddresses. A Service that an older server wrote has no IPAddress. Until it has one,
 * its address can be assigned to another Service. As in kube-apiserver's repair controller, both
 * kinds are watched. The periodic repair handles changes that happened earlier or while there was
 * no watch.
 */
import { type Fields, fieldsOf, textOf, textsOf } from '../api/object.ts'
import { objectInSlices, objectOf, parseInSlices, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { followWatch } from './follow-watch.ts'
import { Loop } from '../lib/concurrency/loop.ts'
import { WorkQueue } from '../lib/concurrency/work-queue.ts'

const servicesPath = '/api/v1/services'
const addressesPath = '/apis/networking.k8s.io/v1/ipaddresses'
/** Delay before an interrupted watch is reopened. */
const RETRY_MS = 1000
/** Maximum number of Services that are checked concurrently. */
const WORKERS_MAX = 4

export type ServiceAddressesOptions = {
  readonly handle: Handler
  readonly addresses: {
    /** Whether an address is allocated, according to the cache. */
    readonly isTaken: (ip: string) => Promise<boolean>
    /** Allocates the addresses of the Service, except those that are already allocated. */
    readonly takeAddresses: (service: Fields) => Promise<void>
  }
  readonly log: Log
}

export function followServiceAddresses(options: ServiceAddressesOptions): AsyncDisposable {
  const run = (signal: AbortSignal): Promise<void> => followOnce(options, signal)
  return new Loop({
    name: 'the watch of Service addresses',
    intervalMs: RETRY_MS,
    run,
    log: options.log,
  })
}

/**
 * Watches Services and IPAddresses. Checks each Service whose addresses may not be allocated.
 * Resolves when one of the watches ends.
 */
async function followOnce(options: ServiceAddressesOptions, signal: AbortSignal): Promise<void> {
  const { handle, log } = options
  const ending = new AbortController()
  const both = AbortSignal.any([signal, ending.signal])
  const work = (key: string): Promise<undefined> => check(options, key, both)
  await using queue = new WorkQueue({
    name: 'the allocation of the addresses of a Service',
    workersMax: WORKERS_MAX,
    work,
    log,
  })
  const onService = async ({ type, object }: Event): Promise<void> => {
    if (type === 'DELETED') return
    const spec = fieldsOf(object['spec'])
    for (const ip of textsOf(spec['clusterIPs'])) {
      if (ip === 'None' || (await options.addresses.isTaken(ip))) continue
      const { namespace, name } = fieldsOf(object['metadata'])
      queue.add(`${textOf(namespace)}/${textOf(name)}`)
    }
  }
  const onAddress = async ({ type, object }: Event): Promise<void> => {
    const { resource, namespace, name } = fieldsOf(fieldsOf(object['spec'])['parentRef'])
    if (type === 'DELETED' && resource === 'services')
      queue.add(`${textOf(namespace)}/${textOf(name)}`)
  }
  try {
    await Promise.race([
      events(handle, servicesPath, onService, both),
      events(handle, addressesPath, onAddress, both),
    ])
  } finally {
    ending.abort()
  }
}

/** Reads the Service again, because the cached one may be outdated, and allocates its addresses. */
async function check(
  options: ServiceAddressesOptions,
  key: string,
  signal: AbortSignal,
): Promise<undefined> {
  const [namespace = '', name = ''] = key.split('/')
  const path = `/api/v1/namespaces/${namespace}/services/${name}`
  const response = await request(options.handle, { method: 'GET', path, signal })
  if (response.status === OK)
    await options.addresses.takeAddresses(fieldsOf(await objectInSlices(response)))
  else if (response.status !== NOT_FOUND)
    throw new Error(`${path} returned status ${response.status}`)
}

type Event = { readonly type: string; readonly object: Fields }

/** Calls `onEvent` for every change, until the watch ends. */
async function events(
  handle: Handler,
  path: string,
  onEvent: (event: Event) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const listed = await request(handle, { method: 'GET', path, query: { limit: '1' }, signal })
  if (listed.status !== OK) throw new Error(`${path} returned status ${listed.status}`)
  const resourceVersion = textOf(
    fieldsOf(fieldsOf(objectOf(listed))['metadata'])['resourceVersion'],
  )
  await followWatch(handle, { path, resourceVersion, signal }, async (frames) => {
    for (const line of linesIn(Buffer.concat(frames))) {
      const event = fieldsOf(await parseInSlices(line))
      await onEvent({ type: textOf(event['type']), object: fieldsOf(event['object']) })
    }
  })
}

function* linesIn(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf('\n', from)
    const end = newline === -1 ? bytes.length : newline
    yield bytes.subarray(from, end)
    from = end + 1
  }
}

const OK = 200
const NOT_FOUND = 404
