/** Merges discovery and OpenAPI documents of remote servers into those of this server. */
import { parseText } from '../../api/json-value.ts'
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../../api/object.ts'
import type { ApiServicesInformer } from './api-services.ts'
import type { Proxy } from './proxy.ts'
import type { Remote } from './remote.ts'
import { byVersionPriority } from '../discovery/listed-groups.ts'
import { RemoteDiscovery } from '../discovery/remote/remote-discovery.ts'
import type { RemoteDocuments } from '../discovery/remote/remote-documents.ts'
import { RemoteOpenApi } from '../discovery/remote/remote-openapi.ts'
import type { RemoteServers } from '../discovery/remote/remote-servers.ts'
import type { Log } from '../../lib/telemetry/log.ts'

type ResourceContent = {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly isNamespaced: boolean
  readonly verbs: readonly string[]
}

type VersionContent = {
  readonly group: string
  readonly version: string
  /** The resources of the version. Undefined if the remote server is currently unreachable. */
  readonly resources: readonly ResourceContent[] | undefined
}

const contentOf = (
  { resource, responseKind, scope, verbs }: Fields,
  group: string,
  version: string,
): ResourceContent => ({
  group,
  version,
  plural: textOf(resource),
  kind: textOf(fieldsOf(responseKind)['kind']),
  isNamespaced: scope === 'Namespaced',
  verbs: textsOf(verbs),
})

export class ConnectedRemotes implements RemoteDocuments, AsyncDisposable {
  readonly servers: RemoteServers
  readonly discovery: RemoteDiscovery
  readonly openApi: RemoteOpenApi
  readonly #apiServices: ApiServicesInformer
  readonly #proxy: Proxy
  #changes = 0

  constructor(apiServices: ApiServicesInformer, proxy: Proxy, log: Log) {
    this.#apiServices = apiServices
    this.#proxy = proxy
    this.servers = {
      list: () => Array.from(apiServices.all(), ({ service }) => service),
      changes: () => this.#changes,
      onChange: (listener) => {
        const end = apiServices.onChange((name, known) => listener(name, known?.service))
        return { [Symbol.dispose]: end }
      },
      fetch: async ({ name }, path, asked) => this.#remoteOf(name).fetchDocument(path, asked),
    }
    apiServices.onChange(() => this.#changes++)
    this.discovery = new RemoteDiscovery({ servers: this.servers, log })
    this.openApi = new RemoteOpenApi({ servers: this.servers, log })
  }

  /**
   * Resolves when aggregated discovery contains every APIService. It must be awaited before the
   * server is ready.
   */
  async start(): Promise<void> {
    this.openApi.start()
    await this.discovery.start()
  }

  /**
   * Returns the versions of all APIServices whose discovery was fetched, for controllers. The
   * preferred versions of a group come first.
   */
  versions(): readonly VersionContent[] {
    const versions = [...this.discovery.versions()].toSorted((a, b) =>
      byVersionPriority(a.service, b.service),
    )
    return versions.map(({ service: { group, version }, resources, isStale }) => ({
      group,
      version,
      resources: isStale
        ? undefined
        : itemsOf(parseText(resources ?? '[]')).map((one) => contentOf(one, group, version)),
    }))
  }

  /** Returns the namespaced resources, for controllers that visit every resource of a namespace. */
  content(): { readonly resources: readonly ResourceContent[]; readonly stale: readonly string[] } {
    const versions = this.versions()
    const stale = versions.filter(({ resources }) => resources === undefined)
    const found = new Map<string, ResourceContent>()
    for (const one of versions.flatMap(({ resources = [] }) => resources)) {
      const id = `${one.plural}.${one.group}`
      if (one.isNamespaced && !found.has(id)) found.set(id, one)
    }
    return {
      resources: [...found.values()],
      stale: stale.map(({ group, version }) => `${group}/${version}`),
    }
  }

  readonly handOn: RemoteDocuments['handOn'] = ({ name }, http, context) =>
    this.#proxy({ http, context }, name)

  #remoteOf(name: string): Remote {
    const remote = this.#apiServices.get(name)?.remote
    if (remote === undefined) throw new Error(`${name} no longer has a remote server`)
    return remote
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.discovery[Symbol.asyncDispose](), this.openApi[Symbol.asyncDispose]()])
  }
}
