/**
 * Runs cases.json with the TypeScript library. go/cases_test.go and python/test_cases.py do the
 * same in their languages. Each of these programs has one function for each kind of step.
 */
import assert from 'node:assert/strict'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import {
  type Cluster,
  type ClusterOptions,
  type Fault,
  type FaultEffect,
  type FaultMatch,
  type HistoryFilter,
  type Snapshot,
  startCluster,
  type TestRequest,
  type TestUser,
} from '../../../src/entry/testing/index.ts'

type RequestStep = TestRequest & {
  readonly status?: number
  /** Fields that the body of the response must contain. It may contain others. */
  readonly expect?: unknown
}

export type Step = { readonly on?: string; readonly error?: string } & (
  | ({ readonly call: 'request' } & RequestStep)
  | ({
      readonly call: 'send'
      readonly breaks?: true
      readonly atLeastMs?: number
      readonly retryAfter?: string
    } & RequestStep)
  | { readonly call: 'watch'; readonly path: string; readonly events: number }
  | {
      readonly call: 'fault'
      readonly as?: string
      readonly match: Omit<FaultMatch, 'verb'> & { readonly verbs?: FaultMatch['verb'] }
      readonly effect: FaultEffect
    }
  | { readonly call: 'hits'; readonly fault: string; readonly count: number }
  | { readonly call: 'off'; readonly fault: string }
  | { readonly call: 'clearFaults' }
  | { readonly call: 'reset' }
  | { readonly call: 'stop' }
  | { readonly call: 'fork' | 'snapshot'; readonly as: string }
  | { readonly call: 'restore' | 'deleteSnapshot'; readonly snapshot: string }
  | { readonly call: 'clock'; readonly notBefore: string; readonly before: string }
  | { readonly call: 'advance'; readonly seconds: number }
  | { readonly call: 'kubeconfig'; readonly user: TestUser }
  | {
      readonly call: 'apply'
      readonly folder?: string
      readonly text?: string
      readonly objects?: readonly object[]
      readonly names?: readonly string[]
    }
  | {
      readonly call: 'waitFor'
      readonly path: string
      readonly status: number
      readonly timeoutMs?: number
      readonly what?: string
    }
  | {
      readonly call: 'history'
      readonly filter: HistoryFilter
      readonly writes: readonly unknown[]
    }
  | {
      readonly call: 'timeline'
      readonly filter: HistoryFilter
      readonly entries: readonly unknown[]
    }
)

export type Case = {
  readonly name: string
  /**
   * Options of a separate cluster for this case. If absent, the case uses a fork of a shared
   * cluster.
   */
  readonly start?: ClusterOptions
  /** Text in the error with which the start fails. */
  readonly startError?: string
  readonly steps: readonly Step[]
}

type State = {
  readonly clusters: Map<string, Cluster>
  readonly faults: Map<string, Fault>
  readonly snapshots: Map<string, Snapshot>
}

export async function runCase(one: Case, shared: Cluster): Promise<void> {
  if (one.startError !== undefined) {
    await assert.rejects(startCluster(one.start), new RegExp(one.startError))
    return
  }
  const cluster = one.start === undefined ? await shared.fork() : await startCluster(one.start)
  const state = {
    clusters: new Map([['cluster', cluster]]),
    faults: new Map(),
    snapshots: new Map(),
  }
  try {
    for (const step of one.steps) await runStep(step, state)
  } finally {
    for (const each of state.clusters.values()) await each.stop()
  }
}

async function runStep(step: Step, state: State): Promise<void> {
  if (step.error === undefined) return perform(step, state)
  const message = step.error
  const contains = (error: unknown): boolean => String(error).includes(message)
  await assert.rejects(() => perform(step, state), contains, `${step.call}: ${message}`)
}

async function perform(step: Step, state: State): Promise<void> {
  const cluster = find(state.clusters, step.on ?? 'cluster')
  switch (step.call) {
    case 'request': {
      const { status, body } = await cluster.request(requestOf(step))
      return check(step, status, body)
    }
    case 'send':
      return send(cluster, step)
    case 'watch':
      return assert.equal(await countEvents(cluster, step.path), step.events)
    case 'fault': {
      const { verbs: verb, ...match } = step.match
      const fault = cluster.faults.on({ ...match, ...(verb && { verb }) }, step.effect)
      state.faults.set(step.as ?? '', fault)
      return
    }
    case 'hits':
      return assert.equal(find(state.faults, step.fault).hits, step.count)
    case 'off':
      return find(state.faults, step.fault).off()
    case 'clearFaults':
      return cluster.faults.clear()
    case 'fork':
      state.clusters.set(step.as, await cluster.fork())
      return
    case 'snapshot':
      state.snapshots.set(step.as, cluster.snapshot())
      return
    case 'restore':
      return cluster.restore(find(state.snapshots, step.snapshot))
    case 'deleteSnapshot':
      // TypeScript has no call for deleting a snapshot. Instead, the snapshot is garbage-collected.
      return void state.snapshots.delete(step.snapshot)
    case 'reset':
    case 'stop':
    case 'clock':
    case 'advance':
    case 'kubeconfig':
    case 'apply':
    case 'waitFor':
    case 'history':
    case 'timeline':
      return performOther(step, cluster)
  }
}

type OtherStep = Extract<
  Step,
  {
    call:
      | 'reset'
      | 'stop'
      | 'clock'
      | 'advance'
      | 'kubeconfig'
      | 'apply'
      | 'waitFor'
      | 'history'
      | 'timeline'
  }
>

async function performOther(step: OtherStep, cluster: Cluster): Promise<void> {
  switch (step.call) {
    case 'reset':
      return cluster.reset()
    case 'stop':
      return cluster.stop()
    case 'advance':
      return cluster.clock.advance(`${step.seconds}s`)
    case 'clock': {
      const now = cluster.clock.now()
      assert.ok(now >= new Date(step.notBefore) && now < new Date(step.before), now.toISOString())
      return
    }
    case 'kubeconfig':
      return assert.equal(cluster.kubeconfigFor(step.user).users[0]?.name, step.user.name)
    case 'apply': {
      const folder = join(import.meta.dirname, step.folder ?? '')
      const applied = await cluster.apply(step.text ?? step.objects ?? folder)
      return assert.deepEqual(
        applied.map(({ metadata }) => metadata.name),
        step.names,
      )
    }
    case 'waitFor': {
      const { path, status, call: _, on: __, error: ___, ...options } = step
      await cluster.waitFor(
        async () => (await cluster.request({ path })).status === status,
        options,
      )
      return
    }
    case 'history': {
      const writes = cluster.history(step.filter)
      return includes(JSON.parse(JSON.stringify(writes)), step.writes)
    }
    case 'timeline': {
      const entries = cluster.timeline(step.filter)
      return includes(JSON.parse(JSON.stringify(entries)), step.entries)
    }
  }
}

function find<T>(all: ReadonlyMap<string, T>, name: string): T {
  const found = all.get(name)
  assert.ok(found, `the case has no ${name}`)
  return found
}

const requestOf = ({ method, path, body, contentType, user }: RequestStep): TestRequest => ({
  path,
  body,
  ...(method && { method }),
  ...(contentType && { contentType }),
  ...(user && { user }),
})

function check({ path, status: wanted, expect }: RequestStep, status: number, body: unknown): void {
  assert.equal(status, wanted, `${path}: ${JSON.stringify(body)}`)
  if (expect !== undefined) includes(body, expect)
}

/**
 * Fails unless the value contains everything that `part` contains. Lists must have the same length.
 */
function includes(value: unknown, part: unknown): void {
  if (typeof part !== 'object' || part === null) return assert.deepEqual(value, part)
  assert.ok(typeof value === 'object' && value !== null, `${String(value)} is not an object`)
  if (Array.isArray(part)) assert.equal(Array.isArray(value) && value.length, part.length)
  const members = new Map<string, unknown>(Object.entries(value))
  for (const [key, each] of Object.entries(part)) includes(members.get(key), each)
}

async function send(cluster: Cluster, step: Extract<Step, { call: 'send' }>): Promise<void> {
  const beganMs = performance.now()
  const response = await exchange(cluster, step).catch(() => undefined)
  if (step.breaks === true) return assert.equal(response, undefined)
  assert.ok(response, `${step.path}: the connection broke`)
  check(step, response.status, JSON.parse(response.text))
  if (step.retryAfter !== undefined) assert.equal(response.retryAfter, step.retryAfter)
  assert.ok(performance.now() - beganMs >= (step.atLeastMs ?? 0))
}

type Exchange = {
  readonly status: number
  readonly text: string
  readonly retryAfter: string | undefined
}

/** Sends a request over HTTPS with a client certificate, as a client without a library would. */
function exchange(cluster: Cluster, request: RequestStep): Promise<Exchange> {
  const { method = 'GET', path, body, contentType, user } = request
  const [login] = (user === undefined ? cluster.kubeconfig : cluster.kubeconfigFor(user)).users
  const read = (field: 'client-certificate-data' | 'client-key-data'): Buffer =>
    Buffer.from(String(new Map(Object.entries(login?.user ?? {})).get(field)), 'base64')
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const options = {
    method,
    ca: cluster.certificateAuthority,
    cert: read('client-certificate-data'),
    key: read('client-key-data'),
    headers: { 'content-type': contentType ?? type },
  }
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>()
  const sent = httpsRequest(`${cluster.url}${path}`, options, (response) => {
    const chunks: Buffer[] = []
    response.on('error', reject).on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () => {
      const { statusCode: status = 0, headers } = response
      const text = Buffer.concat(chunks).toString()
      resolve({ status, text, retryAfter: headers['retry-after'] })
    })
  })
  sent.on('error', reject)
  sent.end(body === undefined ? '' : JSON.stringify(body))
  return promise
}

/** Returns the number of events of a watch that the server ends. */
async function countEvents(cluster: Cluster, path: string): Promise<number> {
  const { text } = await exchange(cluster, { path })
  return text.split('\n').filter((line) => line !== '').length
}
