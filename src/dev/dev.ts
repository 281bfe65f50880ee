/** `keelson dev`: a control plane in one command. Opens a store of its own, or starts etcd; creates certificates and a kubeconfig, serves. */
import { existsSync } from 'node:fs'
import { parseControllers } from '../config/controllers.ts'
import { type Checked, checkArgs } from '../config/config.ts'
import type { Log } from '../lib/log.ts'
import { realSurroundings, startServer } from '../server.ts'
import { type DataFolder, prepareDataFolder, writeKubeconfig } from './data-folder.ts'
import { type EtcdChild, findEtcd, startEtcd } from './etcd-child.ts'
import { claimFolder, forgetEtcd, noteEtcd } from './leftovers.ts'

const DATA_DIR = './.keelson'

export const devHelp = `Usage: keelson dev [flags]

Starts the API server on this machine, with a store of its own, and writes a kubeconfig for it. Ctrl-C stops it; the next start
goes on with the same data.

  --data-dir=folder (default ${DATA_DIR})
        Where certificates, the kubeconfig and all objects are kept. Remove it to begin anew.
  --etcd=program
        Start this etcd and keep objects there; --etcd=etcd means the one on the PATH. A folder that has etcd's data goes on with etcd.
  --etcd-servers=list
        Use an etcd that runs already, and start none.
  --help
        Shows this text.

All flags of keelson serve are taken too (keelson serve --help): --secure-port (default 6443), --bind-address (default
127.0.0.1), --feature-gates, --v …
`

export type DevParts = {
  readonly log: Log
  /** The environment's PATH. */
  readonly path: string
  /** Used if there is no etcd on the PATH. */
  readonly ownEtcd: string
  readonly nowMs: number
  readonly print: (line: string) => void
  /** Reports what has been done, to a user at a terminal. */
  readonly progress: (line: string) => void
}

export type Dev = {
  readonly stop: () => Promise<void>
  /** Resolves when etcd has ended by itself; never if none was started here. */
  readonly failed: Promise<void>
}

export class UsageError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/** Fails with a UsageError for wrong flags, and else with an Error that says what to do. */
export async function startDev(args: readonly string[], parts: DevParts): Promise<Dev> {
  const own = splitArgs(args)
  // Flags are checked before anything starts; etcd's address does not matter for that.
  orFail(checkArgs([...serveDefaults(own), '--etcd-servers=http://127.0.0.1:1', ...own.rest]))
  await using stack = new AsyncDisposableStack()
  const folder = prepareDataFolder(own.dataDir, parts.nowMs)
  const claim = await claimFolder(folder)
  stack.defer(() => claim.release())
  const startsEtcd = !own.hasServers && (own.etcd !== undefined || existsSync(folder.etcdData))
  if (startsEtcd) stack.defer(() => forgetEtcd(folder))
  const etcd = startsEtcd ? stack.use(await runEtcd(folder, own.etcd, parts)) : undefined
  const config = orFail(
    checkArgs([
      ...serveDefaults(own),
      ...certificateArgs(folder),
      ...accountArgs(folder, own),
      ...signingArgs(folder, own),
      ...storeArgs(folder, own, etcd),
      ...own.rest,
    ]),
  )
  const server = stack.use(await startServer(config, realSurroundings(parts.log)))
  const { port } = new URL(server.url)
  writeKubeconfig(folder, `https://127.0.0.1:${port}`, parts.nowMs)
  parts.progress(`serving at ${server.url}`)
  parts.print(`export KUBECONFIG=${quoteForShell(folder.kubeconfig)}`)
  parts.print('kubectl get ns')
  const all = stack.move()
  const failed = etcd === undefined ? new Promise<void>(() => undefined) : etcd.ended()
  return { stop: () => all.disposeAsync(), failed }
}

function serveDefaults({ rest }: Own): string[] {
  const controllers = controllersIn(rest)
  const defaults = [
    '--bind-address=127.0.0.1',
    '--authorization-mode=Node,RBAC',
    '--allow-privileged=true',
    // There is no kube-controller-manager.
    ...(controllers === undefined ? ['--controllers=*,bootstrap-signer-controller,token-cleaner-controller'] : []),
  ]
  // Without the controller that creates ServiceAccounts no pod could have one. A user that runs that elsewhere enables the plugin.
  const hasAccounts =
    /--enable-admission-plugins[= ]\S*\bServiceAccount\b/.test(rest.join(' ')) ||
    controllers === undefined ||
    parseControllers(controllers).controllers.includes('serviceaccount-controller')
  return hasAccounts ? defaults : [...defaults, '--disable-admission-plugins=ServiceAccount']
}

/** The values of --controllers; undefined if it is not given. */
function controllersIn(args: readonly string[]): string[] | undefined {
  const values = args.flatMap((argument, at) => {
    if (argument.startsWith('--controllers=')) return argument.slice('--controllers='.length)
    return argument === '--controllers' ? (args[at + 1] ?? '') : []
  })
  return values.length === 0 ? undefined : values.flatMap((value) => value.split(','))
}

type Own = {
  readonly dataDir: string
  readonly etcd: string | undefined
  readonly hasServers: boolean
  readonly rest: readonly string[]
}

/** The flags that only `dev` has; all others are those of `serve`. */
function splitArgs(args: readonly string[]): Own {
  const rest: string[] = []
  const found = new Map<string, string>()
  const left = [...args]
  for (let argument = left.shift(); argument !== undefined; argument = left.shift()) {
    const [, name = '', inline] = /^--(data-dir|etcd)(?:=(.*))?$/.exec(argument) ?? []
    if (name === '') rest.push(argument)
    else found.set(name, inline ?? left.shift() ?? '')
  }
  for (const [name, value] of found) if (value === '') throw new UsageError([`--${name} needs a value: --${name}=…`])
  const hasServers = rest.some((argument) => /^--etcd-servers(=|$)/.test(argument))
  return { dataDir: found.get('data-dir') ?? DATA_DIR, etcd: found.get('etcd'), hasServers, rest }
}

async function runEtcd(folder: DataFolder, given: string | undefined, parts: DevParts): Promise<EtcdChild> {
  const program = findEtcd(given === 'etcd' ? undefined : given, parts.path, parts.ownEtcd)
  const etcd = await startEtcd({ program, dataDir: folder.etcdData, logFile: folder.etcdLog })
  noteEtcd(folder, etcd.pid)
  try {
    await etcd.ready()
  } catch (error) {
    await etcd[Symbol.asyncDispose]()
    throw error
  }
  parts.progress(`etcd runs (${program}, data in ${folder.etcdData})`)
  return etcd
}

function storeArgs(folder: DataFolder, { hasServers }: Own, etcd: EtcdChild | undefined): string[] {
  if (hasServers) return []
  return etcd === undefined ? [`--data-dir=${folder.store}`] : [`--etcd-servers=${etcd.url}`]
}

const certificateArgs = (folder: DataFolder): string[] => [
  `--client-ca-file=${folder.caCertificate}`,
  `--tls-cert-file=${folder.serverCertificate}`,
  `--tls-private-key-file=${folder.serverKey}`,
  `--root-ca-file=${folder.caCertificate}`,
]

/** A user that configures an issuer has its keys. */
const accountArgs = (folder: DataFolder, { rest }: Own): string[] =>
  rest.some((argument) => argument.startsWith('--service-account-'))
    ? []
    : [
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-signing-key-file=${folder.accountKey}`,
      ]

/** The same for who signs certificates. */
const signingArgs = (folder: DataFolder, { rest }: Own): string[] =>
  rest.some((argument) => argument.startsWith('--cluster-signing-') && argument.includes('-file'))
    ? []
    : [`--cluster-signing-cert-file=${folder.caCertificate}`, `--cluster-signing-key-file=${folder.caKey}`]

function orFail(checked: Checked) {
  if (checked.kind === 'faults') throw new UsageError(checked.faults)
  return checked.config
}

const quoteForShell = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
