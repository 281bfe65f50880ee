/** Runs a program on a pseudo-terminal. Node cannot open one, so Python does. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from './until.ts'

export type PseudoTerminalOptions = {
  readonly env: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly columns?: number
}

const COLUMNS = 80
const ROWS = 40
const READY_MS_MAX = 300_000

/**
 * A Python program that runs another program on a pseudo-terminal. It connects its own input and
 * output to this terminal, and exits with the status of the other program.
 */
const relay = `
import fcntl, os, pty, select, struct, sys, termios
columns, rows, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', int(rows), int(columns), 0, 0))
    os.execvp(command[0], command)
sources = [0, terminal]
while True:
    ready = select.select(sources, [], [])[0]
    if terminal in ready:
        try: data = os.read(terminal, 65536)
        except OSError: break
        if not data: break
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if data: os.write(terminal, data)
        else: sources.remove(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

export class PseudoTerminal implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  /** Everything that the program has written, with its escape sequences. */
  output = ''

  constructor(command: readonly string[], { env, cwd, columns = COLUMNS }: PseudoTerminalOptions) {
    this.#child = spawn('python3', ['-I', '-c', relay, `${columns}`, `${ROWS}`, ...command], {
      env,
      cwd,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#ended = once(this.#child, 'close')
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.output += text))
  }

  /** Waits until the output contains a text. */
  waitFor(text: string): Promise<void> {
    return until(
      () => {
        if (this.output.includes(text)) return true
        if (this.#child.exitCode === null) return false
        throw new Error(`the program ended: ${this.output}`)
      },
      `the terminal shows ${text}`,
      READY_MS_MAX,
    )
  }

  /** Types a text. `\u0003` is Ctrl-C. */
  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  /** Waits until the program exits. Returns its status. */
  async ended(): Promise<number | null> {
    await this.#ended
    return this.#child.exitCode
  }

  /** Closes the terminal, which also ends the program. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}

/** Escape sequence that moves the cursor to the start of the line and clears the line. */
const CLEAR = '\r\u001b[K'

/**
 * Returns the text that is visible on the terminal. Leaves out the parts of a line that the program
 * has cleared.
 */
export const visibleText = (output: string): string =>
  output
    .split('\r\n')
    .map((line) => line.split(CLEAR).at(-1) ?? '')
    .join('\n')
