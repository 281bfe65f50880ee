/** Reads the flags that define where objects are stored. */
import type { StorageMedia } from '../objects/schema/object-schema.ts'
import type { Values } from './values.ts'

/** The type of the storage (etcd, SQLite or memory), and where it is. */
export type StoreConfig =
  | {
      readonly kind: 'etcd'
      readonly servers: readonly string[]
      /**
       * Paths of PEM files for connections to etcd. Null if neither a CA nor a client certificate
       * is configured.
       */
      readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | null
      readonly login?: { readonly user: string; readonly passwordPath: string }
    }
  /** Objects are stored in a SQLite file in this folder. */
  | { readonly kind: 'sqlite'; readonly folder: string }
  /** Objects are stored only in memory, and are lost when the process ends. */
  | { readonly kind: 'memory' }

/** A resource and the etcd servers that store its objects. */
export type EtcdOverride = {
  readonly group: string
  readonly resource: string
  readonly servers: readonly string[]
}

export type EtcdConfig = {
  readonly store: StoreConfig
  /** Resources that are stored in other etcd servers. */
  readonly overrides: readonly EtcdOverride[]
  readonly prefix: string
  /** Encoding of stored built-in objects. */
  readonly media: StorageMedia
  /** Interval between compactions. 0 means that this server does not compact. */
  readonly compactionMs: number
}

const storageMedia: ReadonlyMap<string, StorageMedia> = new Map([
  ['application/json', 'json'],
  ['application/vnd.kubernetes.protobuf', 'protobuf'],
  // With the value application/yaml, objects are stored as JSON. JSON is valid YAML, and every API
  // server can decode it.
  ['application/yaml', 'json'],
])

export function readEtcd(values: Values): EtcdConfig {
  const store = readStore(values)
  const backend = values.string('storage-backend')
  if (backend !== '' && backend !== 'etcd3') {
    values.fault(
      "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'",
    )
  }
  const mediaType = values.string('storage-media-type')
  const media = storageMedia.get(mediaType)
  if (media === undefined) {
    const known = [...storageMedia.keys()].join(', ')
    values.fault(
      `--storage-media-type ${JSON.stringify(mediaType)} invalid, allowed values: ${known}`,
    )
  }
  // `keelson serve` removes --testing and --testing-now before this check. If one of them is still
  // set, the command is another one.
  if (values.boolean('testing'))
    values.fault('--testing is only supported by keelson serve: leave it out')
  if (values.string('testing-now') !== '')
    values.fault('--testing-now is only supported by keelson serve --testing: leave it out')
  if (!values.boolean('watch-cache'))
    values.fault('--watch-cache=false is not supported: leave it out')
  return {
    store,
    overrides: readOverrides(values, store),
    prefix: values.string('etcd-prefix'),
    media: media ?? 'json',
    compactionMs: Math.max(0, values.durationMs('etcd-compaction-interval')),
  }
}

/** Parses `group/resource#servers`, where servers are separated by `;`. */
function readOverrides(values: Values, { kind }: StoreConfig): readonly EtcdOverride[] {
  const given = values.slice('etcd-servers-overrides')
  if (given.length > 0 && kind !== 'etcd') {
    values.fault(
      `--etcd-servers-overrides cannot be used with --store=${kind}: leave one of them out`,
    )
  }
  return given.flatMap((text) => {
    const [name = '', list, ...more] = text.split('#')
    const [group = '', resource, ...deeper] = name.split('/')
    if (list === undefined || more.length > 0 || resource === undefined || deeper.length > 0) {
      const form = 'group/resource#servers, where servers are URLs, semicolon separated'
      values.fault(`--etcd-servers-overrides invalid, must be of format: ${form}`)
      return []
    }
    const servers = list.split(';').map(withScheme)
    for (const server of servers) checkServer(values, 'etcd-servers-overrides', server)
    return [{ group, resource, servers }]
  })
}

/** Adds the scheme http to an address without a scheme, as etcd's Go client does. */
const withScheme = (server: string): string =>
  server.includes('://') ? server : `http://${server}`

function checkServer(values: Values, flag: string, server: string): void {
  if (/^(?:https?|unix):$/.test(URL.parse(server)?.protocol ?? '')) return
  values.fault(`--${flag}: ${JSON.stringify(server)} is not a URL such as http://127.0.0.1:2379`)
}

const storeKinds = ['etcd', 'sqlite', 'memory'] as const
const isStoreKind = (name: string): name is StoreConfig['kind'] =>
  storeKinds.some((kind) => kind === name)

/** Reads --store. If the flag is not set, --etcd-servers and --data-dir determine the store. */
function readStore(values: Values): StoreConfig {
  const servers = values.slice('etcd-servers').map(withScheme)
  const folder = values.string('data-dir')
  const given = values.string('store')
  const kind = isStoreKind(given)
    ? given
    : folder !== '' && servers.length === 0
      ? 'sqlite'
      : 'etcd'
  if (given !== '' && kind !== given) {
    values.fault(
      `--store ${JSON.stringify(given)} invalid, allowed values: ${storeKinds.join(', ')}`,
    )
  }
  if (kind === 'etcd' && servers.length === 0) {
    values.fault(
      '--etcd-servers must be specified',
      'set --etcd-servers to the URL of etcd, such as http://127.0.0.1:2379, or --data-dir to a folder to store everything in',
    )
  }
  if (kind !== 'etcd' && servers.length > 0)
    values.fault(`--etcd-servers cannot be used with --store=${kind}: leave one of them out`)
  if (kind === 'etcd' && folder !== '') {
    values.fault(
      '--data-dir cannot be used with etcd: leave out either --data-dir or --etcd-servers',
    )
  }
  if (kind === 'memory' && folder !== '')
    values.fault('--data-dir cannot be used with --store=memory: leave one of them out')
  if (kind === 'sqlite' && folder === '')
    values.fault('--store=sqlite requires --data-dir, the folder to store everything in')
  const before = 'Error creating leases: error creating storage factory'
  const [ca = '', cert = '', key = ''] = (
    ['etcd-cafile', 'etcd-certfile', 'etcd-keyfile'] as const
  ).map((flag) => values.path(flag, before))
  const paths = {
    ...(ca === '' ? {} : { ca }),
    ...(cert === '' ? {} : { cert }),
    ...(key === '' ? {} : { key }),
  }
  const [user, passwordPath] = [values.string('etcd-user'), values.path('etcd-password-file')]
  if ((user === '') !== (passwordPath === ''))
    values.fault('set both --etcd-user and --etcd-password-file, or neither')
  if (kind === 'memory') return { kind }
  if (kind === 'sqlite') return { kind, folder }
  const login = user === '' ? {} : { login: { user, passwordPath } }
  return { kind, servers, tls: Object.keys(paths).length === 0 ? null : paths, ...login }
}
