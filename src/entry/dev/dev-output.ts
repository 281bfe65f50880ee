/**
 * The interface for the texts that `keelson dev` prints about its server, and the implementation
 * for pipes and files.
 */
import type { ControllerName } from '../../config/controllers.ts'

/** A server that is ready for requests, with the facts that `keelson dev` prints about it. */
export type ReadyServer = {
  /** Minor version of Kubernetes that the server implements. */
  readonly release: number
  /** The URL in the kubeconfig. */
  readonly url: string
  /** The URL of the address on which the server listens, for example of 0.0.0.0. */
  readonly listenUrl: string
  /**
   * The port that was tried first and that another process uses. Undefined if that port was free.
   */
  readonly takenPort: number | undefined
  readonly kubeconfig: string
  /** The context that --kubeconfig-merge added, and the path of the kubeconfig file. */
  readonly merged: { readonly path: string; readonly context: string } | undefined
  /** The data folder. */
  readonly folder: string
  /**
   * Where objects are stored. `etcd` means an etcd that `keelson dev` starts, with its data in the
   * data folder. `etcd-servers` means an etcd that was already running.
   */
  readonly objects: 'sqlite' | 'memory' | 'etcd' | 'etcd-servers'
  /** Whether the data folder is removed when the server stops. */
  readonly isTemporary: boolean
  readonly controllers: readonly ControllerName[]
}

export interface DevOutput {
  /** Reports that the start has reached a certain point, such as the start of etcd. */
  progress(text: string): void
  ready(server: ReadyServer): void
  /**
   * Reports what `--apply` has changed on the server. A text that begins with `error: ` is an
   * error.
   */
  report(text: string): void
  /** Reports that a signal has arrived. */
  stopping(): void
  stopped(): void
  /** Reports that a second signal ends the process. */
  forced(): void
  /**
   * Whether log entries of the level info are currently omitted, because this output shows the same
   * events.
   */
  readonly replacesInfo: boolean
}

export type PlainOutputOptions = {
  /** Prints a line to standard output. Scripts can run these lines as commands. */
  readonly print: (line: string) => void
  /** Prints a line that is intended for people, not for scripts. */
  readonly report: (line: string) => void
}

/**
 * Returns the output for pipes and files. Its lines must never change, because scripts read them.
 */
export function plainOutput({ print, report }: PlainOutputOptions): DevOutput {
  const progress = (text: string): void =>
    report(`keelson: ${text} after ${Math.round(performance.now())} ms\n`)
  return {
    progress,
    ready: (server) => {
      progress(`serving at ${server.listenUrl}`)
      for (const command of nextCommands(server)) print(`${command}\n`)
    },
    report: (text) => report(`keelson: ${text}\n`),
    // The log reports each step of the shutdown.
    stopping: () => undefined,
    stopped: () => undefined,
    forced: () => undefined,
    replacesInfo: false,
  }
}

/** Returns the commands to run in another terminal. */
export const nextCommands = ({ merged, kubeconfig }: ReadyServer): readonly string[] => [
  merged === undefined
    ? `export KUBECONFIG=${quoteForShell(kubeconfig)}`
    : `kubectl config use-context ${merged.context}`,
  'kubectl get ns',
]

const quoteForShell = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
