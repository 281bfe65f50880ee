/**
 * A simulated node that exists only as an object. Its status is ready. It sets the status of its
 * Pods to running, and the status of a Job's Pods to completed. It removes Pods that are being
 * deleted.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isRecord } from '../recorded/compat/json.ts'
import { SoakClient } from '../chaos/soak/client.ts'

/** Interval of the heartbeats. The node controller considers a node dead after 40 s without one. */
const BEAT_MS = 10_000
const LOOK_MS = 500

const resources = { cpu: '8', memory: '16Gi', pods: '110', 'ephemeral-storage': '100Gi' }

type Fields = Readonly<Record<string, unknown>>

export class PlayedNode implements AsyncDisposable {
  readonly #name: string
  readonly #client: SoakClient
  readonly #ending = new AbortController()
  readonly #loops: readonly Promise<void>[]

  constructor(url: string, name: string, token?: string) {
    this.#name = name
    this.#client = new SoakClient(url, token)
    this.#loops = [
      this.#every(BEAT_MS, () => this.#beat()),
      this.#every(LOOK_MS, () => this.#look()),
    ]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await Promise.all(this.#loops)
    this.#client[Symbol.dispose]()
  }

  async #every(pauseMs: number, act: () => Promise<void>): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      await act()
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async #beat(): Promise<void> {
    const path = `/api/v1/nodes/${this.#name}`
    const { status, body } = await this.#client.call('GET', path)
    if (status === 404) {
      const labels = {
        'kubernetes.io/hostname': this.#name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
      }
      await this.#client.call('POST', '/api/v1/nodes', { metadata: { name: this.#name, labels } })
      return this.#beat()
    }
    if (!isRecord(body)) return
    const conditions = [
      { type: 'Ready', status: 'True', lastHeartbeatTime: now(), reason: 'KubeletReady' },
    ]
    // Ignore a conflict, because the next heartbeat updates the status again.
    await this.#client.call('PUT', `${path}/status`, {
      ...body,
      status: { capacity: resources, allocatable: resources, conditions },
    })
  }

  async #look(): Promise<void> {
    const { body } = await this.#client.call(
      'GET',
      `/api/v1/pods?fieldSelector=spec.nodeName%3D${this.#name}`,
    )
    const pods =
      isRecord(body) && Array.isArray(body['items']) ? body['items'].filter(isRecord) : []
    for (const pod of pods) await this.#play(pod)
  }

  async #play(pod: Fields): Promise<void> {
    const metadata = isRecord(pod['metadata']) ? pod['metadata'] : {}
    const status = isRecord(pod['status']) ? pod['status'] : {}
    const path = `/api/v1/namespaces/${String(metadata['namespace'])}/pods/${String(metadata['name'])}`
    if (metadata['deletionTimestamp'] !== undefined) {
      await this.#client.call('DELETE', path, { gracePeriodSeconds: 0 })
    } else if (status['phase'] === 'Pending') {
      const isOfJob = JSON.stringify(metadata['labels'] ?? {}).includes(
        'batch.kubernetes.io/job-name',
      )
      await this.#client.call('PUT', `${path}/status`, {
        ...pod,
        status: { ...status, ...(isOfJob ? done() : running(containersOf(pod))) },
      })
    }
  }
}

const now = (): string => new Date().toISOString().replace(/\.\d+Z/, 'Z')

/** Returns an address from a range that is reserved for documentation (RFC 5737). */
const address = (): string => `203.0.113.${1 + Math.floor(Math.random() * 250)}`

function containersOf(pod: Fields): readonly Fields[] {
  const spec = isRecord(pod['spec']) ? pod['spec'] : {}
  return Array.isArray(spec['containers']) ? spec['containers'].filter(isRecord) : []
}

function running(containers: readonly Fields[]): Fields {
  const types = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled']
  const podIP = address()
  return {
    phase: 'Running',
    startTime: now(),
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: types.map((type) => ({ type, status: 'True', lastTransitionTime: now() })),
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: '',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now() } },
    })),
  }
}

const done = (): Fields => ({
  phase: 'Succeeded',
  startTime: now(),
  conditions: [
    { type: 'Ready', status: 'False', reason: 'PodCompleted', lastTransitionTime: now() },
  ],
})
