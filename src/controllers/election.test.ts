import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { parseJson } from '../api/json-value.ts'
import { fieldsOf, type KubeObject, textOf } from '../api/object.ts'
import type { Handler } from '../api/request.ts'
import type { ApiResponse } from '../api/request.ts'
import type { Time, Timer } from '../lib/time/timers.ts'
import { Election, ownLease } from './election.ts'

/** A simulated clock and simulated timers. Only the test advances the clock. */
class VirtualTime {
  nowMs = 0
  readonly #due = new Set<{ readonly atMs: number; readonly run: () => void }>()
  readonly time: Time = {
    wallMs: () => this.nowMs,
    monotonicMs: () => this.nowMs,
    after: (ms, run) => this.#add(ms, run),
    every: () => assert.fail(),
    defer: (run) => void this.#add(0, run),
  }

  #add(ms: number, run: () => void): Timer {
    const entry = { atMs: this.nowMs + ms, run }
    this.#due.add(entry)
    return { close: () => this.#due.delete(entry) }
  }

  /**
   * Advances the clock. After a timer has fired, waits until its work is finished before the next
   * timer fires.
   */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms
    for (;;) {
      await turn()
      const [next] = [...this.#due]
        .filter(({ atMs }) => atMs <= endMs)
        .toSorted((one, other) => one.atMs - other.atMs)
      if (next === undefined) break
      this.nowMs = next.atMs
      this.#due.delete(next)
      next.run()
    }
    this.nowMs = endMs
  }
}

/** The Lease for which both replicas compete. */
class Store {
  lease: KubeObject | undefined
  managerLease: KubeObject | undefined
  #version = 0

  write(sent: KubeObject): ApiResponse {
    if (sent.metadata.resourceVersion !== this.lease?.metadata.resourceVersion)
      return answer(409, {})
    const metadata = { ...sent.metadata, uid: 'u', resourceVersion: String(++this.#version) }
    this.lease = { ...sent, metadata }
    return answer(200, this.lease)
  }
}

const answer = (status: number, body: object): ApiResponse => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
})

type Fault =
  | 'none'
  | 'write hangs'
  | 'write hangs and ignores its signal'
  | 'write fails'
  | 'read hangs'
  | 'read fails'
const faults: readonly Fault[] = [
  'write hangs',
  'write hangs and ignores its signal',
  'write fails',
  'read hangs',
  'read fails',
]

const log = (): void => undefined

const never = <T>(signal?: AbortSignal): Promise<T> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

type ReplicaOptions = {
  readonly time: Time
  readonly store: Store
  readonly random?: () => number
  readonly holdsStore?: boolean
}

class Replica implements AsyncDisposable {
  fault: Fault = 'none'
  isLeading = false
  failsToStop = false
  failsToStart = false
  starts = 0
  writes = 0
  /**
   * Reports to the election that a controller has failed, after all controllers had been started.
   */
  failLater: (error: unknown) => void = () => assert.fail()
  /** The requests that are currently delayed. Each function completes one of them. */
  readonly late: (() => void)[] = []
  readonly election: Election

  constructor(
    identity: string,
    { time, store, random = Math.random, holdsStore = false }: ReplicaOptions,
  ) {
    const handle: Handler = async ({ body, signal }) => {
      const { apiVersion, kind, metadata, ...rest } = fieldsOf(parseJson(await body()))
      const lease = {
        apiVersion: textOf(apiVersion),
        kind: textOf(kind),
        metadata: fieldsOf(metadata),
        ...rest,
      }
      this.writes++
      if (this.fault === 'write fails') return answer(500, {})
      if (this.fault === 'write hangs') return never(signal)
      if (this.fault !== 'none') await new Promise<void>((resolve) => this.late.push(resolve))
      return store.write(lease)
    }
    const readLease = async (name: string): Promise<KubeObject | undefined> => {
      if (this.fault === 'read fails') throw new Error('the store is gone')
      const lease = name === ownLease ? store.lease : store.managerLease
      if (this.fault === 'read hangs') await new Promise<void>((resolve) => this.late.push(resolve))
      return lease
    }
    const lead = (onFailed: (error: unknown) => void): AsyncDisposable => {
      assert.ok(!this.isLeading)
      this.starts++
      this.failLater = onFailed
      if (this.failsToStart) throw new Error('a controller failed')
      this.isLeading = true
      return {
        [Symbol.asyncDispose]: async () => {
          this.isLeading = false
          if (this.failsToStop) throw new Error('a controller failed')
        },
      }
    }
    this.election = new Election({
      handle,
      readLease,
      identity,
      holdsStore,
      lead,
      log,
      time,
      random,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.fault = 'none'
    await this.election[Symbol.asyncDispose]()
  }
}

/**
 * How long a replica may run controllers after it has last renewed its Lease. Another replica
 * starts its controllers after 8 seconds, and the first replica needs time to stop its own.
 */
const LEADS_MS_MAX = 5_500
const STEP_MS = 100

for (const fault of faults)
  test(`a Lease holder stops leading before another replica can start to lead: ${fault}`, async () => {
    for (let atMs = 3_000; atMs < 6_000; atMs += 300) {
      const clock = new VirtualTime()
      const parts = { time: clock.time, store: new Store() }
      await using first = new Replica('one', parts)
      await clock.pass(500)
      await using second = new Replica('two', parts)
      await clock.pass(atMs - 500)
      assert.ok(first.isLeading && !second.isLeading)
      first.fault = fault
      const renewed = fieldsOf(parts.store.lease?.['spec'])['renewTime']
      const renewedMs = new Date(textOf(renewed)).getTime()
      while (!second.isLeading) {
        await clock.pass(STEP_MS)
        assert.ok(clock.nowMs < 20_000, 'no replica leads')
        assert.ok(
          !first.isLeading || clock.nowMs - renewedMs <= LEADS_MS_MAX + STEP_MS,
          `${fault} at ${atMs}`,
        )
      }
      // The delayed requests of the former holder are completed only now. They must have no effect.
      first.fault = 'none'
      for (const go of first.late) go()
      await clock.pass(5_000)
      assert.ok(second.isLeading && !first.isLeading)
    }
  })

/** Returns the Lease that a killed process leaves behind. */
const leftBy = (name: string, holderIdentity: string): KubeObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace: 'kube-system', uid: 'u' },
  spec: { holderIdentity, leaseDurationSeconds: 8 },
})

test('a process that has exclusive access to the store does not wait until the Lease of a killed process expires', async () => {
  const clock = new VirtualTime()
  for (const holdsStore of [true, false]) {
    const store = new Store()
    store.lease = leftBy(ownLease, 'killed')
    await using only = new Replica('one', { time: clock.time, store, holdsStore })
    await clock.pass(0)
    assert.equal(only.isLeading, holdsStore)
  }
})

test('a process that has exclusive access to the store does not lead while kube-controller-manager holds the Lease', async () => {
  const clock = new VirtualTime()
  const store = new Store()
  store.managerLease = leftBy('kube-controller-manager', 'manager')
  await using only = new Replica('one', { time: clock.time, store, holdsStore: true })
  await clock.pass(7_500)
  assert.equal(only.starts, 0)
  await clock.pass(2_000)
  assert.ok(only.isLeading)
})

test('a holder whose writes fail stops leading, and leads again when writes succeed', async () => {
  const clock = new VirtualTime()
  const parts = { time: clock.time, store: new Store() }
  await using only = new Replica('one', parts)
  await clock.pass(3_000)
  only.fault = 'write fails'
  await clock.pass(2_000)
  assert.ok(only.isLeading)
  await clock.pass(5_000)
  assert.ok(!only.isLeading)
  only.fault = 'none'
  await clock.pass(2_500)
  assert.ok(only.isLeading)
})

test('the election continues if controllers fail to stop', async () => {
  const clock = new VirtualTime()
  const parts = { time: clock.time, store: new Store() }
  await using only = new Replica('one', parts)
  only.failsToStop = true
  await clock.pass(3_000)
  only.fault = 'write fails'
  await clock.pass(7_000)
  assert.ok(!only.isLeading)
  only.fault = 'none'
  await clock.pass(2_500)
  assert.ok(only.isLeading)
})

test('a server that cannot start its controllers releases the Lease and retries', async () => {
  const clock = new VirtualTime()
  const parts = { time: clock.time, store: new Store() }
  await using first = new Replica('one', parts)
  first.failsToStart = true
  await clock.pass(500)
  await using second = new Replica('two', parts)
  await clock.pass(10_000)
  assert.ok(second.isLeading && !first.isLeading)
  first.failsToStart = false
  await second[Symbol.asyncDispose]()
  await clock.pass(10_000)
  assert.ok(first.isLeading)
})

test('if a controller fails after the server has become the leader, the server releases the Lease and retries', async () => {
  const clock = new VirtualTime()
  const parts = { time: clock.time, store: new Store() }
  await using first = new Replica('one', parts)
  await clock.pass(500)
  assert.ok(first.isLeading)
  await using second = new Replica('two', parts)
  first.failLater(new Error('a controller failed'))
  first.failsToStart = true
  await clock.pass(5_000)
  assert.ok(second.isLeading && !first.isLeading)
  first.failsToStart = false
  await second[Symbol.asyncDispose]()
  await clock.pass(10_000)
  assert.ok(first.isLeading)
})

for (const when of ['at once', 'later'] as const)
  test(`a server that cannot start its controllers retries with increasing delays: fails ${when}`, async () => {
    const clock = new VirtualTime()
    const parts = { time: clock.time, store: new Store() }
    await using only = new Replica('one', parts)
    only.failsToStart = when === 'at once'
    const counts: number[] = []
    for (let minute = 0; minute < 10; minute++) {
      const before = only.starts
      for (let seconds = 0; seconds < 60; seconds++) {
        await clock.pass(1_000)
        if (when === 'later' && only.isLeading) only.failLater(new Error('a controller failed'))
      }
      counts.push(only.starts - before)
    }
    assert.ok((counts[0] ?? 0) >= 4 && (counts[0] ?? 0) <= 8, counts.join())
    assert.ok(Math.max(...counts.slice(2)) <= 2, counts.join())
    assert.ok(only.starts >= 8, counts.join())
    // After a successful start, a failure is followed by the shortest delay again. Before that,
    // wait until the previous failure is handled.
    only.failsToStart = false
    await clock.pass(2_000)
    while (!only.isLeading) await clock.pass(1_000)
    await clock.pass(10_000)
    only.failLater(new Error('a controller failed'))
    await clock.pass(5_000)
    assert.ok(only.isLeading)
  })

test('servers that lost the connection to their database do not all reconnect at the same time', async () => {
  const clock = new VirtualTime()
  const parts = { time: clock.time, store: new Store() }
  const randoms = [0, 0.5, 1]
  await using replicas = new AsyncDisposableStack()
  const all = randoms.map((random, at) =>
    replicas.use(new Replica(`${at}`, { ...parts, random: () => random })),
  )
  for (const one of all) one.fault = 'write fails'
  await clock.pass(22_000)
  assert.deepEqual(
    all.map(({ writes }) => writes),
    [23, 14, 11],
  )
})

test('a server that stops does not wait for hanging requests', async () => {
  for (const fault of faults) {
    const clock = new VirtualTime()
    const parts = { time: clock.time, store: new Store() }
    const only = new Replica('one', parts)
    await clock.pass(2_500)
    only.fault = fault
    await clock.pass(1_000)
    await only[Symbol.asyncDispose]()
    assert.ok(!only.isLeading)
    assert.equal(fieldsOf(parts.store.lease?.['spec'])['holderIdentity'], undefined, fault)
  }
})
