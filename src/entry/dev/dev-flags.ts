/** The flags that only `keelson dev` has. It passes all other flags to `keelson serve`. */
import { defaultMinor, releaseNames } from '../../api/releases.ts'
import { flags } from '../../config/flags.ts'
import type { NamedCommand } from '../../config/parse-args.ts'
import {
  type CommandFlagTable,
  missingValues,
  readCommandFlags,
} from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'

const DATA_DIR = './.keelson'
const CONTEXT = 'keelson'

const devFlags = {
  'data-dir': {
    type: 'string',
    value: 'folder',
    shownDefault: DATA_DIR,
    help: 'The folder for certificates, the kubeconfig and all objects. To start from scratch, remove the folder.',
  },
  ephemeral: {
    type: 'boolean',
    help: 'Keep objects in memory, and all files in a temporary folder that is removed when the server stops. With --data-dir, certificates and the kubeconfig are kept in that folder.',
  },
  reset: {
    type: 'boolean',
    help: 'Delete all objects in the data folder before the start. The certificates and the kubeconfig stay. Cannot be combined with --etcd-servers.',
  },
  'secure-port': {
    type: 'string',
    value: 'port',
    help: 'The port to serve on; 0 means any free port. Default: the port of the last start in the folder, else 6443, else any free port.',
  },
  'kubeconfig-merge': {
    type: 'boolean',
    help: 'Add a context to the kubeconfig that kubectl reads (the first file of KUBECONFIG, or ~/.kube/config), and make it the current one. Everything else in that file stays. If an entry of the same name belongs to another server, keelson dev does not start. With --ephemeral and without --data-dir, the context is removed when the server stops, and the previous context becomes the current one again.',
  },
  context: {
    type: 'string',
    value: 'name',
    shownDefault: CONTEXT,
    help: 'The name of the context in the kubeconfig of the data folder, and of the context that --kubeconfig-merge adds.',
  },
  apply: {
    type: 'string',
    value: 'folder',
    help: 'Apply the manifests of this folder, and apply them again when they change. Objects that were created from the folder are deleted when their manifests are removed.',
  },
  etcd: {
    type: 'string',
    value: 'program',
    help: 'Path of an etcd program, which keelson dev starts to store the objects. --etcd=etcd starts the program etcd on the PATH. If the data folder already contains data of etcd, this flag is not needed. Cannot be combined with --ephemeral.',
  },
} as const satisfies CommandFlagTable

/**
 * Flags of `keelson serve` that the help text of `keelson dev` also lists, because they have
 * another meaning here or are needed often.
 */
const passedFlags: CommandFlagTable = {
  'etcd-servers': {
    type: 'string',
    value: 'list',
    help: 'Keep objects in an etcd that already runs. Cannot be combined with --ephemeral.',
  },
  kubernetes: {
    type: 'string',
    value: 'version',
    choices: releaseNames,
    shownDefault: `1.${defaultMinor}`,
    help: flags.kubernetes.help,
  },
  v: {
    type: 'string',
    short: 'v',
    value: 'level',
    help: '-v or -v=1 prints a line for each request of a client. With level 2 or higher, the output is the log of keelson serve.',
  },
}

export const devHelp: CommandHelp = {
  usage: ['keelson dev [flags]'],
  description: `Starts the API server on this machine, with its own store, and writes a kubeconfig for
it. Ctrl-C stops it. The next start uses the same data. Several servers can run at once, each in its
own folder.`,
  sections: [{ flags: { ...devFlags, ...passedFlags } }],
  notes: `All flags of keelson serve are also accepted (keelson serve --help): --bind-address (default
127.0.0.1), --feature-gates …

keelson status lists the running servers, keelson stop stops them.`,
}

export class UsageError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

export type DevFlags = {
  /** The data folder from --data-dir. Undefined if the folder is temporary. */
  readonly dataDir: string | undefined
  readonly etcd: string | undefined
  readonly hasServers: boolean
  readonly isEphemeral: boolean
  readonly isReset: boolean
  /** Whether a context is added to kubectl's kubeconfig. */
  readonly merges: boolean
  readonly context: string
  /** The folder or file with the manifests to apply (--apply). Undefined if the flag is not set. */
  readonly apply: string | undefined
  /** The port to serve on. 0 means any free port. Undefined if the flag is not set. */
  readonly port: number | undefined
  /** The flags that are passed to `keelson serve`. */
  readonly rest: readonly string[]
}

/**
 * The name and the own flags of `keelson dev`. Errors about flags for `keelson serve` mention them.
 */
export const devCommand: NamedCommand = {
  command: 'keelson dev',
  ownFlags: Object.keys(devFlags),
}

/** Names that kubectl and shells accept without quotation marks. */
const contextPattern = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,252}$/
const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) < 65_536

/** Parses the arguments. Throws a UsageError if they are invalid. */
export function splitArgs(args: readonly string[]): DevFlags {
  const { values: found, on, rest: unknown } = readCommandFlags(args, devFlags)
  const rest = withVerbosity(unknown)
  const port = found.get('secure-port')
  const hasServers = rest.some((argument) => /^--etcd-servers(=|$)/.test(argument))
  const isEphemeral = on.has('ephemeral')
  const context = found.get('context') ?? CONTEXT
  const faults = faultsOf({ found, isEphemeral, isReset: on.has('reset'), hasServers, context })
  if (args.filter((argument) => /^--apply(=|$)/.test(argument)).length > 1)
    faults.push('--apply can be given only once: name a folder that contains all manifests')
  if (faults.length > 0) throw new UsageError(faults)
  return {
    dataDir: found.get('data-dir') ?? (isEphemeral ? undefined : DATA_DIR),
    etcd: found.get('etcd'),
    hasServers,
    isEphemeral,
    isReset: on.has('reset'),
    merges: on.has('kubeconfig-merge'),
    context,
    apply: found.get('apply'),
    port: port === undefined ? undefined : Number(port),
    rest,
  }
}

/**
 * Adds the level 1 to a `-v` that has no value. `keelson serve` requires a value, as kube-apiserver
 * does.
 */
const withVerbosity = (args: readonly string[]): string[] =>
  args.map((argument, at) =>
    argument === '-v' && !/^\d+$/.test(args[at + 1] ?? '') ? '-v=1' : argument,
  )

type ParsedFlags = {
  readonly found: ReadonlyMap<string, string>
  readonly isEphemeral: boolean
  readonly isReset: boolean
  readonly hasServers: boolean
  readonly context: string
}

function faultsOf({ found, isEphemeral, isReset, hasServers, context }: ParsedFlags): string[] {
  const faults = missingValues({ values: found })
  const port = found.get('secure-port') ?? ''
  if (port !== '' && !isPort(port)) {
    faults.push(
      `--secure-port=${port} is not a port: use a number from 1 to 65535, or 0 for any free port`,
    )
  }
  if (isEphemeral && (found.has('etcd') || hasServers)) {
    faults.push(
      '--ephemeral keeps objects in memory: leave out either --ephemeral, or --etcd and --etcd-servers',
    )
  }
  if (isReset && hasServers)
    faults.push(
      '--reset is only for a store of keelson dev itself: leave out either --reset or --etcd-servers',
    )
  if (!contextPattern.test(context)) {
    faults.push(
      `--context ${JSON.stringify(context)} is not a valid name of a context: use letters, digits, ".", "_", "@" and "-"`,
    )
  }
  return faults
}
