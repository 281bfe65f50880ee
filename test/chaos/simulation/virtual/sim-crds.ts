/**
 * Creates and deletes CustomResourceDefinitions, while the controllers of both replicas serve them.
 * Some of the definitions conflict. At the end, each replica must serve exactly the established
 * definitions, no definition may wait for deletion, and each short name must belong to only one
 * definition. No object may be deleted before the definition under which it was created.
 */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../../src/api/object.ts'
import type { Reader } from '../../../../src/storage/cache/reader.ts'
import { cleanupFinalizer } from '../../../../src/registry/kinds/apiextensions/crd-deletion.ts'
import { CrdController } from '../../../../src/controllers/crds.ts'
import { sleep } from '../../../../src/lib/time/timers.ts'
import type { Log } from '../../../../src/lib/telemetry/log.ts'
import { Registry } from '../../../../src/registry/registry.ts'
import type { Key } from '../../../../src/storage/engine.ts'
import { StorageError } from '../../../../src/storage/errors.ts'
import { rangeOf, ResourceKeys } from '../../../../src/storage/keys.ts'
import type { Commit } from '../../../../src/storage/local-feed-stream.ts'
import type { Snapshot } from '../../../../src/storage/memory/database.ts'
import { deleteInstances } from '../../../../src/request/verbs/delete-instances.ts'
import type { Random } from '../random.ts'
import { changeJson, decodeJson, jsonForm, readJson, writeJson } from './json-objects.ts'
import { root, type SimReplica } from './sim-replica.ts'
import type { VirtualTime } from './virtual-time.ts'

const folder = `${root}apiextensions.k8s.io/customresourcedefinitions/`
const group = 'example.com'
/** Two of these kinds define the same short name. Only one of them can get it. */
const kinds = [
  { plural: 'gears', kind: 'Gear', shortName: 'ge' },
  { plural: 'wheels', kind: 'Wheel', shortName: 'wh' },
  { plural: 'whales', kind: 'Whale', shortName: 'wh' },
]
/** Label with the uid of the definition under which an object was created. */
const definitionLabel = 'definition'
/**
 * Time within which both controllers must finish, and all objects of deleted definitions must be
 * deleted.
 */
const SETTLED_MS_MAX = 30_000

type Controller = {
  readonly registry: Registry
  readonly reader: Reader
  readonly definitions: CrdController
}

export class SimDefinitions {
  readonly #time: VirtualTime
  readonly #controllers: ReadonlyMap<SimReplica, Controller>
  readonly #starting: Promise<void>[] = []
  readonly #faults: string[] = []
  /** All definitions and custom objects in the database, by key. */
  readonly #stored = new Map<Key, KubeObject>()
  #uids = 0

  constructor(replicas: readonly SimReplica[], time: VirtualTime, log: Log) {
    this.#time = time
    this.#controllers = new Map(
      replicas.map((replica) => [replica, controllerOf(replica, time, log)]),
    )
  }

  start(): void {
    for (const { definitions } of this.#controllers.values())
      this.#starting.push(definitions.start())
  }

  async act(replica: SimReplica, random: Random): Promise<void> {
    const { reader, registry } = this.#controllers.get(replica) ?? {}
    if (reader === undefined || registry === undefined) return
    const { store } = replica
    const one = random.pick(kinds)
    const key = `${folder}${one.plural}.${group}`
    try {
      const choice = random.next()
      if (choice < 0.4) await store.create(key, writeJson(this.#definition(one)))
      else if (choice < 0.6)
        await changeJson({ store, reader }, key, (object) => terminating(object, this.#now()))
      else if (registry.find({ group, version: 'v1', plural: one.plural }) !== undefined) {
        const { item } = await reader.get(key, 'any')
        const metadata = {
          name: 'x',
          labels: { [definitionLabel]: item?.peek().metadata.uid ?? '' },
        }
        const object = { apiVersion: `${group}/v1`, kind: one.kind, metadata }
        await store.create(`${prefixOf(one)}n/x${random.between(0, 9)}`, writeJson(object))
      }
    } catch (error) {
      // A StorageError is expected: the object already exists, or the database is unreachable.
      if (!(error instanceof StorageError)) throw error
    }
  }

  readonly onCommit = ({ events }: Commit): void => {
    for (const { key, type, value, revision } of events) {
      if (!key.startsWith(folder) && !key.startsWith(`${root}${group}/`)) continue
      if (type === 'delete') this.#deleted(key)
      else this.#stored.set(key, readJson(value, revision))
    }
  }

  restored({ histories }: Snapshot): void {
    this.#stored.clear()
    for (const { key, versions } of histories.values()) {
      const last = versions.at(-1)
      if (
        last?.value === undefined ||
        !(key.startsWith(folder) || key.startsWith(`${root}${group}/`))
      )
        continue
      this.#stored.set(key, readJson(last.value, last.revision))
    }
  }

  /**
   * Handles the deletion of a definition or of a custom object. Custom objects must only be deleted
   * if their definition is also being deleted.
   */
  #deleted(key: Key): void {
    const uid = this.#stored.get(key)?.metadata.labels?.[definitionLabel]
    this.#stored.delete(key)
    const standing = [...this.#stored.values()].find(
      ({ metadata }) => uid !== undefined && metadata.uid === uid,
    )
    if (standing !== undefined && standing.metadata.deletionTimestamp === undefined)
      this.#faults.push(`${key} was deleted, but its definition was not`)
  }

  async judge({ store }: SimReplica): Promise<string[]> {
    const until = this.#time.nowMs + SETTLED_MS_MAX
    for (;;) {
      const { values } = await store.list(rangeOf(folder))
      const faults = this.#faultsOf(values.map(({ value, revision }) => readJson(value, revision)))
      if (faults.length === 0 || this.#time.nowMs > until) return [...this.#faults, ...faults]
      await sleep(this.#time, 200)
    }
  }

  async stop(): Promise<void> {
    for (const { definitions } of this.#controllers.values())
      await definitions[Symbol.asyncDispose]()
    await Promise.all(this.#starting)
    for (const { cache } of this.#controllers.keys()) {
      cache.remove(folder)
      for (const one of kinds) cache.remove(prefixOf(one))
    }
  }

  #faultsOf(objects: readonly KubeObject[]): string[] {
    const faults: string[] = []
    const stuck = objects.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    if (stuck.length > 0)
      faults.push(`definitions were never deleted: ${stuck.map(nameOf).join(' ')}`)
    const shortNames = objects.flatMap((object) => textsOf(acceptedOf(object)['shortNames']))
    const twice = shortNames.filter((name, at) => shortNames.indexOf(name) !== at)
    if (twice.length > 0) faults.push(`short names were accepted twice: ${twice.join(' ')}`)
    const due = objects
      .filter(isEstablished)
      .map((object) => textOf(fieldsOf(fieldsOf(object['spec'])['names'])['plural']))
    for (const [{ name }, { registry }] of this.#controllers) {
      const served = registry.inGroup(group).map(({ plural }) => plural)
      if (served.toSorted().join() !== due.toSorted().join())
        faults.push(`${name} serves "${served.join(' ')}", established are "${due.join(' ')}"`)
    }
    return faults
  }

  #definition({ plural, kind, shortName }: (typeof kinds)[number]): KubeObject {
    const schema = {
      openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    }
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${plural}.${group}`,
        uid: `uid-${++this.#uids}`,
        generation: 1,
        creationTimestamp: this.#now(),
        finalizers: [cleanupFinalizer],
      },
      spec: {
        group,
        scope: 'Namespaced',
        names: {
          plural,
          kind,
          singular: kind.toLowerCase(),
          listKind: `${kind}List`,
          shortNames: [shortName],
        },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
      status: { storedVersions: ['v1'] },
    }
  }

  readonly #now = (): string => nowOf(this.#time)
}

const isEstablished = (object: KubeObject): boolean =>
  itemsOf(fieldsOf(object['status'])['conditions']).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  )

const acceptedOf = (object: KubeObject): Fields =>
  fieldsOf(fieldsOf(object['status'])['acceptedNames'])

const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ''

const nowOf = (time: VirtualTime): string =>
  new Date(time.wallMs()).toISOString().replace(/\.\d{3}Z$/, 'Z')

const terminating = (object: KubeObject, now: string): KubeObject | undefined =>
  object.metadata.deletionTimestamp === undefined
    ? { ...object, metadata: { ...object.metadata, deletionTimestamp: now } }
    : undefined

const keyOf = (name: string): string => folder + name

const prefixOf = ({ plural }: { readonly plural: string }): string => `${root}${group}/${plural}/`

function controllerOf({ cache, store }: SimReplica, time: VirtualTime, log: Log): Controller {
  const registry = new Registry([])
  const reader = cache.resource({ ...jsonForm, name: 'customresourcedefinitions', prefix: folder })
  const definitions = new CrdController({
    registry,
    reader,
    range: rangeOf(folder),
    life: () => cache.databaseLife,
    changeStatus: (name, decide) => changeJson({ store, reader }, keyOf(name), decide),
    release: async (name, decide) => {
      await changeJson({ store, reader }, keyOf(name), (object) => {
        const next = decide(object)
        return next !== undefined && (next.metadata.finalizers ?? []).length === 0 ? 'delete' : next
      })
    },
    deleteObjects: (resource, isDoomed) => {
      const keys = new ResourceKeys(root, `${group}/${resource.plural}`, true)
      const objects = cache.resource({ ...jsonForm, name: resource.plural, prefix: keys.prefix })
      const storage = { store, decode: decodeJson }
      const access = { keys, reader: objects, storage, now: () => nowOf(time) }
      return deleteInstances(resource, access, { isDoomed, time })
    },
    isBuiltInPlace: () => false,
    forget: (resource) => cache.remove(prefixOf(resource)),
    announce: async () => undefined,
    listAnnounced: async () => [],
    now: () => nowOf(time),
    timers: time,
    log,
  })
  return { registry, reader, definitions }
}
