/**
 * Injects faults of the embedded store into a whole server:
 * `node test/chaos/simulation/store-faults.ts [--seconds N] [--seed S]`. Writers and a watcher use
 * `keelson serve --data-dir` while the process is killed, and while its disk is full, read-only or
 * does not flush. At the end, readers and the watcher must have received every acknowledged write
 * once and in order. Needs a C compiler.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ApiServerProcess } from '../../support/harness/api-server.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { readObject, SoakClient } from '../soak/client.ts'
import { Random } from './random.ts'

const WRITERS = 6
const faults = ['kill', 'full', 'read-only', 'flush', 'flush-once'] as const
/** Maximum duration of a fault, and of the pause between faults. */
const FAULT_MS_MAX = 1_500
const CALM_MS_MAX = 1_000
/** Time within which all operations must be finished after the last fault. */
const END_MS_MAX = 60_000
const path = '/api/v1/namespaces/default/configmaps'

const { values: flags } = parseArgs({
  options: { seconds: { type: 'string' }, seed: { type: 'string' } },
})
const seconds = Number(flags.seconds ?? 30)
const seed = Number(flags.seed ?? Math.floor(Math.random() * 2 ** 31))

type Write = { readonly name: string; readonly value: number; readonly version: number }

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

function writeOf(object: unknown): Write {
  const { metadata, data } = readObject(object)
  return {
    name: metadata.name,
    value: Number(data?.value),
    version: Number(metadata.resourceVersion),
  }
}

/** Writes increasing numbers to one object, which no other writer uses. */
class Writer {
  readonly name: string
  readonly acknowledged: Write[] = []
  refusals = 0
  readonly #client: SoakClient
  #tried = 0
  #version = 0

  constructor(client: SoakClient, name: string) {
    this.#client = client
    this.name = name
  }

  async write(): Promise<void> {
    const value = ++this.#tried
    const metadata = {
      name: this.name,
      labels: { app: 'store-faults' },
      ...(this.#version > 0 && { resourceVersion: `${this.#version}` }),
    }
    const object = { metadata, data: { value: `${value}` } }
    try {
      const { status, body } =
        this.#version === 0
          ? await this.#client.call('POST', path, object)
          : await this.#client.call('PUT', `${path}/${this.name}`, object)
      if (status < 300) return this.#note(writeOf(body))
      this.refusals++
    } catch {
      this.refusals++
    }
    await sleep(50)
    await this.#lookUp()
  }

  /** Reads the object to find out whether a write without a response was stored. */
  async #lookUp(): Promise<void> {
    try {
      const { status, body } = await this.#client.call('GET', `${path}/${this.name}`)
      if (status === 404) this.#version = 0
      if (status === 200) this.#version = writeOf(body).version
    } catch {
      // Ignore the error, because the object is read again after the next write.
    }
  }

  #note(write: Write): void {
    this.#version = write.version
    this.acknowledged.push(write)
  }
}

/** Watches the objects. Resumes from the last event that it received. */
class EventReader {
  readonly received: Write[] = []
  readonly faults: string[] = []
  readonly #client: SoakClient
  #version: number

  constructor(client: SoakClient, version: number) {
    this.#client = client
    this.#version = version
  }

  async follow(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const query = `watch=1&labelSelector=app%3Dstore-faults&resourceVersion=${this.#version}&timeoutSeconds=5`
      try {
        for await (const event of this.#client.lines(`${path}?${query}`)) this.#take(event)
      } catch {
        await sleep(50)
      }
    }
  }

  #take(event: unknown): void {
    if (!isRecord(event)) return
    if (event['type'] !== 'ADDED' && event['type'] !== 'MODIFIED') {
      this.faults.push(`the watcher received ${JSON.stringify(event).slice(0, 200)}`)
      return
    }
    const write = writeOf(event['object'])
    if (write.version <= this.#version)
      this.faults.push(`${write.name} ${write.value} was sent twice`)
    this.#version = write.version
    this.received.push(write)
  }
}

async function disturb(server: ApiServerProcess, control: string, random: Random): Promise<string> {
  const fault = random.pick(faults)
  if (fault === 'kill') await server.restart('SIGKILL')
  else {
    writeFileSync(control, fault)
    await sleep(random.between(50, FAULT_MS_MAX))
    rmSync(control, { force: true })
  }
  await sleep(random.between(50, CALM_MS_MAX))
  return fault
}

async function main(): Promise<void> {
  const random = new Random(seed)
  const folder = mkdtempSync(join(tmpdir(), 'keelson-store-faults-'))
  const [library, control] = [join(folder, 'faulty-disk.so'), join(folder, 'fault')]
  const source = join(import.meta.dirname, '..', '..', 'contract', 'storage', 'faulty-disk.c')
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'])
  process.env['LD_PRELOAD'] = library
  process.env['FAULTY_DISK'] = control
  const options = {
    etcdUrl: '',
    omit: ['etcd-servers'],
    args: [`--data-dir=${join(folder, 'store')}`],
  }
  await using server = await startKeelson(options)
  delete process.env['LD_PRELOAD']
  console.log(`${seconds} s of faults under a server on a data folder, seed ${seed}`)
  const done = await run(server, { control, random })
  const found = judge(done)
  const counts = Object.entries(Object.groupBy(done.faults, (fault) => fault)).map(
    ([name, all]) => `${all?.length} ${name}`,
  )
  const writes = done.writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0)
  const refusals = done.writers.reduce((sum, writer) => sum + writer.refusals, 0)
  console.log(
    `${counts.join(', ')}; ${writes} writes, ${refusals} refused or without a response, ${done.follower.received.length} events`,
  )
  for (const fault of found) console.log(`FAIL ${fault}`)
  if (found.length > 0)
    console.log(
      `repeat: node test/chaos/simulation/store-faults.ts --seconds ${seconds} --seed ${seed}`,
    )
  process.exitCode = found.length === 0 ? 0 : 1
  rmSync(folder, { recursive: true })
}

type RunResult = {
  readonly writers: readonly Writer[]
  readonly follower: EventReader
  readonly faults: readonly string[]
  readonly state: readonly Write[]
}

async function run(
  server: ApiServerProcess,
  parts: { readonly control: string; readonly random: Random },
): Promise<RunResult> {
  const clients = Array.from({ length: WRITERS + 1 }, () => new SoakClient(server.url))
  const [watching, ...writing] = clients
  if (watching === undefined) throw new Error('no client')
  const { body } = await watching.call('GET', `${path}?labelSelector=app%3Dstore-faults`)
  const follower = new EventReader(
    watching,
    readObject(body).metadata.resourceVersion === ''
      ? 0
      : Number(readObject(body).metadata.resourceVersion),
  )
  const writers = writing.map((client, n) => new Writer(client, `w${n}`))
  let [isWritten, isOver] = [false, false]
  const following = follower.follow(() => isOver)
  const written = writers.map(async (writer) => {
    while (!isWritten) await writer.write()
  })
  const happened: string[] = []
  const endMs = performance.now() + seconds * 1000
  while (performance.now() < endMs)
    happened.push(await disturb(server, parts.control, parts.random))
  isWritten = true
  await Promise.all(written)
  const state = await readState(watching)
  const newest = Math.max(0, ...state.map(({ version }) => version))
  for (
    const lateMs = performance.now() + END_MS_MAX;
    (follower.received.at(-1)?.version ?? 0) < newest;
    await sleep(20)
  ) {
    if (performance.now() < lateMs) continue
    follower.faults.push(
      `the watcher is at ${follower.received.at(-1)?.version}, the list at ${newest}`,
    )
    break
  }
  isOver = true
  for (const client of clients) client[Symbol.dispose]()
  await following
  return { writers, follower, faults: happened, state }
}

async function readState(client: SoakClient): Promise<readonly Write[]> {
  for (const endMs = performance.now() + END_MS_MAX; ; await sleep(100)) {
    try {
      const { body } = await client.call('GET', `${path}?labelSelector=app%3Dstore-faults`)
      if (isRecord(body) && Array.isArray(body['items'])) return body['items'].map(writeOf)
    } catch (error) {
      if (performance.now() > endMs) throw error
    }
  }
}

/** Returns all inconsistencies in the results. */
function judge({ writers, follower, state }: RunResult): string[] {
  const found = [...follower.faults]
  const reported = new Map(follower.received.map((write) => [write.version, write]))
  for (const { name, acknowledged } of writers) {
    let before = 0
    for (const { value, version } of acknowledged) {
      if (version <= before)
        found.push(`${name} ${value} was acknowledged at ${version}, after ${before}`)
      before = version
      const event = reported.get(version)
      if (event?.name !== name || event.value !== value)
        found.push(`${name} ${value} at ${version} was not sent to the watcher`)
    }
    const now = state.find((write) => write.name === name)
    if (acknowledged.length > 0 && (now === undefined || now.version < before))
      found.push(`${name} is behind ${before}`)
    const last = follower.received.filter((write) => write.name === name).at(-1)
    if (last?.version !== now?.version)
      found.push(`${name} is at ${now?.version}, the watcher received ${last?.version}`)
  }
  return found
}

await main()
