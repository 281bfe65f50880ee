/**
 * Creates hundreds of thousands of Pods. One Pod is created through the server. The others are
 * copies of the stored Pod, written directly to etcd with different names, labels, nodes and uids
 * of the same length. This takes seconds instead of minutes. The server receives the copies like
 * the writes of another replica.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { isRecord } from '../../test/recorded/compat/json.ts'
import { Http2Client } from './http2-client.ts'
import { inLanes } from './lanes.ts'
import type { Target } from './targets.ts'

const LANES = 64
const SEEN_WITHIN_MS = 60_000
const SEEN_POLL_MS = 100
/** Number of values of the `app` label. Each value matches one percent of the Pods. */
export const APPS = 100

export type ManyPods = {
  readonly namespace: string
  readonly count: number
  readonly nodes: number
}

export const podName = (index: number): string => `p-${digits(index, 7)}`
export const nodeName = (index: number): string => `n-${digits(index, 5)}`
export const appName = (index: number): string => `a-${digits(index, 4)}`
export const podsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`

const digits = (value: number, length: number): string => `${value}`.padStart(length, '0')

const json = { 'content-type': 'application/json' }

/** Creates the Pods, unless they already exist. */
export async function createManyPods(
  target: Target,
  { namespace, count, nodes }: ManyPods,
): Promise<void> {
  if (target.etcd === undefined)
    throw new Error(`${target.name}: this load needs the server's etcd (,etcd=URL)`)
  using client = new Http2Client(target)
  const path = podsPath(namespace)
  if (await isServed(client, `${path}/${podName(count - 1)}`)) return
  await createNamespace(client, namespace)
  const first = { name: 'p-xxxxxxx', node: 'n-xxxxx', app: 'a-xxxx' }
  const answer: unknown = JSON.parse(
    (
      await client.ask({ method: 'POST', path, headers: json, body: JSON.stringify(pod(first)) })
    ).toString('utf8'),
  )
  const uid =
    isRecord(answer) && isRecord(answer['metadata']) ? String(answer['metadata']['uid']) : ''
  await using etcd = new EtcdClient({ endpoints: [target.etcd] })
  const keyOf = (name: string): Buffer => Buffer.from(`/registry/pods/${namespace}/${name}`)
  const { kvs } = await etcd.kv.range({ key: keyOf(first.name) })
  const stored = kvs[0]?.value
  if (stored === undefined)
    throw new Error(`${target.name}: its etcd does not have the Pod that it created`)
  await inLanes({ count, lanes: LANES }, (index) => {
    const value = Buffer.from(stored)
    replaceAll(value, first.name, podName(index))
    replaceAll(value, first.node, nodeName(index % nodes))
    replaceAll(value, first.app, appName(index % APPS))
    replaceAll(value, uid, `${uid.slice(0, -12)}${digits(index, 12)}`)
    return etcd.kv.put({ key: keyOf(podName(index)), value })
  })
  await client.ask({ method: 'DELETE', path: `${path}/${first.name}?gracePeriodSeconds=0` })
  await waitUntilServed(client, `${path}/${podName(count - 1)}?resourceVersion=0`)
}

export async function createNamespace(client: Http2Client, name: string): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  if (await isServed(client, `/api/v1/namespaces/${name}`)) return
  await client.ask({ method: 'POST', path: '/api/v1/namespaces', headers: json, body })
}

async function waitUntilServed(client: Http2Client, path: string): Promise<void> {
  const deadlineMs = performance.now() + SEEN_WITHIN_MS
  while (!(await isServed(client, path))) {
    if (performance.now() > deadlineMs)
      throw new Error(`GET ${path}: not served long after it was written`)
    await sleep(SEEN_POLL_MS)
  }
}

const isServed = async (client: Http2Client, path: string): Promise<boolean> =>
  (await client.status({ path })) === 200

function replaceAll(bytes: Buffer, from: string, to: string): void {
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + to.length))
    bytes.write(to, at)
}

/** Returns a Pod of about 2.4 KB, including the fields that the server sets. */
const pod = ({ name, node, app }: { name: string; node: string; app: string }): unknown => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app, tier: 'web' } },
  spec: {
    nodeName: node,
    containers: [
      {
        name: 'web',
        image: 'example.com/web:1',
        env: Array.from({ length: 10 }, (_, at) => ({
          name: `VARIABLE_${at}`,
          value: `value-${at}`,
        })),
        resources: { requests: { cpu: '10m' } },
      },
    ],
  },
})
