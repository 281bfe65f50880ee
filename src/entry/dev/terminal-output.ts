/** The output of `keelson dev` about its server on a terminal, for people. */
import { ownControllers } from '../../config/controllers.ts'
import { gitVersionOf } from '../../api/releases.ts'
import { type DevOutput, nextCommands, type ReadyServer } from './dev-output.ts'

export type Terminal = {
  readonly columns: number
  readonly hasColors: boolean
}

export type TerminalOutputOptions = {
  readonly terminal: Terminal
  readonly version: string
  readonly print: (text: string) => void
  /** Shows a line that the next printed text replaces. */
  readonly show: (line: string) => void
  /** Removes the line that `show` has printed, and the `^C` that a terminal prints after Ctrl-C. */
  readonly clear: () => void
}

const MARGIN = '  '
const LABEL_CHARACTERS = 13
/**
 * Minimum width to which values are wrapped. If the terminal is narrower, the terminal itself wraps
 * the lines.
 */
const VALUE_CHARACTERS_MIN = 24

export class TerminalOutput implements DevOutput {
  readonly #options: TerminalOutputOptions
  #server: ReadyServer | undefined
  #isStopping = false

  constructor(options: TerminalOutputOptions) {
    this.#options = options
  }

  /** Prints nothing. The text that `ready` prints later mentions the same facts. */
  progress(): void {
    return undefined
  }

  ready(server: ReadyServer): void {
    if (this.#isStopping) return
    const { terminal, version, print, clear } = this.#options
    this.#server = server
    clear()
    print(describeReady(server, { terminal, version, startMs: performance.now() }))
  }

  report(text: string): void {
    const { terminal, print, clear } = this.#options
    const { red } = stylesFor(terminal)
    clear()
    print(`${MARGIN}${text.startsWith('error: ') ? red(text) : text}\n`)
  }

  stopping(): void {
    this.#isStopping = true
    this.#options.clear()
    this.#options.show('keelson: stopping … (Ctrl-C again stops at once)')
  }

  stopped(): void {
    this.#options.clear()
    this.#options.print(`keelson: stopped${this.#server ? `; ${fateOf(this.#server)}` : ''}\n`)
  }

  forced(): void {
    this.#options.clear()
    this.#options.print('keelson: stopped at once\n')
  }

  /**
   * Whether log entries of the level info are hidden. This is the case while the server starts or
   * stops.
   */
  get replacesInfo(): boolean {
    return this.#server === undefined || this.#isStopping
  }
}

export type ReadyOptions = {
  readonly terminal: Terminal
  readonly version: string
  /** The time from the start of the process. */
  readonly startMs: number
}

/** Describes a ready server in aligned lines. */
export function describeReady(server: ReadyServer, options: ReadyOptions): string {
  const { terminal, version, startMs } = options
  const { bold, dim, cyan } = stylesFor(terminal)
  const row = (label: string, value: string): string =>
    `${MARGIN}${dim(label.padEnd(LABEL_CHARACTERS))}${value}`
  const width = terminal.columns - MARGIN.length - LABEL_CHARACTERS
  const [first = '', ...more] = wrap(
    describeControllers(server),
    Math.max(width, VALUE_CHARACTERS_MIN),
  )
  const lines = [
    '',
    `${MARGIN}${bold(cyan(`Keelson ${version}`))} for Kubernetes ${gitVersionOf(server.release)}, ${dim(`ready after ${Math.round(startMs)} ms`)}`,
    '',
    row('Address', `${cyan(server.url)}${describePort(server)}`),
    row('Kubeconfig', describeKubeconfig(server)),
    row('Data', describeData(server)),
    row('Controllers', first),
    ...more.map((line) => row('', line)),
    row('Stop', `Ctrl-C; ${endOf(server)}`),
    '',
    `${MARGIN}${dim('In another terminal, run:')}`,
    '',
    ...nextCommands(server).map((command) => `${MARGIN}${bold(command)}`),
    '',
  ]
  return lines.map((line) => `${line}\n`).join('')
}

const describePort = ({ takenPort }: ReadyServer): string =>
  takenPort === undefined ? '' : ` (port ${takenPort} is not free)`

const describeKubeconfig = ({ kubeconfig, merged }: ReadyServer): string =>
  merged === undefined ? kubeconfig : `${merged.path} (context ${merged.context})`

function describeData({ objects, folder, isTemporary }: ReadyServer): string {
  if (objects === 'sqlite') return folder
  if (objects === 'etcd') return `${folder} (etcd)`
  const where = objects === 'memory' ? 'in memory' : 'in the etcd of --etcd-servers'
  return isTemporary ? where : `${where}; certificates in ${folder}`
}

/**
 * Returns a text that names the controllers. If all of them run, names only those that users notice
 * most, because the whole list would fill the screen.
 */
function describeControllers({ controllers }: ReadyServer): string {
  if (controllers.length === 0) return 'none'
  if (controllers.length === ownControllers.length) {
    return `all ${controllers.length}, among them garbage-collector, namespace, resourcequota`
  }
  return controllers.map((name) => name.replace(/-controller$/, '')).join(', ')
}

const endOf = (server: ReadyServer): string =>
  server.objects === 'memory' ? fateOf(server) : 'the next start uses the same data'

/** Says what happens to the objects when the server stops. */
function fateOf({ objects, folder }: ReadyServer): string {
  if (objects === 'memory') return 'all objects are deleted'
  return objects === 'etcd-servers'
    ? 'the objects are kept in etcd'
    : `the objects are kept in ${folder}`
}

/** Splits a text at spaces into lines of at most `width` characters. Longer words are not split. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

type Style = (text: string) => string

/** Returns functions that style a text, or leave it unchanged on a terminal without colors. */
function stylesFor({
  hasColors,
}: Terminal): Readonly<Record<'bold' | 'dim' | 'cyan' | 'red', Style>> {
  const style =
    (on: number, off: number): Style =>
    (text) =>
      hasColors ? `\u001b[${on}m${text}\u001b[${off}m` : text
  return { bold: style(1, 22), dim: style(2, 22), cyan: style(36, 39), red: style(31, 39) }
}
