/** The output of `keelson dev` about its server: its interface, and the plain form for pipes. */
import type { ControllerName } from '../../config/controllers.ts'

/** A server that is ready for requests. */
export type ReadyServer = {
  /** The minor version of the Kubernetes release that the server is. */
  readonly release: number
  /** The URL in the kubeconfig. */
  readonly url: string
  /** The URL of the address on which the server listens, for example of 0.0.0.0. */
  readonly listenUrl: string
  /** The port that was tried first, if it was not free. */
  readonly takenPort: number | undefined
  readonly kubeconfig: string
  /** The entry that --kubeconfig-merge added. */
  readonly merged: { readonly path: string; readonly context: string } | undefined
  /** The data folder. */
  readonly folder: string
  /**
   * Where objects are stored. `etcd` means an etcd that `keelson dev` starts, with its data in the
   * data folder. `etcd-servers` means an etcd that was already running.
   */
  readonly objects: 'sqlite' | 'memory' | 'etcd' | 'etcd-servers'
  /** Whether the folder is removed when the server stops. */
  readonly isTemporary: boolean
  readonly controllers: readonly ControllerName[]
}

export interface DevOutput {
  /** Reports that a step of the start is complete. */
  progress(text: string): void
  ready(server: ReadyServer): void
  /** Reports what --apply has done, or an error that begins with `error: `. */
  report(text: string): void
  /** Reports that a signal has arrived. */
  stopping(): void
  stopped(): void
  /** Reports that a second signal ends the process. */
  forced(): void
  /** Whether log entries of level info are omitted now, because this output replaces them. */
  readonly replacesInfo: boolean
}

export type PlainOutputOptions = {
  /** Prints the lines that a script can run. */
  readonly print: (line: string) => void
  /** Prints the lines that are intended for people, not for scripts. */
  readonly report: (line: string) => void
}

/** Returns the output for pipes and files. Scripts read its lines, so they never change. */
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
