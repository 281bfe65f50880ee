/**
 * Runs an informer of @kubernetes/client-node over many ConfigMaps while this program writes them,
 * with the same checks as informer/main.go for client-go. The program prints a line when the
 * informer has received all objects, writes until its standard input ends, and prints a verdict.
 *
 *   node test/clients/node-informer.ts KUBECONFIG NAMESPACE OBJECTS
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import {
  ApiException,
  CoreV1Api,
  type Informer,
  KubeConfig,
  makeInformer,
  type ObjectCache,
  type V1ConfigMap,
} from '@kubernetes/client-node'
import { fill, type Target } from './fill.ts'

const WRITERS = 2
const WRITE_PAUSE_MS = 10
const FAILURE_PAUSE_MS = 50
/**
 * Delay after which the informer is restarted after an error. The client leaves restarts to its
 * user.
 */
const INFORMER_PAUSE_MS = 200
/**
 * Maximum time for the informer to catch up after the last write. The delays between its attempts
 * grow to 30 s.
 */
const SETTLE_MAX_MS = 60_000
/** Maximum number of faults in a verdict, so that it stays readable if many checks fail. */
const FAULTS_MAX = 20

/**
 * State of an object after its last write: its resourceVersion, or null if it was deleted.
 * Undefined if the write got no response.
 */
type AcknowledgedWrite = { readonly version: string | null } | undefined

class Run {
  readonly #api: CoreV1Api
  readonly #config: KubeConfig
  readonly #namespace: string
  readonly #names: readonly string[]
  readonly #book = new Map<string, AcknowledgedWrite>()
  readonly #written = new Set<string>()
  readonly #told = new Set<string>()
  readonly #held = new Map<string, number>()
  readonly #faults: string[] = []
  readonly #counts = {
    creates: 0,
    updates: 0,
    deletes: 0,
    failedWrites: 0,
    lists: 0,
    added: 0,
    updated: 0,
    deleted: 0,
  }

  constructor(config: KubeConfig, namespace: string, objects: number) {
    this.#config = config
    this.#api = config.makeApiClient(CoreV1Api)
    this.#namespace = namespace
    this.#names = Array.from({ length: objects }, (_, i) => `object-${i}`)
  }

  async all(stopped: Promise<void>): Promise<void> {
    await this.#api.createNamespace({ body: { metadata: { name: this.#namespace } } })
    const maps = this.#names.map((name) => mapOf(name, 0))
    await fill({ ...targetOf(this.#config), namespace: this.#namespace }, maps, (made) =>
      this.#acknowledge(made, 'creates'),
    )
    const informer = this.#informer()
    await informer.start()
    say({ synced: informer.list(this.#namespace).length })
    const ending = new AbortController()
    const namesOf = (own: number): string[] => this.#names.filter((_, i) => i % WRITERS === own)
    const writing = Promise.all(
      Array.from({ length: WRITERS }, (_, own) => this.#write(namesOf(own), ending.signal)),
    )
    await stopped
    ending.abort()
    await writing
    await this.#judge(informer)
  }

  #informer(): Informer<V1ConfigMap> & ObjectCache<V1ConfigMap> {
    const list = () => {
      this.#counts.lists++
      return this.#api.listNamespacedConfigMap({ namespace: this.#namespace })
    }
    const informer = makeInformer(
      this.#config,
      `/api/v1/namespaces/${this.#namespace}/configmaps`,
      list,
    )
    informer.on('add', (map) => {
      this.#counts.added++
      if (this.#held.has(nameOf(map))) this.#fault(`add of ${nameOf(map)}, which already exists`)
      this.#tell(map)
    })
    informer.on('update', (map) => {
      this.#counts.updated++
      const before = this.#held.get(nameOf(map))
      if (before === undefined) this.#fault(`update of ${nameOf(map)}, which does not exist`)
      else if (Number(versionOf(map)) <= before)
        this.#fault(`${nameOf(map)} at ${versionOf(map)} after ${before}`)
      this.#tell(map)
    })
    informer.on('delete', (map) => {
      this.#counts.deleted++
      if (!this.#held.delete(nameOf(map)))
        this.#fault(`delete of ${nameOf(map)}, which does not exist`)
    })
    informer.on('error', () => {
      // As in the client's own example, the informer is restarted after an error, such as when the
      // server is down.
      setTimeout(() => void informer.start(), INFORMER_PAUSE_MS)
    })
    return informer
  }

  #tell(map: V1ConfigMap): void {
    this.#held.set(nameOf(map), Number(versionOf(map)))
    this.#told.add(versionOf(map))
  }

  /**
   * Writes until it is stopped. Each writer has its own objects, so that it knows the expected
   * state of each object.
   */
  async #write(names: readonly string[], ending: AbortSignal): Promise<void> {
    for (let revision = 1; !ending.aborted; revision++) {
      const name = names[Math.floor(Math.random() * names.length)] ?? ''
      try {
        await this.#writeOnce(name, revision)
      } catch (error) {
        // The server is down, or was stopped before it responded. Until the next write of this
        // object, it is unknown whether the failed write was stored.
        this.#counts.failedWrites++
        const isContradicted =
          error instanceof ApiException && (error.code === 404 || error.code === 409)
        if (isContradicted) this.#fault(`${name} was acknowledged, but then: ${error.message}`)
        this.#book.set(name, undefined)
        await sleep(FAILURE_PAUSE_MS)
      }
      await sleep(WRITE_PAUSE_MS)
    }
  }

  async #writeOnce(name: string, revision: number): Promise<void> {
    const known = this.#book.get(name)
    if (known === undefined) {
      if (await this.#exists(name)) await this.#update(name, revision)
      else await this.#create(name, revision)
    } else if (known.version === null) await this.#create(name, revision)
    else if (Math.random() < 0.3) await this.#remove(name)
    else await this.#update(name, revision)
  }

  async #exists(name: string): Promise<boolean> {
    try {
      await this.#api.readNamespacedConfigMap({ namespace: this.#namespace, name })
      return true
    } catch (error) {
      if (error instanceof ApiException && error.code === 404) return false
      throw error
    }
  }

  async #create(name: string, revision: number): Promise<void> {
    const made = await this.#api.createNamespacedConfigMap({
      namespace: this.#namespace,
      body: mapOf(name, revision),
    })
    this.#acknowledge(made, 'creates')
  }

  async #update(name: string, revision: number): Promise<void> {
    const body = mapOf(name, revision)
    const made = await this.#api.replaceNamespacedConfigMap({
      namespace: this.#namespace,
      name,
      body,
    })
    this.#acknowledge(made, 'updates')
  }

  #acknowledge(map: V1ConfigMap, kind: 'creates' | 'updates'): void {
    this.#counts[kind]++
    this.#book.set(nameOf(map), { version: versionOf(map) })
    this.#written.add(versionOf(map))
  }

  async #remove(name: string): Promise<void> {
    await this.#api.deleteNamespacedConfigMap({ namespace: this.#namespace, name })
    this.#counts.deletes++
    this.#book.set(name, { version: null })
  }

  async #judge(informer: ObjectCache<V1ConfigMap>): Promise<void> {
    const fresh = byName(
      (await this.#api.listNamespacedConfigMap({ namespace: this.#namespace })).items,
    )
    const held = (): Map<string, V1ConfigMap> => byName(informer.list(this.#namespace))
    const began = performance.now()
    while (!isDeepStrictEqual(held(), fresh) && performance.now() - began < SETTLE_MAX_MS)
      await sleep(20)
    const settledMs = Math.round(performance.now() - began)
    if (!isDeepStrictEqual(held(), fresh)) this.#fault(difference(held(), fresh))
    this.#judgeBook(fresh)
    this.#judgeTold(fresh)
    say({
      configMaps: { objects: fresh.size, ...this.#counts, settledMs },
      faults: this.#faults.slice(0, FAULTS_MAX),
    })
  }

  /**
   * Checks that no acknowledged write is lost, and that every object was created by a write that
   * this program has recorded.
   */
  #judgeBook(fresh: ReadonlyMap<string, V1ConfigMap>): void {
    for (const [name, known] of this.#book) {
      const map = fresh.get(name)
      const version = map === undefined ? null : versionOf(map)
      if (known !== undefined && known.version !== version) {
        this.#fault(
          `${name} was acknowledged at ${known.version}, but a fresh list has it at ${version}`,
        )
      }
    }
    for (const name of fresh.keys())
      if (!this.#book.has(name)) this.#fault(`${name} exists, but was not written`)
  }

  /**
   * If the informer listed only once, checks that there was an event for every acknowledged write.
   * After another list, an informer does not get events for the writes between its last watch and
   * this list.
   */
  #judgeTold(fresh: ReadonlyMap<string, V1ConfigMap>): void {
    const untold = [...this.#written].filter((version) => !this.#told.has(version))
    if (this.#counts.lists === 1 && untold.length > 0)
      this.#fault(`no event reported: ${untold.slice(0, 5).join(', ')}`)
    const reported = new Map([...fresh].map(([name, map]) => [name, Number(versionOf(map))]))
    if (!isDeepStrictEqual(reported, this.#held))
      this.#fault('the events do not result in the state of a fresh list')
  }

  #fault(text: string): void {
    this.#faults.push(text)
  }
}

const nameOf = (map: V1ConfigMap): string => map.metadata?.name ?? ''
const versionOf = (map: V1ConfigMap): string => map.metadata?.resourceVersion ?? ''
const mapOf = (name: string, revision: number): V1ConfigMap => ({
  metadata: { name },
  data: { revision: `${revision}`, name: `<é & ${name}>` },
})

const byName = (maps: readonly V1ConfigMap[]): Map<string, V1ConfigMap> =>
  new Map(maps.map((map) => [nameOf(map), comparable(map)]))

/**
 * Makes objects comparable. Watch events contain kind and apiVersion, but list items do not. The
 * client parses times in lists as dates, but leaves times in watch events as strings.
 */
const comparable = ({ metadata, data }: V1ConfigMap): V1ConfigMap =>
  JSON.parse(
    JSON.stringify({ metadata, data }, (key, value: string) =>
      key === 'creationTimestamp' || key === 'time' ? new Date(value).toISOString() : value,
    ),
  )

function difference(
  held: ReadonlyMap<string, V1ConfigMap>,
  fresh: ReadonlyMap<string, V1ConfigMap>,
): string {
  const names = new Set([...held.keys(), ...fresh.keys()])
  const differing = [...names].filter((name) => !isDeepStrictEqual(held.get(name), fresh.get(name)))
  const examples = differing.slice(0, 3).map((name) => [held.get(name), fresh.get(name)])
  return `${differing.length} objects differ from a fresh list: ${JSON.stringify(examples)}`
}

function targetOf(from: KubeConfig): Omit<Target, 'namespace'> {
  const cluster = from.getCurrentCluster()
  const ca = readFileSync(cluster?.caFile ?? '', 'utf8')
  return { url: cluster?.server ?? '', ca, token: from.getCurrentUser()?.token ?? '' }
}

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const [kubeconfig = '', namespace = 'watched-by-node', objects = '5000'] = process.argv.slice(2)
const config = new KubeConfig()
config.loadFromFile(kubeconfig)
const stopped = new Promise<void>((resolve) => {
  process.stdin.on('end', resolve).resume()
})
await new Run(config, namespace, Number(objects)).all(stopped)
// Exit explicitly, because the open watch would keep the process running.
process.exit(0)
