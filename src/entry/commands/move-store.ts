/**
 * `keelson store export`, `import` and `rewrite`: copy a cluster between etcd, a data folder and a
 * file, or encrypt its values.
 */
import { parseArgs } from 'node:util'
import { messageOf } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/text/suggest.ts'
import { rootOf } from '../../storage/keys.ts'
import { loginOf } from '../../storage/open-engine.ts'
import { DumpFile, writeDump } from '../../storage/transfer/dump-file.ts'
import type { Source } from '../../storage/transfer/entry.ts'
import { EtcdSource, EtcdTarget } from '../../storage/transfer/etcd-transfer.ts'
import { existingSource, SqliteTarget } from '../../storage/transfer/sqlite-transfer.ts'
import type { Target } from '../../storage/transfer/target.ts'
import { rewriteStore } from './rewrite-store.ts'
import { EVENT_TTL_SECONDS, REVISIONS_AHEAD, storeCommands, storeFlags } from './store-flags.ts'

export class StoreUsageError extends Error {}

export type MoveStoreOptions = {
  readonly nowMs: number
  /** Shows the progress on the user's terminal. Null if the output is not a terminal. */
  readonly showProgress: ((line: string) => void) | null
}

/**
 * Runs the command, and returns the text to print. Throws a StoreUsageError for invalid flags, and
 * otherwise an Error that says what to do.
 */
export async function moveStore(
  args: readonly string[],
  options: MoveStoreOptions,
): Promise<string> {
  const { command, file, flags } = parse(args)
  if (command === 'rewrite') return await rewrite(file, flags, options)
  return command === 'export'
    ? await exportTo(file, flags, options)
    : await importFrom(file, flags, options)
}

async function rewrite(
  config: string,
  flags: Flags,
  { showProgress }: MoveStoreOptions,
): Promise<string> {
  const eventTtlSeconds = Number(flags['event-ttl'] ?? EVENT_TTL_SECONDS)
  if (!Number.isSafeInteger(eventTtlSeconds) || eventTtlSeconds < 1) {
    throw new StoreUsageError('--event-ttl must be a number of seconds, 1 or more')
  }
  const { 'data-dir': folder, 'etcd-prefix': etcdPrefix = '/registry' } = flags
  const { endpoints, login, tls = null } = etcdOf(flags)
  const store =
    folder === undefined
      ? ({ kind: 'etcd', servers: endpoints, tls, login } as const)
      : ({ kind: 'sqlite', folder } as const)
  return rewriteStore({ store, etcdPrefix, config, eventTtlSeconds, showProgress })
}

async function exportTo(
  file: string,
  flags: Flags,
  { nowMs, showProgress }: MoveStoreOptions,
): Promise<string> {
  const prefix = rootOf(flags['etcd-prefix'] ?? '/registry')
  await using source = await sourceOf(flags, prefix, nowMs)
  const onProgress = (keys: number): void => showProgress?.(`${keys} keys`)
  const { keys, sha256 } = await writeDump(source, file, { prefix, nowMs, onProgress })
  return `exported ${keys} keys at revision ${source.revision} to ${file}\nsha256 ${sha256}\n`
}

async function importFrom(
  file: string,
  flags: Flags,
  { nowMs, showProgress }: MoveStoreOptions,
): Promise<string> {
  if (flags['etcd-prefix'] !== undefined)
    throw new StoreUsageError(
      '--etcd-prefix is not for import, which takes the prefix from the file',
    )
  const revisionsAhead = Number(flags['revisions-ahead'] ?? REVISIONS_AHEAD)
  if (!Number.isSafeInteger(revisionsAhead) || revisionsAhead < 0) {
    throw new StoreUsageError('--revisions-ahead must be a whole number, 0 or more')
  }
  const target = targetOf(flags, nowMs)
  await using dump = await DumpFile.open(file)
  const onProgress = (what: string, done: number): void => showProgress?.(`${done} ${what}`)
  await target.take(dump, { replaces: flags.replace === true, revisionsAhead, onProgress })
  const { keys, sha256 } = dump.summary
  return `imported ${keys} keys, exported at revision ${dump.revision}\nsha256 ${sha256}\n`
}

async function sourceOf(flags: Flags, prefix: string, nowMs: number): Promise<Source> {
  const { 'data-dir': folder } = flags
  if (folder !== undefined) return existingSource(folder, { prefix, nowMs })
  return await EtcdSource.open(clientOptions(flags), prefix)
}

const targetOf = (flags: Flags, nowMs: number): Target =>
  flags['data-dir'] === undefined
    ? new EtcdTarget(clientOptions(flags))
    : new SqliteTarget(flags['data-dir'], nowMs)

function clientOptions(flags: Flags) {
  const { login, ...others } = etcdOf(flags)
  return { ...others, ...loginOf(login) }
}

function etcdOf(flags: Flags) {
  const {
    'etcd-servers': servers = '',
    'etcd-cafile': ca,
    'etcd-certfile': cert,
    'etcd-keyfile': key,
  } = flags
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  }
  const { 'etcd-user': user, 'etcd-password-file': passwordPath } = flags
  if ((user === undefined) !== (passwordPath === undefined)) {
    throw new StoreUsageError('set both --etcd-user and --etcd-password-file, or neither')
  }
  const login =
    user === undefined || passwordPath === undefined ? undefined : { user, passwordPath }
  return { endpoints: servers.split(','), login, ...(Object.keys(tls).length > 0 && { tls }) }
}

type Flags = ReturnType<typeof parseFlags>['values']

type Command = (typeof storeCommands)[number]

/**
 * Parses the arguments. For `export` and `import`, `file` is the file with the objects. For
 * `rewrite`, it is the EncryptionConfiguration.
 */
function parse(args: readonly string[]): { command: Command; file: string; flags: Flags } {
  const { values: flags, positionals } = parseFlags(args)
  const command = storeCommands.find((name) => name === positionals[0])
  if (command === undefined || positionals.length > 1) {
    const meant = didYouMean(positionals[0] ?? '', storeCommands, (name) => `keelson store ${name}`)
    throw new StoreUsageError(
      `use keelson store export, import or rewrite: ${meant ?? 'keelson store --help lists their flags'}`,
    )
  }
  const { 'etcd-servers': servers, 'data-dir': folder, file } = flags
  if ((servers === undefined) === (folder === undefined)) {
    throw new StoreUsageError('set either --etcd-servers or --data-dir')
  }
  const { 'encryption-provider-config': config, 'event-ttl': eventTtl } = flags
  if (command === 'rewrite') {
    if (config === undefined || config === '')
      throw new StoreUsageError('--encryption-provider-config is required')
    if (file !== undefined || flags.replace === true || flags['revisions-ahead'] !== undefined) {
      throw new StoreUsageError(
        '--file, --replace and --revisions-ahead are only for export and import',
      )
    }
    return { command, file: config, flags }
  }
  if (config !== undefined || eventTtl !== undefined) {
    throw new StoreUsageError('--encryption-provider-config and --event-ttl are only for rewrite')
  }
  if (file === undefined || file === '') throw new StoreUsageError('--file is required')
  if (command === 'export' && (flags.replace === true || flags['revisions-ahead'] !== undefined)) {
    throw new StoreUsageError('--replace and --revisions-ahead are only for import')
  }
  return { command, file, flags }
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: storeFlags,
    })
  } catch (error) {
    throw new StoreUsageError(messageOf(error))
  }
}
