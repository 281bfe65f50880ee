/**
 * Coordinated leader election (gate CoordinatedLeaderElection). Programs that want to become leader
 * create LeaseCandidates, and the server chooses which of them gets the Lease. Every replica runs
 * this controller. Each write requires that the object still has the resourceVersion that the
 * controller has read. If two replicas make the same decision, the second write is therefore
 * rejected.
 */
import { microTime } from '../../api/timestamps.ts'
import { fieldsOf, type Fields } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import { Informer } from '../../storage/cache/informer.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { systemTime, type Time } from '../../lib/time/timers.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import type { CacheAccess, CacheAccessOf } from '../cache-access.ts'
import { collectionPath, objectPath } from '../served-resources.ts'
import { WorkQueue } from '../../lib/concurrency/work-queue.ts'
import { outcomeOrThrow } from '../write-outcome.ts'
import { type Candidate, candidateOf, type LeaseReference, placeOf } from './candidate.ts'
import { CANDIDATE_VALID_MS, isExpiredCandidate, nextStep } from './step.ts'

const WORKERS_MAX = 5
/**
 * Delays until an election is checked again: BUSY_MS while it is in progress, and SETTLED_MS while
 * the right candidate holds the Lease. The latter check is needed because the holder may stop
 * renewing the Lease at any time.
 */
const BUSY_MS = 1_000
const SETTLED_MS = 5_000

export type CoordinatedElectionOptions = {
  readonly handle: Handler
  readonly registry: Pick<Registry, 'find'>
  readonly accessOf: CacheAccessOf
  readonly log: Log
  readonly time?: Time
}

type Source = CacheAccess & { readonly resource: Resource }

export class CoordinatedElection implements AsyncDisposable {
  readonly #handle: Handler
  readonly #time: Time
  readonly #stopping = new AbortController()
  readonly #queue: WorkQueue
  readonly #candidates: Source
  readonly #leases: Source
  readonly #informers: Informer<LeaseReference>
  /** The Lease that each candidate competes for, by the key of the candidate. */
  readonly #kept = new Map<string, LeaseReference>()
  /** The keys of the candidates for each Lease, by the key of the Lease. */
  readonly #elections = new Map<string, Set<string>>()

  /** Starts the controller. Returns undefined if LeaseCandidates are not served. */
  static start(options: CoordinatedElectionOptions): CoordinatedElection | undefined {
    const { registry } = options
    const group = 'coordination.k8s.io'
    const candidates = registry.find({ group, version: 'v1beta1', plural: 'leasecandidates' })
    const leases = registry.find({ group, version: 'v1', plural: 'leases' })
    if (candidates === undefined || leases === undefined) return undefined
    return new CoordinatedElection(options, { candidates, leases })
  }

  private constructor(
    { handle, accessOf, log, time = systemTime }: CoordinatedElectionOptions,
    { candidates, leases }: { readonly candidates: Resource; readonly leases: Resource },
  ) {
    this.#handle = handle
    this.#time = time
    this.#candidates = { resource: candidates, ...accessOf(candidates) }
    this.#leases = { resource: leases, ...accessOf(leases) }
    const work = (election: string): Promise<number | undefined> => this.#work(election)
    this.#queue = new WorkQueue({
      name: 'the election of a leader',
      workersMax: WORKERS_MAX,
      work,
      log,
      timers: time,
    })
    const { reader, keys } = this.#candidates
    this.#informers = new Informer<LeaseReference>({
      name: 'leasecandidates',
      reader,
      range: keys.range(),
      read: (item) => placeOf(item.object()),
      prepare: (item, slices) => item.objectInParts(slices),
      set: (key, kept) => this.#set(key, kept),
      known: () => this.#kept.keys(),
      isBackground: true,
      log,
    })
    // The promise returned by `start` never rejects, so it need not be awaited here.
    void this.#informers.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.all([this.#informers[Symbol.asyncDispose](), this.#queue[Symbol.asyncDispose]()])
  }

  #set(key: string, kept: LeaseReference | undefined): void {
    const before = this.#kept.get(key)
    if (before !== undefined) this.#leave(key, electionOf(before))
    if (kept === undefined) return
    this.#kept.set(key, kept)
    const election = electionOf(kept)
    const keys = this.#elections.get(election)
    if (keys === undefined) this.#elections.set(election, new Set([key]))
    else keys.add(key)
    this.#queue.add(election)
  }

  #leave(key: string, election: string): void {
    this.#kept.delete(key)
    const keys = this.#elections.get(election)
    keys?.delete(key)
    if (keys?.size === 0) this.#elections.delete(election)
    this.#queue.add(election)
  }

  async #work(election: string): Promise<number | undefined> {
    const all = await this.#read(election)
    const kept = this.#kept.get([...(this.#elections.get(election) ?? [])][0] ?? '')
    if (kept === undefined) return undefined
    const nowMs = this.#time.wallMs()
    const valid: Candidate[] = []
    for (const candidate of all) {
      if (!isExpiredCandidate(candidate, nowMs)) valid.push(candidate)
      // Keep a candidate that has not been renewed yet if it was created recently.
      else if (
        candidate.createdMs + CANDIDATE_VALID_MS < nowMs ||
        candidate.renewedMs !== undefined
      )
        await this.#remove(candidate)
    }
    const { namespace, leaseName } = kept
    const { keys, reader } = this.#leases
    const lease = (await reader.get(keys.key(namespace, leaseName), 'latest')).item?.object()
    const step = nextStep(valid, lease && fieldsOf(lease['spec']), nowMs)
    if (step.kind === 'ping')
      for (const candidate of step.candidates) await this.#ping(candidate, nowMs)
    if (step.kind === 'write' && lease === undefined) await this.#create(kept, step.spec)
    if (step.kind === 'write' && lease !== undefined)
      await this.#put(objectPath(this.#leases.resource, namespace, leaseName), {
        ...lease,
        spec: step.spec,
      })
    return step.kind === 'settled' ? SETTLED_MS : BUSY_MS
  }

  async #read(election: string): Promise<Candidate[]> {
    const candidates: Candidate[] = []
    for (const key of this.#elections.get(election) ?? []) {
      const { item } = await this.#candidates.reader.get(key, 'latest')
      if (item !== undefined) candidates.push(candidateOf(item.object()))
    }
    return candidates
  }

  async #ping({ object, name }: Candidate, nowMs: number): Promise<void> {
    const path = objectPath(this.#candidates.resource, object.metadata.namespace, name)
    await this.#put(path, {
      ...object,
      spec: { ...fieldsOf(object['spec']), pingTime: microTime(nowMs) },
    })
  }

  async #remove({ object, name }: Candidate): Promise<void> {
    const path = objectPath(this.#candidates.resource, object.metadata.namespace, name)
    const { uid = '', resourceVersion = '' } = object.metadata
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid, resourceVersion },
    }
    const { signal } = this.#stopping
    outcomeOrThrow(path, await request(this.#handle, { method: 'DELETE', path, body, signal }))
  }

  async #create({ namespace, leaseName }: LeaseReference, spec: Fields): Promise<void> {
    const path = collectionPath(this.#leases.resource, namespace)
    const metadata = { name: leaseName, namespace }
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
    const { signal } = this.#stopping
    outcomeOrThrow(path, await request(this.#handle, { method: 'POST', path, body, signal }))
  }

  /**
   * Updates an object. If another client has changed it in the meantime, the election is checked
   * again.
   */
  async #put(path: string, body: Fields): Promise<void> {
    const { signal } = this.#stopping
    outcomeOrThrow(path, await request(this.#handle, { method: 'PUT', path, body, signal }))
  }
}

const electionOf = ({ namespace, leaseName }: LeaseReference): string => `${namespace}/${leaseName}`
