/**
 * All OpenAPI documents of a control plane. Each is made when somebody first asks for it, bit by bit so that others get their
 * turn, and kept until its group changes: a new custom resource costs the document of its own version and no other.
 */
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Clock } from '../../lib/clock.ts'
import { Slices } from '../../lib/slices.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import { versionsOf } from '../groups.ts'
import { kubernetesVersion } from '../version.ts'
import { customInfo, ofCustomKinds, withCustomKinds } from './custom.ts'
import { Definitions, type DefinitionSource } from './definitions.ts'
import * as documentPaths from './document-paths.ts'
import type { PathItem } from './operations.ts'
import { resourcePaths } from './resource-paths.ts'
import { V2Printer } from './v2.ts'
import { printV3, reachable, V3Printer } from './v3.ts'

/** A document, with the forms that somebody has asked for. */
export class Kept {
  readonly json: Buffer
  /** Of the JSON, whatever the form. */
  readonly hash: string
  readonly modifiedMs: number
  #protobuf: Promise<Buffer> | undefined
  #gzipped: Promise<Buffer> | undefined

  constructor(text: string, modifiedMs: number) {
    this.json = Buffer.from(text)
    this.hash = hash('sha512', this.json, 'hex').toUpperCase()
    this.modifiedMs = modifiedMs
  }

  protobuf(encode: (json: Buffer) => Promise<Buffer>): Promise<Buffer> {
    return (this.#protobuf ??= encode(this.json))
  }

  gzipped(): Promise<Buffer> {
    return (this.#gzipped ??= promisify(gzip)(this.json))
  }
}

type Group = readonly Resource[]
type LibraryParts = { readonly registry: Registry; readonly hasIssuer: boolean; readonly clock: Clock }

type MakeOptions = {
  readonly slices: Slices
  readonly definitions: DefinitionSource
  /** Otherwise all of its resources are custom. */
  readonly isBuiltIn: boolean
}

/** Texts by path and by name. */
type OlderPart = { readonly paths: ReadonlyMap<string, string>; readonly definitions: ReadonlyMap<string, string> }

const info = { title: 'Kubernetes', version: `${kubernetesVersion.major}.${kubernetesVersion.minor}` } as const

export class OpenApiLibrary {
  readonly #registry: Registry
  readonly #hasIssuer: boolean
  readonly #clock: Clock
  readonly #definitions = new Definitions()
  readonly #v3 = new V3Printer()
  readonly #v2 = new V2Printer()
  /** By the list of a group's resources, which is another one when the group changes; then by key. */
  readonly #ofGroups = new WeakMap<Group, Map<string, Promise<Kept>>>()
  readonly #olderParts = new WeakMap<Group, Promise<OlderPart>>()
  /** Those that no group changes. */
  readonly #others = new Map<string, Promise<Kept>>()
  #whole: { readonly groups: readonly Group[]; readonly made: Promise<Kept> } | undefined

  constructor({ registry, hasIssuer, clock }: LibraryParts) {
    this.#registry = registry
    this.#hasIssuer = hasIssuer
    this.#clock = clock
  }

  /** The keys of all v3 documents, which are the ends of their paths. */
  get keys(): string[] {
    const groups = this.#registry.groups.flatMap((group) => {
      const versions = versionsOf(this.#registry, group).map((version) => keyOf(group, version))
      return group === '' || !hasBuiltIn(this.#registry.inGroup(group)) ? versions : [keyOf(group), ...versions]
    })
    return [...groups, ...this.#fixedPaths().keys()].toSorted()
  }

  /** Undefined when there is no such document. */
  v3(key: string): Promise<Kept> | undefined {
    const [root, group = '', version, ...more] = key.split('/')
    if (more.length > 0) return undefined
    if (root === 'api' && group !== '' && version === undefined) return this.#ofVersion(key, '', group)
    if (root === 'apis' && group !== '') {
      return version === undefined ? this.#ofGroup(key, group) : this.#ofVersion(key, group, version)
    }
    const path = this.#fixedPaths().get(key)
    return path === undefined ? undefined : kept(this.#others, key, () => this.#make([path()]))
  }

  /** The one document of v2. */
  v2(): Promise<Kept> {
    const groups = this.#registry.groups.map((group) => this.#registry.inGroup(group))
    const known = this.#whole
    if (known !== undefined && isSameList(known.groups, groups)) return known.made
    const made = this.#makeWhole(groups).catch((error: unknown) => {
      this.#whole = undefined
      throw error
    })
    this.#whole = { groups, made }
    return made
  }

  #ofGroup(key: string, group: string): Promise<Kept> | undefined {
    const resources = this.#registry.inGroup(group)
    if (!hasBuiltIn(resources)) return undefined
    return kept(this.#documentsOf(resources), key, () =>
      this.#make([documentPaths.groupPath(group, this.#definitions)]),
    )
  }

  #ofVersion(key: string, group: string, version: string): Promise<Kept> | undefined {
    const resources = this.#registry.inGroup(group)
    const own = resources.filter((one) => one.version === version)
    if (own.length === 0) return undefined
    return kept(this.#documentsOf(resources), key, async () => {
      const slices = new Slices()
      const isBuiltIn = hasBuiltIn(own)
      const definitions = (isBuiltIn ? withCustomKinds : ofCustomKinds)(own, this.#definitions)
      return this.#make(await this.#pathsOf(own, slices), { slices, definitions, isBuiltIn })
    })
  }

  #documentsOf(resources: Group): Map<string, Promise<Kept>> {
    const known = this.#ofGroups.get(resources) ?? new Map<string, Promise<Kept>>()
    this.#ofGroups.set(resources, known)
    return known
  }

  /** Of the resources of one group and version. */
  async #pathsOf(resources: Group, slices: Slices): Promise<PathItem[]> {
    const items: PathItem[] = []
    for (const resource of resources) {
      items.push(...resourcePaths(resource, this.#definitions))
      if (slices.isOver) await slices.turn()
    }
    const [builtIn] = resources.filter(({ isCustom }) => !isCustom)
    if (builtIn !== undefined) {
      items.push(documentPaths.resourceListPath(builtIn.group, builtIn.version, this.#definitions))
    }
    return items
  }

  async #make(items: PathItem[], options: Partial<MakeOptions> = {}): Promise<Kept> {
    const { slices = new Slices(), definitions = this.#definitions, isBuiltIn = true } = options
    const paths = await printAll(items.toSorted(byPath), slices, (item) => [item.path, this.#v3.path(item)])
    const names = await reachable(items, definitions, slices)
    const schemas = await printAll(names, slices, (name) => [name, this.#v3.definition(definitions.get(name))])
    const text = printV3({ info: isBuiltIn ? info : customInfo, paths, schemas, isSecured: isBuiltIn })
    return new Kept(text, this.#clock.wallMs())
  }

  async #makeWhole(groups: readonly Group[]): Promise<Kept> {
    const slices = new Slices()
    const fixed = [...this.#fixedPaths().values()].map((path) => path())
    const parts = [await this.#printOlder(fixed, this.#definitions, slices)]
    for (const resources of groups) parts.push(await this.#olderPart(resources))
    const paths = new Map(parts.flatMap((part) => [...part.paths]).toSorted(byKey))
    const definitions = new Map(parts.flatMap((part) => [...part.definitions]).toSorted(byKey))
    return new Kept(this.#v2.print(info, paths, definitions), this.#clock.wallMs())
  }

  /** What a group adds to the document of v2. */
  #olderPart(resources: Group): Promise<OlderPart> {
    const known = this.#olderParts.get(resources)
    if (known !== undefined) return known
    const made = this.#makeOlderPart(resources).catch((error: unknown) => {
      this.#olderParts.delete(resources)
      throw error
    })
    this.#olderParts.set(resources, made)
    return made
  }

  async #makeOlderPart(resources: Group): Promise<OlderPart> {
    const slices = new Slices()
    const items: PathItem[] = []
    for (const version of new Set(resources.map((one) => one.version))) {
      const own = resources.filter((one) => one.version === version)
      items.push(...(await this.#pathsOf(own, slices)))
    }
    const group = resources[0]?.group ?? ''
    if (group !== '' && hasBuiltIn(resources)) items.push(documentPaths.groupPath(group, this.#definitions))
    return this.#printOlder(items, withCustomKinds(resources, this.#definitions), slices)
  }

  async #printOlder(items: readonly PathItem[], source: DefinitionSource, slices: Slices): Promise<OlderPart> {
    const paths = await printAll(items, slices, (item) => [item.path, this.#v2.path(item)])
    const names = await reachable(items, source, slices)
    const definitions = await printAll(names, slices, (name) => [name, this.#v2.definition(source.get(name))])
    return { paths, definitions }
  }

  #fixedPaths(): Map<string, () => PathItem> {
    const paths = new Map([
      ['api', () => documentPaths.coreVersionsPath(this.#definitions)],
      ['apis', () => documentPaths.groupListPath(this.#definitions)],
      ['version', documentPaths.versionPath],
    ])
    if (!this.#hasIssuer) return paths
    return paths
      .set('.well-known/openid-configuration', documentPaths.issuerPath)
      .set('openid/v1/jwks', documentPaths.keysPath)
  }
}

/** One that could not be made is tried again by the next who asks. */
function kept(documents: Map<string, Promise<Kept>>, key: string, make: () => Promise<Kept>): Promise<Kept> {
  const known = documents.get(key)
  if (known !== undefined) return known
  const made = make().catch((error: unknown) => {
    documents.delete(key)
    throw error
  })
  documents.set(key, made)
  return made
}

async function printAll<T>(
  all: readonly T[],
  slices: Slices,
  print: (one: T) => [string, string],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const one of all) {
    const [name, text] = print(one)
    texts.set(name, text)
    if (slices.isOver) await slices.turn()
  }
  return texts
}

const byKey = ([a]: [string, string], [b]: [string, string]): number => (a < b ? -1 : 1)
const byPath = (a: PathItem, b: PathItem): number => (a.path < b.path ? -1 : 1)
const hasBuiltIn = (resources: Group): boolean => resources.some(({ isCustom }) => !isCustom)

const keyOf = (group: string, version?: string): string => {
  const root = group === '' ? 'api' : `apis/${group}`
  return version === undefined ? root : `${root}/${version}`
}

const isSameList = (a: readonly Group[], b: readonly Group[]): boolean =>
  a.length === b.length && a.every((one, index) => one === b[index])
