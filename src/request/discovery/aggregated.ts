/**
 * Aggregated discovery: all groups, versions and resources in one document, so that clients need
 * only one request. The JSON of a group is generated again only if the group changes. With
 * thousands of custom resources, the cost of a change is therefore limited to the changed group.
 */
import { emptyMetadata } from '../../api/zero-time.ts'
import { hash } from 'node:crypto'
import type { Gates } from '../../api/gates.ts'
import {
  type ApiRequest,
  type ApiResponse,
  elementsOf,
  firstHeader,
  parametersOf,
} from '../../api/request.ts'
import { parseJson } from '../../api/json-value.ts'
import { printOrdered, printString } from '../../objects/codec/json.ts'
import { jsonType, protobufType, yamlType } from '../../objects/codec/negotiate.ts'
import { indentJson } from '../../objects/codec/indent.ts'
import { decodeStruct } from '../../objects/codec/decode.ts'
import { encodeObject } from '../../objects/codec/protobuf/envelope.ts'
import { jsonToYaml } from '../../objects/codec/yaml-print.ts'
import { groupPriority, versionPriority } from '../../registry/priorities.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Resource, Subresource } from '../../registry/resource.ts'
import { commonType } from '../../registry/types.ts'
import type { Document } from './groups.ts'
import { versionsOf } from './groups.ts'
import { byVersionPriority, CUSTOM_VERSION_PRIORITY } from './listed-groups.ts'
import type { RemoteDiscovery, RemoteVersion } from './remote/remote-discovery.ts'

const kind = 'APIGroupDiscoveryList'
const ownGroup = 'apidiscovery.k8s.io'

type Media = 'json' | 'yaml' | 'protobuf'

/** The media type and version that a client requests. */
type Form = { readonly media: Media; readonly version: 'v2' | 'v2beta1' }

const types: readonly (readonly [string, Media])[] = [
  [jsonType, 'json'],
  [yamlType, 'yaml'],
  [protobufType, 'protobuf'],
  ['*/*', 'json'],
  ['application/*', 'json'],
]

/**
 * Returns the media type and version of aggregated discovery that the client requests. If one
 * clause of the Accept header requests aggregated discovery, it takes precedence over the other
 * clauses, regardless of its position.
 */
export function aggregatedForm(
  { headers }: Pick<ApiRequest, 'headers'>,
  gates: Gates,
): Form | undefined {
  const versions = gates.isOn('AggregatedDiscoveryRemoveBetaType')
    ? (['v2'] as const)
    : (['v2', 'v2beta1'] as const)
  const accept = firstHeader(headers, 'accept') ?? ''
  if (!accept.includes('apidiscovery')) return undefined
  for (const clause of elementsOf(accept)) {
    const [type = '', ...parameters] = parametersOf(clause)
    const media = types.find(([name]) => name === type)?.[1]
    const version = versions.find((one) =>
      wanted(one).every((parameter) => parameters.includes(parameter)),
    )
    if (media !== undefined && version !== undefined) return { media, version }
  }
  return undefined
}

const wanted = (version: Form['version']): readonly string[] => [
  `g=${ownGroup}`,
  `v=${version}`,
  `as=${kind}`,
]

/** A serialized document. `mark` identifies the state from which it was generated. */
type AggregatedDocument = {
  readonly mark: string
  readonly json: Buffer
  readonly tag: string
  /** Other representations that clients requested, by media type and version. */
  readonly forms: Map<string, EncodedDocument>
}

type EncodedDocument = { readonly type: string; readonly body: Buffer }

/** A version of a group, with its priority. */
type PrioritizedVersion = {
  readonly version: string
  readonly versionPriority: number
  readonly text: string
}

/** The versions of a group, with the priority of the group. */
type PrioritizedGroup = {
  readonly name: string
  readonly priority: number
  readonly versions: readonly PrioritizedVersion[]
}

export class AggregatedDiscovery {
  readonly #registry: Registry
  readonly #remote: RemoteDiscovery | undefined
  /**
   * Serialized versions by the list of a group's resources. The registry replaces this list when
   * the group changes.
   */
  readonly #versions = new WeakMap<readonly Resource[], readonly PrioritizedVersion[]>()
  readonly #made = new Map<'core' | 'others', AggregatedDocument>()

  /** `remote` provides the resources of aggregated API servers. */
  constructor(registry: Registry, remote?: RemoteDiscovery) {
    this.#registry = registry
    this.#remote = remote
  }

  /**
   * Serves a document. `core` is the document of /api, which has one group, and `others` is the
   * document of /apis.
   */
  answer(which: 'core' | 'others', form: Form, { headers, query }: ApiRequest): ApiResponse {
    const made = this.#document(which)
    const { tag } = made
    const common = { etag: tag, vary: 'Accept', 'cache-control': 'public' }
    if (firstHeader(headers, 'if-none-match') === tag)
      return { status: 304, headers: common, body: Buffer.alloc(0) }
    const { type, body } = printedOnce(made, form, query)
    const contentType = `${type};${wanted(form.version).join(';')}`
    return { status: 200, headers: { 'content-type': contentType, ...common }, body }
  }

  #document(which: 'core' | 'others'): AggregatedDocument {
    const mark = `${this.#registry.changes} ${this.#remote?.changes ?? 0}`
    const known = this.#made.get(which)
    if (known?.mark === mark) return known
    const items = (which === 'core' ? [this.#ownGroup('')] : this.#others())
      .map((group) => printGroup(group, this.#registry.release))
      .join(',')
    const json = `{"kind":"${kind}","apiVersion":"${ownGroup}/v2","metadata":{},"items":[${items}]}`
    const tag = `"${hash('sha512', json, 'hex').toUpperCase()}"`
    const made = {
      mark,
      json: Buffer.from(`${json}\n`),
      tag,
      forms: new Map<string, EncodedDocument>(),
    }
    this.#made.set(which, made)
    return made
  }

  #others(): PrioritizedGroup[] {
    const own = this.#registry.groups.filter((name) => name !== '')
    const groups = new Map(own.map((name) => [name, this.#ownGroup(name)]))
    for (const remote of this.#remote?.versions() ?? []) {
      const { service } = remote
      groups.set(service.group, withRemote(groups.get(service.group), remote))
    }
    return [...groups.values()].toSorted(byPriority)
  }

  #ownGroup(name: string): PrioritizedGroup {
    // As in kube-apiserver, apiregistration.k8s.io comes first.
    const priority = name === 'apiregistration.k8s.io' ? Infinity : groupPriority(name)
    return { name, priority, versions: this.#ownVersions(name) }
  }

  #ownVersions(group: string): readonly PrioritizedVersion[] {
    const resources = this.#registry.inGroup(group)
    const known = this.#versions.get(resources)
    if (known !== undefined) return known
    const made = versionsOf(this.#registry, group).map((version) => {
      const own = resources.filter((one) => one.version === version)
      return {
        version,
        versionPriority: own.some(({ isCustom }) => isCustom)
          ? CUSTOM_VERSION_PRIORITY
          : versionPriority(group, version),
        text: printOrdered({ version, resources: own.map(resourceFields), freshness: 'Current' }),
      }
    })
    this.#versions.set(resources, made)
    return made
  }
}

/** Adds a version of a remote server to a group. It replaces the same version of this server. */
function withRemote(
  group: PrioritizedGroup | undefined,
  { service, resources, isStale }: RemoteVersion,
): PrioritizedGroup {
  const { version } = service
  const own = group?.versions ?? []
  const known = resources === undefined || resources === '[]' ? '' : `"resources":${resources},`
  const text = `{"version":${printString(version)},${known}"freshness":"${isStale ? 'Stale' : 'Current'}"}`
  const shown = { version, versionPriority: service.versionPriority, text }
  const others = own.filter((one) => one.version !== version)
  // If the group has no other version, the priority that this server assigned to the group no
  // longer applies.
  const priority = others.length === 0 ? 0 : (group?.priority ?? 0)
  return {
    name: service.group,
    priority: Math.max(priority, service.groupPriorityMinimum),
    versions: [...others, shown].toSorted(byVersionPriority),
  }
}

const byPriority = (a: PrioritizedGroup, b: PrioritizedGroup): number =>
  a.priority === b.priority ? (a.name < b.name ? -1 : 1) : b.priority - a.priority

function printGroup({ name, versions }: PrioritizedGroup, release: number): string {
  const metadata = printOrdered({ ...(name === '' ? {} : { name }), ...emptyMetadata(release) })
  return `{"metadata":${metadata},"versions":[${versions.map(({ text }) => text).join(',')}]}`
}

/** Converts a v2 document to v2beta1, which has the same fields. */
const asBeta = (json: Buffer): Buffer =>
  Buffer.from(json.toString().replace(`"${ownGroup}/v2"`, `"${ownGroup}/v2beta1"`))

/**
 * Converts the document to the requested media type and version. Caches the result, because
 * protobuf and YAML documents with many resources take long to generate.
 */
function printedOnce(
  { json, forms }: AggregatedDocument,
  form: Form,
  query: URLSearchParams,
): EncodedDocument {
  const isIndented = form.media === 'json' && /^(true|1)$/.test(query.get('pretty') ?? '')
  const id = `${form.media} ${form.version} ${isIndented}`
  const known = forms.get(id)
  if (known !== undefined) return known
  const made = printed(form.version === 'v2' ? json : asBeta(json), form, query)
  forms.set(id, made)
  return made
}

function printed(json: Buffer, { media, version }: Form, query: URLSearchParams): EncodedDocument {
  switch (media) {
    case 'yaml':
      return { type: yamlType, body: Buffer.from(jsonToYaml(parseJson(json))) }
    case 'protobuf': {
      const struct = commonType('apidiscovery/v2', kind)
      const { value } = decodeStruct(json.toString(), struct)
      return {
        type: protobufType,
        body: encodeObject({ ...value, kind, apiVersion: `${ownGroup}/${version}` }, struct),
      }
    }
    case 'json': {
      const isIndented = query.get('pretty') === 'true' || query.get('pretty') === '1'
      return {
        type: jsonType,
        body: isIndented ? Buffer.from(indentJson(json.toString().trimEnd())) : json,
      }
    }
  }
}

/**
 * Returns the fields of a resource. In `responseKind`, an empty group and version stand for the
 * group and version of the resource itself. They are empty for built-in kinds and set for custom
 * kinds.
 */
function resourceFields(resource: Resource): Document {
  const { plural, kind: ownKind, isNamespaced, verbs, subresources } = resource
  const { singular, shortNames, categories } = resource.discovery
  const own = resource.isCustom
    ? { group: resource.group, version: resource.version }
    : ({ group: '', version: '' } as const)
  return {
    resource: plural,
    responseKind: { ...own, kind: ownKind },
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0
      ? {}
      : { subresources: subresources.map((one) => partFields(one, resource, own)) }),
  }
}

type OwnVersion = { readonly group: string; readonly version: string }

function partFields(
  { name, kind: ownKind, group, version, verbs }: Subresource,
  resource: Resource,
  own: OwnVersion,
): Document {
  const isOwn = group === resource.group && version === resource.version
  const { group: shownGroup, version: shownVersion } = isOwn ? own : { group, version }
  return {
    subresource: name,
    responseKind: { group: shownGroup, version: shownVersion, kind: ownKind },
    verbs,
  }
}
