/**
 * All OpenAPI documents of a control plane. Each document is generated in slices when it is first
 * requested. It is cached until its group changes, or until it has not been requested for some
 * time.
 *
 * When a custom resource is added, only the document of its version is generated again. The index
 * does not depend on the documents of custom resources, of which there can be thousands.
 */
import type { Gates } from '../../../api/gates.ts'
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Clock } from '../../../lib/time/clock.ts'
import { type Log, silent } from '../../../lib/telemetry/log.ts'
import { IdleCache } from '../../../lib/cache/idle-cache.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import type { Registry } from '../../../registry/registry.ts'
import type { Resource } from '../../../registry/resource.ts'
import { versionsOf } from '../groups.ts'
import { mergeOlder } from '../remote/merge-older.ts'
import type { RemoteDocuments } from '../remote/remote-documents.ts'
import { versionDocument } from '../version.ts'
import { gather } from './bytes.ts'
import { customInfo, ofCustomKinds, withCustomKinds } from './custom.ts'
import { OpenApiDefinitions, type DefinitionSource } from './definitions.ts'
import * as documentPaths from './document-paths.ts'
import type { PathItem } from './operations.ts'
import { resourcePaths } from './resource-paths.ts'
import { type OlderTexts, V2Printer } from './v2.ts'
import { printV3, reachable, V3Printer } from './v3.ts'

/**
 * Time after which an unused document is removed from the cache. With ten thousand custom
 * resources, all documents together have a size of hundreds of megabytes.
 */
const LINGER_MS = 2 * 60_000
/**
 * Part of the hash of each document. Clients cache documents by hash for a year. Increase this
 * number when the published form of the same definitions changes.
 */
const CUSTOM_FORM = 2

/** Identifies a version of a document by a hash and the time of the last change. */
type Edition = { readonly hash: string; readonly modifiedMs: number }

/** A document, with the encodings that clients have requested. */
export class CachedDocument {
  readonly json: Buffer
  /** The hash and the time of the last change, which are the same for all encodings. */
  readonly edition: Edition
  #protobuf: Promise<Buffer> | undefined
  #gzipped: Promise<Buffer> | undefined

  constructor(json: Buffer, edition: Edition) {
    this.json = json
    this.edition = edition
  }

  protobuf(encode: (json: Buffer) => Promise<Buffer>): Promise<Buffer> {
    this.#protobuf ??= encode(this.json).catch((error: unknown) => {
      this.#protobuf = undefined
      throw error
    })
    return this.#protobuf
  }

  gzipped(): Promise<Buffer> {
    return (this.#gzipped ??= promisify(gzip)(this.json))
  }
}

type Group = readonly Resource[]
type LibraryOptions = {
  readonly registry: Registry
  readonly hasIssuer: boolean
  readonly clock: Clock
  readonly gates: Gates
  readonly log?: Log
  /** Documents of remote servers. Absent if APIs of remote servers are not served. */
  readonly remote?: Pick<RemoteDocuments, 'openApi'> | undefined
}

type MakeOptions = {
  readonly slices: Slices
  readonly definitions: DefinitionSource
  /** Whether any of the resources is built in. */
  readonly isBuiltIn: boolean
  /**
   * Hash and modification time of the document. If undefined, the hash is computed from the bytes
   * of the document.
   */
  readonly edition: Edition | undefined
}

type MergedDocument = {
  /** Identifies the state from which the document was generated. */
  readonly mark: string
  readonly parts: ReadonlyMap<Group, OlderTexts>
  readonly made: Promise<CachedDocument>
}

export class OpenApiLibrary {
  readonly #registry: Registry
  readonly #version: { readonly major: string; readonly minor: string; readonly gitVersion: string }
  readonly #hasIssuer: boolean
  readonly #clock: Clock
  readonly #log: Log
  readonly #remote: RemoteDocuments['openApi'] | undefined
  readonly #definitions: OpenApiDefinitions
  readonly #v3 = new V3Printer()
  readonly #v2 = new V2Printer()
  /**
   * Documents by key, together with the list of the group's resources from which they were
   * generated. The registry replaces that list when the group changes.
   */
  readonly #documents = new IdleCache<
    string,
    { readonly group: Group; readonly made: Promise<CachedDocument> }
  >(LINGER_MS)
  readonly #editions = new WeakMap<Group, Map<string, Edition>>()
  readonly #whole = new IdleCache<'v2', MergedDocument>(LINGER_MS)

  constructor({ registry, hasIssuer, clock, gates, log = silent, remote }: LibraryOptions) {
    this.#definitions = new OpenApiDefinitions(gates)
    this.#registry = registry
    this.#version = versionDocument(gates.release)
    this.#hasIssuer = hasIssuer
    this.#clock = clock
    this.#log = log
    this.#remote = remote?.openApi
  }

  /** The keys of all v3 documents, which are their paths below /openapi/v3. */
  get keys(): string[] {
    const groups = this.#registry.groups.flatMap((group) => {
      const versions = versionsOf(this.#registry, group).map((version) => keyOf(group, version))
      return group === '' || !hasBuiltIn(this.#registry.inGroup(group))
        ? versions
        : [keyOf(group), ...versions]
    })
    return [...groups, ...this.#fixedPaths().keys()].toSorted()
  }

  /** A string that changes whenever the documents change. */
  get mark(): string {
    return `${this.#registry.changes} ${this.#remote?.changes ?? 0}`
  }

  /** Returns a v3 document. Undefined if it does not exist. */
  v3(key: string): Promise<CachedDocument> | undefined {
    const [root, group = '', version, ...more] = key.split('/', 4)
    if (more.length > 0) return undefined
    if (root === 'api' && group !== '' && version === undefined)
      return this.#ofVersion(key, '', group)
    if (root === 'apis' && group !== '') {
      return version === undefined
        ? this.#ofGroup(key, group)
        : this.#ofVersion(key, group, version)
    }
    const path = this.#fixedPaths().get(key)
    return path === undefined ? undefined : this.#kept(key, noGroup, () => this.#make([path()]))
  }

  /**
   * Returns the hash and the modification time of a document, or undefined if the document does not
   * exist. To compute them, documents of built-in groups are generated, but those of custom
   * resources are not.
   */
  async edition(key: string): Promise<Edition | undefined> {
    const [root, first, version] = key.split('/', 3)
    const isOfGroup = first !== undefined && (root === 'api' || root === 'apis')
    const group = isOfGroup ? this.#registry.inGroup(root === 'api' ? '' : first) : noGroup
    const isCustom =
      version !== undefined && group.some((one) => one.version === version && one.isCustom)
    if (isCustom && !hasBuiltIn(group)) return this.#customEdition(key, group)
    return this.#editions.get(group)?.get(key) ?? (await this.v3(key))?.edition
  }

  /** Returns the v2 document, of which there is only one. */
  v2(): Promise<CachedDocument> {
    const { mark } = this
    const known = this.#whole.get('v2')
    if (known?.mark === mark) return known.made
    const groups = this.#registry.groups.map((group) => this.#registry.inGroup(group))
    const parts = new Map<Group, OlderTexts>()
    for (const group of groups) {
      const part = known?.parts.get(group)
      if (part !== undefined) parts.set(group, part)
    }
    const made = this.#makeWhole(groups, parts).catch((error: unknown) => {
      this.#whole.delete('v2')
      throw error
    })
    this.#whole.set('v2', { mark, parts, made })
    return made
  }

  #ofGroup(key: string, group: string): Promise<CachedDocument> | undefined {
    const resources = this.#registry.inGroup(group)
    if (!hasBuiltIn(resources)) return undefined
    return this.#kept(key, resources, () =>
      this.#make([documentPaths.groupPath(group, this.#definitions)]),
    )
  }

  #ofVersion(key: string, group: string, version: string): Promise<CachedDocument> | undefined {
    const resources = this.#registry.inGroup(group)
    const own = resources.filter((one) => one.version === version)
    if (own.length === 0) return undefined
    return this.#kept(key, resources, async () => {
      const slices = new Slices()
      const isBuiltIn = hasBuiltIn(own)
      const definitions = (isBuiltIn ? withCustomKinds : ofCustomKinds)(own, this.#definitions)
      const edition = isBuiltIn ? undefined : this.#customEdition(key, resources)
      return this.#make(await this.#pathsOf(own, slices), {
        slices,
        definitions,
        isBuiltIn,
        edition,
      })
    })
  }

  /**
   * Returns the cached document, or generates it. If generating it fails, the next request tries
   * again.
   */
  #kept(key: string, group: Group, make: () => Promise<CachedDocument>): Promise<CachedDocument> {
    const known = this.#documents.get(key)
    if (known?.group === group) return known.made
    const made = make().then(
      (document) => {
        this.#editionsOf(group).set(key, document.edition)
        return document
      },
      (error: unknown) => {
        this.#documents.delete(key)
        throw error
      },
    )
    this.#documents.set(key, { group, made })
    return made
  }

  get #info(): { readonly title: string; readonly version: string } {
    const { major, minor } = this.#version
    return { title: 'Kubernetes', version: `${major}.${minor}` }
  }

  #editionsOf(group: Group): Map<string, Edition> {
    const known = this.#editions.get(group) ?? new Map<string, Edition>()
    this.#editions.set(group, known)
    return known
  }

  #customEdition(key: string, resources: Group): Edition {
    const editions = this.#editionsOf(resources)
    const known = editions.get(key)
    if (known !== undefined) return known
    const marks = resources.map(({ version, plural, discovery }) => [
      version,
      plural,
      discovery.published?.mark,
    ])
    const text = JSON.stringify([CUSTOM_FORM, this.#version.gitVersion, key, marks])
    const made = {
      hash: hash('sha512', text, 'hex').toUpperCase(),
      modifiedMs: this.#clock.wallMs(),
    }
    editions.set(key, made)
    return made
  }

  /** Returns the paths of the resources of one group and version. */
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

  async #make(items: PathItem[], options: Partial<MakeOptions> = {}): Promise<CachedDocument> {
    const { slices = new Slices(), definitions = this.#definitions, isBuiltIn = true } = options
    const paths = await printAll(items.toSorted(byPath), slices, (item) => [
      item.path,
      this.#v3.path(item),
    ])
    const names = await reachable(items, definitions, slices)
    const schemas = await printAll(names, slices, (name) => [
      name,
      this.#v3.definition(definitions.get(name)),
    ])
    const text = printV3({
      info: isBuiltIn ? this.#info : customInfo,
      paths,
      schemas,
      isSecured: isBuiltIn,
    })
    return this.#bound(text, slices, options.edition)
  }

  async #bound(text: Iterable<string>, slices: Slices, edition?: Edition): Promise<CachedDocument> {
    const gathered = await gather(text, slices)
    return new CachedDocument(
      gathered.json,
      edition ?? { hash: gathered.hash, modifiedMs: this.#clock.wallMs() },
    )
  }

  /**
   * Generates the v2 document group by group, in slices. `parts` contains the results for the
   * groups that are unchanged. The results for the other groups are added to it.
   */
  async #makeWhole(
    groups: readonly Group[],
    parts: Map<Group, OlderTexts>,
  ): Promise<CachedDocument> {
    const slices = new Slices()
    const fixed = [...this.#fixedPaths().values()].map((path) => path())
    const texts = await this.#printOlder(fixed, this.#definitions, slices)
    const paths = new Map(texts.paths)
    const definitions = new Map(texts.definitions)
    for (const group of groups) {
      const part = parts.get(group) ?? (await this.#olderPart(group, slices))
      parts.set(group, part)
      for (const [path, text] of part.paths) paths.set(path, text)
      for (const [name, text] of part.definitions) definitions.set(name, text)
      if (slices.isOver) await slices.turn()
    }
    const whole = { paths, definitions, parameters: this.#v2.parameters() }
    for (const [service, spec] of this.#remote?.olderSpecs() ?? []) {
      try {
        await mergeOlder(whole, spec, slices)
      } catch (error) {
        this.#log('warn', 'cannot merge the OpenAPI document of an aggregated API server', {
          apiService: service.name,
          error: String(error),
        })
      }
    }
    return this.#bound(this.#v2.print(this.#info, whole), slices)
  }

  /** Returns the part of the v2 document for a group. */
  async #olderPart(resources: Group, slices: Slices): Promise<OlderTexts> {
    const items: PathItem[] = []
    for (const version of new Set(resources.map((one) => one.version))) {
      const own = resources.filter((one) => one.version === version)
      items.push(...(await this.#pathsOf(own, slices)))
    }
    const group = resources[0]?.group ?? ''
    if (group !== '' && hasBuiltIn(resources))
      items.push(documentPaths.groupPath(group, this.#definitions))
    return this.#printOlder(items, withCustomKinds(resources, this.#definitions), slices)
  }

  async #printOlder(
    items: readonly PathItem[],
    source: DefinitionSource,
    slices: Slices,
  ): Promise<OlderTexts> {
    const paths = await printAll(items, slices, (item) => [item.path, this.#v2.path(item)])
    const names = await reachable(items, source, slices)
    const definitions = await printAll(names, slices, (name) => [
      name,
      this.#v2.definition(source.get(name)),
    ])
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

const byPath = (a: PathItem, b: PathItem): number => (a.path < b.path ? -1 : 1)
const hasBuiltIn = (resources: Group): boolean => resources.some(({ isCustom }) => !isCustom)

const keyOf = (group: string, version?: string): string => {
  const root = group === '' ? 'api' : `apis/${group}`
  return version === undefined ? root : `${root}/${version}`
}

/** Replaces the resource list of a group in documents that do not belong to a group. */
const noGroup: Group = []
