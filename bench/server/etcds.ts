/**
 * `npm run bench -- --only etcds`: compares a separate etcd for Events with one etcd for all
 * resources. Both setups get the same load: Events as fast as some clients can create them, and an
 * occasional ConfigMap. The latency of the ConfigMaps shows how Events slow down other clients.
 */
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { startKeelson } from '../../test/support/harness/keelson.ts'
import { SteadyClient } from '../../test/chaos/soak/steady-client.ts'
import type { Figure } from '../report/figure.ts'

const SECONDS = 15
const EVENT_LANES = 16
/** Number of ConfigMaps per second, low enough that they hardly add to the load. */
const MAPS_PER_SECOND = 50

type Measurement = {
  readonly eventsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export async function benchEtcds(): Promise<readonly Figure[]> {
  const one = await measure(false)
  const two = await measure(true)
  return [figure('all in one etcd', one), figure('Events in a separate etcd', two)]
}

const figure = (name: string, { eventsPerSecond, p50Ms, p99Ms }: Measurement): Figure => ({
  name: `etcds: create of a ConfigMap next to Events, ${name}`,
  value: p99Ms,
  unit: 'ms',
  note: `99th percentile; median ${p50Ms.toFixed(1)} ms; ${Math.round(eventsPerSecond)} Events a second`,
})

async function measure(isApart: boolean): Promise<Measurement> {
  await using first = await startEtcd()
  await using second = await startEtcd()
  const args = isApart ? [`--etcd-servers-overrides=/events#${second.clientUrl}`] : []
  await using server = await startKeelson({ etcdUrl: first.clientUrl, args })
  using clients = new DisposableStack()
  const client = (): SteadyClient => clients.use(new SteadyClient(server.url, server.token))
  const untilMs = performance.now() + SECONDS * 1000
  let events = 0
  const eventLane = async (lane: number): Promise<void> => {
    const own = client()
    for (let at = 0; performance.now() < untilMs; at++) {
      await created(own, 'events', eventOf(`e-${lane}-${at}`))
      events++
    }
  }
  const waitsMs: number[] = []
  const mapLane = async (): Promise<void> => {
    const own = client()
    for (let at = 0; performance.now() < untilMs; at++) {
      const startMs = performance.now()
      await created(own, 'configmaps', {
        metadata: { name: `m-${at}` },
        data: { x: 'x'.repeat(500) },
      })
      waitsMs.push(performance.now() - startMs)
      const restMs = 1000 / MAPS_PER_SECOND - (performance.now() - startMs)
      if (restMs > 1) await new Promise((resolve) => setTimeout(resolve, restMs))
    }
  }
  await Promise.all([
    mapLane(),
    ...Array.from({ length: EVENT_LANES }, (_, lane) => eventLane(lane)),
  ])
  waitsMs.sort((a, b) => a - b)
  const at = (share: number): number => waitsMs[Math.floor(waitsMs.length * share)] ?? Number.NaN
  return { eventsPerSecond: events / SECONDS, p50Ms: at(0.5), p99Ms: at(0.99) }
}

const eventOf = (name: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'a' },
  reason: 'Bench',
  message: 'x'.repeat(200),
})

async function created(client: SteadyClient, plural: string, body: unknown): Promise<void> {
  const { status, text } = await client.call('POST', `/api/v1/namespaces/default/${plural}`, body)
  if (status !== 201) throw new Error(`${plural}: ${status} ${text}`)
}
