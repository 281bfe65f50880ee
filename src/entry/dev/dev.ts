/**
 * `keelson dev` runs a control plane. It opens the embedded store, starts etcd, or uses an etcd
 * that is already running. Then it creates certificates and a kubeconfig, and starts the server.
 */
import { existsSync, rmSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import type { Kubeconfig } from '../../api/kubeconfig.ts'
import type { Handler } from '../../api/request.ts'
import { authenticatedGroup, mastersGroup, type User } from '../../api/user.ts'
import { parseControllers } from '../../config/controllers.ts'
import { checkArgs, type Config } from '../../config/config.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { orAborted } from '../../lib/concurrency/or-aborted.ts'
import { messageOf } from '../../lib/errors.ts'
import { hostPort } from '../../lib/net/hosts.ts'
import { folderError, makeTemporaryFolder } from '../../lib/process/files.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { systemTimers } from '../../lib/time/timers.ts'
import type { Verbosity } from '../../lib/telemetry/verbosity.ts'
import { realEnvironment } from '../../server/environment.ts'
import { type Server, startServer } from '../../server/server.ts'
import type { TestHooks } from '../../server/test-hooks.ts'
import { parseFirstObjects, readFirstObjects } from '../../storage/first-objects.ts'
import { MemoryEngine } from '../../storage/memory/memory-engine.ts'
import { type OpenedEngine, openEngine, openMemory } from '../../storage/open-engine.ts'
import {
  type DataFolder,
  fillDataFolder,
  folderAdvice,
  forgetObjects,
  hasEtcdData,
  openDataFolder,
  reachableHost,
  writeKubeconfig,
} from './data-folder.ts'
import { devCommand, type DevFlags, splitArgs, UsageError } from './dev-flags.ts'
import type { DevOutput, ReadyServer } from './dev-output.ts'
import { type EtcdChild, findEtcd, startEtcd } from './etcd-child.ts'
import { addContext, removeContext } from './kubeconfig-merge.ts'
import { claimFolder, forgetEtcd, recordEtcd } from './leftovers.ts'
import { candidatePorts, isTaken, preferredPort } from './ports.ts'
import { observeRequests } from './request-lines.ts'
import { recordRunning } from './running.ts'

export type DevOptions = {
  readonly log: Log
  readonly verbosity: Verbosity
  /** Applies the flags that configure logging. */
  readonly configureLog: (logging: Config['telemetry']['logging']) => void
  /** The minor versions of the releases that the user can choose. */
  readonly releases: readonly number[]
  /** The value of the environment variable PATH. */
  readonly path: string
  /** The etcd that is used if there is none on the PATH. */
  readonly ownEtcd: string
  readonly nowMs: number
  /** The version of Keelson. */
  readonly version: string
  /** The thread of the embedded store, if it is already running. */
  readonly storeThread?: Worker | undefined
  /**
   * The folder in which temporary data folders are created. These are removed when the server
   * stops.
   */
  readonly temporary: string
  /** The folder in which running servers are recorded. Undefined if they cannot be recorded. */
  readonly index: string | undefined
  /** The kubeconfig file that kubectl reads by default. */
  readonly defaultKubeconfig: string
  readonly output: DevOutput
  /** Aborted when the user stops the command. The start then ends early. */
  readonly stopping: AbortSignal
}

export type Dev = {
  readonly stop: () => Promise<void>
  /**
   * Resolves to the reason when the server cannot continue: etcd has exited, or a component could
   * not be started.
   */
  readonly failed: Promise<string>
}

/**
 * Starts a server. Throws a UsageError for invalid flags, and otherwise an Error that says what to
 * do.
 */
export async function startDev(args: readonly string[], options: DevOptions): Promise<Dev> {
  const own = splitArgs(args)
  if (own.apply !== undefined && !existsSync(own.apply))
    throw new UsageError([`--apply=${own.apply} does not exist: name a folder with manifests`])
  // Check all flags before anything starts, with a store in memory in place of the real store.
  const anyStore = own.hasServers ? [] : ['--store=memory']
  const { config: checked, warnings } = check(
    [...serveDefaults(own), ...anyStore, ...own.rest],
    options,
  )
  const { bindAddress } = checked.network
  options.configureLog(checked.telemetry.logging)
  for (const warning of warnings) options.log('warn', warning)
  await using stack = new AsyncDisposableStack()
  const folder = await openFolder(own, options, stack)
  const objects = objectsOf(own, folder)
  const startsEtcd = objects === 'etcd'
  // Start to open the store, which happens on another thread while this function continues.
  const store = objects === 'sqlite' ? openStore(folder, checked, options) : undefined
  if (store === undefined) void options.storeThread?.terminate()
  else stack.defer(() => endStore(store.opening))
  fillDataFolder(folder, { bindAddress, nowMs: options.nowMs })
  if (startsEtcd) stack.defer(() => forgetEtcd(folder))
  const etcd = startsEtcd ? stack.use(await runEtcd(folder, own.etcd, options)) : undefined
  const flags = [
    ...serveDefaults(own),
    ...certificateArgs(folder),
    ...accountArgs(folder, own),
    ...signingArgs(folder, own),
    ...storeArgs(folder, own, etcd),
    ...own.rest,
  ]
  const preferred = own.port ?? preferredPort(folder.portFile)
  const start = { flags, own, folder, opening: store?.opening, bindAddress, options }
  const { server, handle } = await startOnFreePort(start)
  stack.use(server)
  const port = Number(new URL(server.url).port)
  const url = `https://${hostPort({ host: reachableHost(bindAddress), port })}`
  const kubeconfig = writeKubeconfig(folder, {
    serverUrl: url,
    context: own.context,
    nowMs: options.nowMs,
  })
  if (own.merges) await merge({ folder, own, kubeconfig, options, stack })
  const kept = objects === 'etcd-servers' ? 'etcd' : objects
  stack.use(
    recordRunning(
      { folder: folder.path, url, store: kept, startedMs: options.nowMs, pid: process.pid },
      options.index,
    ),
  )
  const failed = whenFailed(server, etcd)
  const failures = store === undefined ? [failed] : [failed, store.failed]
  await untilReady(server, failures, options.stopping)
  options.output.ready({
    release: checked.release,
    url,
    listenUrl: server.url,
    takenPort: preferred === 0 || preferred === port ? undefined : preferred,
    kubeconfig: folder.kubeconfig,
    merged: own.merges ? { path: options.defaultKubeconfig, context: own.context } : undefined,
    folder: folder.path,
    objects,
    isTemporary: own.dataDir === undefined,
    controllers: checked.controllers.names,
  })
  if (own.apply !== undefined) stack.use(await followFolder(own.apply, handle, options))
  const all = stack.move()
  return { stop: () => all.disposeAsync(), failed }
}

/** Resolves when etcd or a component of the server has failed, to a description of the failure. */
function whenFailed(server: Server, etcd: EtcdChild | undefined): Promise<string> {
  const etcdEnded = etcd
    ?.ended()
    .then(() => 'etcd exited unexpectedly: see etcd.log in the data folder')
  const serverFailed = server.failed.then(messageOf)
  return etcdEnded === undefined ? serverFailed : Promise.race([etcdEnded, serverFailed])
}

/**
 * Resolves when the server is ready. Rejects if a component fails before that, or if the user stops
 * the command.
 */
async function untilReady(
  server: Server,
  failures: readonly Promise<string>[],
  stopping: AbortSignal,
): Promise<void> {
  const why = await orAborted(Promise.race([server.bootstrapped, ...failures]), stopping)
  if (why !== undefined) throw new Error(why)
}

/** The user that the kubeconfig in the data folder contains. */
const administrator: User = { name: 'admin', uid: '', groups: [mastersGroup, authenticatedGroup] }

/**
 * Begins to apply the manifests in a folder whenever they change. To make other starts faster, the
 * module for this is loaded only here.
 */
async function followFolder(
  path: string,
  handle: Handler,
  { version, output }: DevOptions,
): Promise<AsyncDisposable> {
  const { FollowedFolder } = await import('./follow-folder.ts')
  const report = (line: string): void => output.report(line)
  return new FollowedFolder({ path, handle, user: administrator, version, report })
}

function objectsOf(own: DevFlags, folder: DataFolder): ReadyServer['objects'] {
  if (own.isEphemeral) return 'memory'
  if (own.hasServers) return 'etcd-servers'
  return own.etcd !== undefined || hasEtcdData(folder) ? 'etcd' : 'sqlite'
}

/**
 * Opens and locks the data folder. Without --data-dir, creates a temporary folder that is removed
 * when the server stops. With --reset, deletes all objects.
 */
async function openFolder(
  own: DevFlags,
  options: DevOptions,
  stack: AsyncDisposableStack,
): Promise<DataFolder> {
  const advice = 'set TMPDIR to a writable folder, or choose one with --data-dir'
  const path = own.dataDir ?? makeTemporaryFolder('keelson-', { parent: options.temporary, advice })
  if (own.dataDir === undefined) stack.defer(() => rmSync(path, { recursive: true, force: true }))
  const folder = openDataFolder(path)
  stack.use(await claimFolder(folder))
  if (own.isReset) forgetObjects(folder)
  return folder
}

type OpeningStore = {
  readonly opening: Promise<OpenedEngine>
  /** Resolves when the store can no longer be written to, to a description of the failure. */
  readonly failed: Promise<string>
}

/** Starts to open the store. Rejections of `opening` are handled where it is awaited. */
function openStore(
  folder: DataFolder,
  { storage: { compactionMs } }: Config,
  options: DevOptions,
): OpeningStore {
  const { promise: failed, resolve } = Promise.withResolvers<string>()
  const opening = openEngine(
    { store: { kind: 'sqlite', folder: folder.store }, compactionMs },
    {
      clock: systemClock,
      log: options.log,
      thread: options.storeThread,
      onUnwritable: (fault) =>
        resolve(folderError(folder.path, new Error(fault), folderAdvice).message),
    },
  )
  opening.catch(() => undefined)
  return { opening, failed }
}

/**
 * Closes the store. If a server has used the store, the server has already closed it, and closing
 * it again has no effect.
 */
async function endStore(opening: Promise<OpenedEngine>): Promise<void> {
  const opened = await opening.catch(() => undefined)
  await opened?.engine[Symbol.asyncDispose]()
}

type MergeOptions = {
  readonly folder: DataFolder
  readonly own: DevFlags
  readonly kubeconfig: Kubeconfig
  readonly options: DevOptions
  readonly stack: AsyncDisposableStack
}

/** Adds a context to kubectl's kubeconfig. */
async function merge({ folder, own, kubeconfig, options, stack }: MergeOptions): Promise<void> {
  const path = options.defaultKubeconfig
  await addContext(path, kubeconfig, folder.path)
  options.output.progress(`added the context ${own.context} to ${path}`)
  // With --data-dir, keep the context: the next start uses the same certificates, so the context
  // will be valid again.
  if (own.dataDir === undefined) stack.defer(() => removeContext(path, kubeconfig))
}

type StartOptions = {
  readonly flags: readonly string[]
  readonly own: DevFlags
  readonly folder: DataFolder
  /**
   * The store that is being opened. Only the first attempt to start a server uses it. Further
   * attempts open the store again.
   */
  readonly opening: Promise<OpenedEngine> | undefined
  readonly bindAddress: string
  readonly options: Pick<DevOptions, 'log' | 'verbosity' | 'releases'>
}

/** A running server, and the function that handles its requests. */
type StartedServer = { readonly server: Server; readonly handle: Handler }

/**
 * Starts a server on the requested port. If no port was requested, tries the port of the last
 * start, 6443, then any free port.
 */
async function startOnFreePort({
  flags,
  own,
  folder,
  opening,
  bindAddress,
  options,
}: StartOptions): Promise<StartedServer> {
  const { log, verbosity } = options
  let unused = opening
  const startOn = async (port: number): Promise<StartedServer> => {
    const { config } = check([...flags, `--secure-port=${port}`], options)
    const hooks =
      unused !== undefined && config.storage.store.kind === 'sqlite' ? { opening: unused } : {}
    unused = undefined
    const environment = { ...realEnvironment(log), verbosity, ...observeRequests(log, verbosity) }
    const { promise: handler, resolve } = Promise.withResolvers<Handler>()
    const aroundHandler = (handle: Handler): Handler => {
      resolve(handle)
      return handle
    }
    const all = { ...hooks, ...prepared(config, { own, log }), aroundHandler }
    const server = await startServer(config, environment, all)
    return { server, handle: await handler }
  }
  if (own.port !== undefined && own.port !== 0) return startOn(own.port)
  let taken: unknown
  for await (const port of candidatePorts({
    last: folder.portFile,
    bindAddress,
    isAny: own.port === 0,
  })) {
    try {
      return await startOn(port)
    } catch (error) {
      // Another process took the port after it was checked.
      if (!isTaken(error)) throw error
      taken = error
    }
  }
  throw taken
}

/**
 * Returns hooks that load prepared initial objects from the package into a store in memory, which
 * is faster than creating them. Returns no hooks if the user has set a flag other than `-v`,
 * because the server might then need other objects.
 */
function prepared(
  config: Config,
  { own, log }: { readonly own: DevFlags; readonly log: Log },
): TestHooks {
  const { clientCaPem: authorityPem } = config.authentication
  const hasOtherFlags = own.rest.some((argument) => !/^--?v=\d+$/.test(argument))
  if (!own.isEphemeral || hasOtherFlags || authorityPem === null) return {}
  const text = readFirstObjects()
  if (text === undefined) return {}
  const { port } = config.network
  const state = parseFirstObjects(text, { nowMs: systemClock.wallMs(), authorityPem, port })
  const time = { ...systemTimers, ...systemClock }
  const open = async (): Promise<OpenedEngine> =>
    openMemory(MemoryEngine.from(await state, { time }), {
      time,
      log,
      intervalMs: config.storage.compactionMs,
    })
  return { opening: open(), isPrepared: true }
}

function serveDefaults({ rest }: DevFlags): string[] {
  const controllers = controllersIn(rest)
  const defaults = [
    '--bind-address=127.0.0.1',
    '--allow-privileged=true',
    // No kube-controller-manager runs next to this server. Therefore the server runs all
    // controllers, including the two that `*` does not include.
    ...(controllers === undefined
      ? ['--controllers=*,bootstrap-signer-controller,token-cleaner-controller']
      : []),
  ]
  // The ServiceAccount plugin rejects Pods whose ServiceAccount does not exist. Without the
  // controller that creates the default ServiceAccounts, it would reject every Pod. Users who run
  // this controller elsewhere can enable the plugin with a flag.
  const hasAccounts =
    /--enable-admission-plugins[= ]\S*\bServiceAccount\b/.test(rest.join(' ')) ||
    controllers === undefined ||
    parseControllers(controllers).controllers.includes('serviceaccount-controller')
  return hasAccounts ? defaults : [...defaults, '--disable-admission-plugins=ServiceAccount']
}

/** Returns the values of --controllers, or undefined if the flag is not set. */
function controllersIn(args: readonly string[]): string[] | undefined {
  const values = args.flatMap((argument, at) => {
    if (argument.startsWith('--controllers=')) return argument.slice('--controllers='.length)
    return argument === '--controllers' ? (args[at + 1] ?? '') : []
  })
  return values.length === 0 ? undefined : values.flatMap((value) => value.split(','))
}

async function runEtcd(
  folder: DataFolder,
  given: string | undefined,
  options: DevOptions,
): Promise<EtcdChild> {
  const program = findEtcd(given === 'etcd' ? undefined : given, options.path, options.ownEtcd)
  const etcd = await startEtcd({
    program,
    dataDir: folder.etcdData,
    logFile: folder.etcdLog,
    socketsDir: folder.etcdSockets,
  })
  recordEtcd(folder, etcd.pid)
  try {
    await etcd.ready()
  } catch (error) {
    await etcd[Symbol.asyncDispose]()
    throw error
  }
  options.output.progress(`started etcd (${program}, data in ${folder.etcdData})`)
  return etcd
}

function storeArgs(
  folder: DataFolder,
  { hasServers, isEphemeral }: DevFlags,
  etcd: EtcdChild | undefined,
): string[] {
  if (hasServers) return []
  if (isEphemeral) return ['--store=memory']
  return etcd === undefined ? [`--data-dir=${folder.store}`] : [`--etcd-servers=${etcd.url}`]
}

const certificateArgs = (folder: DataFolder): string[] => [
  `--client-ca-file=${folder.caCertificate}`,
  `--tls-cert-file=${folder.serverCertificate}`,
  `--tls-private-key-file=${folder.serverKey}`,
  `--root-ca-file=${folder.caCertificate}`,
]

/**
 * Returns the flags for ServiceAccount tokens. Returns no flags if the user sets one of them,
 * because the key in this folder does not belong to another issuer.
 */
const accountArgs = (folder: DataFolder, { rest }: DevFlags): string[] =>
  rest.some((argument) => argument.startsWith('--service-account-'))
    ? []
    : [
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-signing-key-file=${folder.accountKey}`,
      ]

/**
 * Returns the flags for signing certificates. Returns no flags if the user names one of the files,
 * because the CA and the key in this folder do not match it.
 */
const signingArgs = (folder: DataFolder, { rest }: DevFlags): string[] =>
  rest.some((argument) => argument.startsWith('--cluster-signing-') && argument.includes('-file'))
    ? []
    : [
        `--cluster-signing-cert-file=${folder.caCertificate}`,
        `--cluster-signing-key-file=${folder.caKey}`,
      ]

function check(args: readonly string[], { releases }: Pick<DevOptions, 'releases'>) {
  const checked = checkArgs(args, { command: devCommand, releases })
  if (checked.kind === 'faults') throw new UsageError([...checked.faults, ...checked.hints])
  return checked
}
