/** The flags that only `keelson dev` has; all others are those of `keelson serve`. */
import { missingValues, readCommandFlags } from '../../lib/process/command-flags.ts'

const DATA_DIR = './.keelson'
const CONTEXT = 'keelson'

export const devHelp = `Usage: keelson dev [flags]

Starts the API server on this machine, with a store of its own, and writes a kubeconfig for it. Ctrl-C stops it; the next start
goes on with the same data. Several run at once, each in a folder of its own.

  --data-dir=folder (default ${DATA_DIR})
        Where certificates, the kubeconfig and all objects are kept. Remove it to begin anew.
  --ephemeral
        Keep objects in memory, and everything else in a temporary folder that goes with the process. With --data-dir certificates stay there.
  --reset
        Forget all objects of the folder first. Its certificates and the kubeconfig stay.
  --secure-port=port
        Where to serve. Without it: the port of the last start in the folder, else 6443, else any that is free. 0: any that is free.
  --kubeconfig-merge
        Add a context to the kubeconfig that kubectl reads (the first file of KUBECONFIG, or ~/.kube/config), and make it the current one. All else in that
        file stays; what has this name there and is of another server is refused. Of an --ephemeral server the context goes when it stops, and the one before
        is the current one again.
  --context=name (default ${CONTEXT})
        The name of that context, and of the one in the kubeconfig of the folder.
  --etcd=program
        Start this etcd and keep objects there; --etcd=etcd means the one on the PATH. A folder that has etcd's data goes on with etcd.
  --etcd-servers=list
        Use an etcd that runs already, and start none.
  --help
        Shows this text.

All flags of keelson serve are taken too (keelson serve --help): --bind-address (default 127.0.0.1), --feature-gates, --v …

keelson status lists what runs, keelson stop ends it.
`

export class UsageError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

export type DevFlags = {
  /** Undefined: a temporary one. */
  readonly dataDir: string | undefined
  readonly etcd: string | undefined
  readonly hasServers: boolean
  readonly isEphemeral: boolean
  readonly isReset: boolean
  /** Whether kubectl's own kubeconfig gets a context. */
  readonly merges: boolean
  readonly context: string
  /** 0: any that is free. Undefined: not given. */
  readonly port: number | undefined
  /** For `serve`. */
  readonly rest: readonly string[]
}

const names = {
  values: ['data-dir', 'etcd', 'context', 'secure-port'],
  switches: ['ephemeral', 'reset', 'kubeconfig-merge'],
} as const
/** What kubectl and shells take without quotes. */
const contextPattern = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,252}$/
const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) < 65_536

/** Fails with a UsageError. */
export function splitArgs(args: readonly string[]): DevFlags {
  const { values: found, on, rest: others } = readCommandFlags(args, names)
  const port = found.get('secure-port')
  // What is no port is for `serve` to refuse.
  const rest = port === undefined || isPort(port) ? others : [...others, `--secure-port=${port}`]
  const hasServers = rest.some((argument) => /^--etcd-servers(=|$)/.test(argument))
  const isEphemeral = on.has('ephemeral')
  const context = found.get('context') ?? CONTEXT
  const faults = faultsOf({ found, isEphemeral, isReset: on.has('reset'), hasServers, context })
  if (faults.length > 0) throw new UsageError(faults)
  return {
    dataDir: found.get('data-dir') ?? (isEphemeral ? undefined : DATA_DIR),
    etcd: found.get('etcd'),
    hasServers,
    isEphemeral,
    isReset: on.has('reset'),
    merges: on.has('kubeconfig-merge'),
    context,
    port: port !== undefined && isPort(port) ? Number(port) : undefined,
    rest,
  }
}

type ParsedFlags = {
  readonly found: ReadonlyMap<string, string>
  readonly isEphemeral: boolean
  readonly isReset: boolean
  readonly hasServers: boolean
  readonly context: string
}

function faultsOf({ found, isEphemeral, isReset, hasServers, context }: ParsedFlags): string[] {
  const faults = missingValues({ values: found })
  if (isEphemeral && (found.has('etcd') || hasServers)) {
    faults.push('--ephemeral keeps objects in memory: leave it, or --etcd and --etcd-servers, out')
  }
  if (isReset && hasServers)
    faults.push('--reset is for a store of its own: leave it or --etcd-servers out')
  if (!contextPattern.test(context)) {
    faults.push(
      `--context ${JSON.stringify(context)} is no name of a context: letters, digits, ".", "_", "@" and "-"`,
    )
  }
  return faults
}
