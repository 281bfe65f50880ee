/**
 * Runs the commands of a Markdown page as a reader would type them. Fenced blocks marked `sh`
 * contain commands, which run in order in one folder. `sh needs=go` names a requirement, and the
 * commands of `sh fails` must fail. A block with `file=NAME` is written to that file, and a block
 * marked `diff file=NAME` changes it. A block marked `text` contains lines that the preceding
 * commands must print, possibly among other lines. `…` matches any text.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { applyChange } from './apply-change.ts'
import { until } from './until.ts'

export type Block =
  | {
      readonly kind: 'commands'
      readonly text: string
      readonly needs: string | undefined
      readonly expected: string
      readonly mustFail: boolean
    }
  | {
      /** The content of a file. If the block is a change, a diff in the format of `applyChange`. */
      readonly kind: 'file' | 'change'
      readonly name: string
      readonly text: string
      readonly needs: string | undefined
    }

/**
 * Returns the blocks to run. Blocks that are only shown are left out, such as YAML without a file
 * name, or output that does not follow commands.
 */
export function readBlocks(markdown: string): readonly Block[] {
  const blocks: Block[] = []
  for (const [, info = '', text = ''] of markdown.matchAll(/^```(\S[^\n]*)\n(.*?)^```$/gms)) {
    const [language = '', ...attributes] = info.split(/\s+/)
    const attribute = (name: string) =>
      attributes.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1)
    const [file, needs] = [attribute('file'), attribute('needs')]
    const last = blocks.at(-1)
    if (file !== undefined) {
      blocks.push({ kind: language === 'diff' ? 'change' : 'file', name: file, text, needs })
    } else if (language === 'sh') {
      const mustFail = attributes.includes('fails')
      blocks.push({ kind: 'commands', text, needs, expected: '', mustFail })
    } else if (language === 'text' && last?.kind === 'commands')
      blocks.splice(-1, 1, { ...last, expected: text })
  }
  return blocks
}

/**
 * Returns the blocks marked `bash`. They need more than the machine of a reader, so
 * docs-commands.test.ts does not run them, but other tests do. A block inside a list is indented.
 */
export const bashBlocks = (markdown: string): string[] =>
  [...markdown.matchAll(/^( *)```bash\n(.*?)^\1```$/gms)].map(([, indent = '', text = '']) =>
    text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )

/** Returns the only block marked `bash` that contains a text. */
export function bashBlock(markdown: string, contained: string): string {
  const [found, ...others] = bashBlocks(markdown).filter((text) => text.includes(contained))
  assert.ok(found !== undefined && others.length === 0, contained)
  return found
}

export type Session = {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** Port that replaces 6443 in the commands, so that concurrent tests do not use the same port. */
  readonly port: number
  /** Ports that replace those of etcd: 2379 for clients, and 2380 for other members. */
  readonly etcdPorts?: readonly [client: number, peer: number]
  /**
   * Returns the reason why blocks that need `need` cannot run here. Returns undefined if they can
   * run.
   */
  readonly lacks: (need: string) => string | undefined
  readonly onSkipped: (need: string, why: string) => void
}

/**
 * Runs the blocks. Rejects when a command fails or does not print the expected output. Stops all
 * processes that it has started.
 */
export async function runBlocks(blocks: readonly Block[], session: Session): Promise<void> {
  await using page = new RunningPage(session)
  for (const block of blocks) {
    const why = block.needs === undefined ? undefined : session.lacks(block.needs)
    if (block.needs !== undefined && why !== undefined) session.onSkipped(block.needs, why)
    else if (block.kind === 'commands') await page.run(block)
    else await writeBlock(session.folder, block)
  }
}

async function writeBlock(
  folder: string,
  { kind, name, text }: Exclude<Block, { kind: 'commands' }>,
): Promise<void> {
  const path = join(folder, name)
  if (kind === 'file') return writeNested(path, text)
  await writeFile(path, applyChange(await readFile(path, 'utf8'), text))
}

async function writeNested(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/**
 * Matches a command that starts a server, which then runs until it is interrupted. The page
 * contains `# Ctrl-C` where the reader interrupts it.
 */
const serves = /^(?:npx )?(?:bin\/)?keelson (?:dev|serve)\b(?!.*(?:--help|\|))/
/** Matches a command that starts etcd. This etcd is stopped at the end of the page. */
const runsEtcd = /^etcd --/
const interrupts = /^# Ctrl-C\b/
/**
 * Matches `keelson stop`. It stops the server gracefully, so the server must not get another
 * signal.
 */
const stops = /^(?:npx )?(?:bin\/)?keelson stop\b/
/** Matches a variable assignment. Later commands use the value. */
const assigns = /^(export )?([A-Z_]+)=/

/**
 * Maximum time until a server is ready. It usually takes a second, but minutes on a machine that is
 * busy with other tests.
 */
const READY_MS_MAX = 300_000
const ETCD_PORT = 2379
const ETCD_PEER_PORT = 2380

class RunningPage implements AsyncDisposable {
  readonly #session: Session
  #assignments: string[] = []
  #server: ChildProcess | undefined
  #etcd: ChildProcess | undefined
  /** The lines that the server has printed. */
  #printed: string[] = []
  /** Standard error of the last command. */
  #stderr = ''

  constructor(session: Session) {
    this.#session = session
  }

  async run({ text, expected, mustFail }: Extract<Block, { kind: 'commands' }>): Promise<void> {
    let printed = ''
    let pending: string[] = []
    const flush = async (): Promise<void> => {
      if (pending.length > 0) printed += await this.#shell(pending.join('\n'), mustFail)
      pending = []
    }
    for (const line of text.replaceAll(/\\\n\s*/g, '').split('\n')) {
      if (serves.test(line)) {
        await flush()
        await this.#serve(line)
      } else if (runsEtcd.test(line)) {
        await flush()
        await this.#startEtcd(line)
      } else if (interrupts.test(line)) {
        await flush()
        await this.#interrupt()
      } else if (stops.test(line)) {
        pending.push(line)
        await flush()
        await this.#ended()
      } else {
        const [, exported = '', name] = assigns.exec(line) ?? []
        // If a command follows on the same line, the assignment applies only to this command.
        if (name === undefined || /^[A-Z_]+=\w* \S/.test(line)) pending.push(line)
        else {
          await flush()
          const value = await this.#shell(`${line}\nprintf %s "$${name}"`)
          this.#assignments.push(`${exported}${name}='${value.replaceAll("'", `'\\''`)}'`)
        }
      }
    }
    await flush()
    const missing = expected
      .split('\n')
      .filter((line) => line.trim() !== '' && !patternOf(line).test(printed))
    assert.deepEqual(missing, [], `${text} printed\n${printed}${this.#stderr}`)
  }

  async #shell(script: string, mustFail = false): Promise<string> {
    const child = this.#spawn(script, ['ignore', 'pipe', 'pipe'])
    let [stdout, stderr] = ['', '']
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const [status] = await once(child, 'close')
    this.#stderr = stderr
    assert.equal(status !== 0, mustFail, `${script}\n${stdout}${stderr}`)
    return stdout
  }

  /**
   * Starts a server. Resolves when the server is ready, because a reader would type the next
   * command then.
   */
  async #serve(command: string): Promise<void> {
    await this.#interrupt()
    const own = /--secure-port/.test(command)
      ? command
      : `${command} --secure-port=${this.#session.port}`
    const server = this.#spawn(`exec ${own}`, ['ignore', 'pipe', 'pipe'])
    this.#server = server
    const lines: string[] = []
    this.#printed = lines
    const ready = Promise.withResolvers<number>()
    for (const stream of [server.stdout, server.stderr]) {
      if (stream === null) continue
      createInterface(stream).on('line', (line) => {
        lines.push(line)
        // Execute the `export` command that `keelson dev` prints, as a reader would.
        const typed = lines.find((one) => one.startsWith('export KUBECONFIG='))
        const [, port] = /(?:serving at |"url":")https:\/\/\S+?:(\d+)/.exec(lines.join('\n')) ?? []
        if (port === undefined || (typed === undefined && /keelson dev\b/.test(own))) return
        if (typed !== undefined && !this.#assignments.includes(typed)) this.#assignments.push(typed)
        ready.resolve(Number(port))
      })
    }
    server.once('exit', () => ready.reject(new Error(`${own} ended\n${lines.join('\n')}`)))
    const tooLate = setTimeout(
      () => ready.reject(new Error(`${own} is not ready\n${lines.join('\n')}`)),
      READY_MS_MAX,
    )
    try {
      const port = await ready.promise
      await until(() => isReady(port), `${own} is ready`, READY_MS_MAX)
    } finally {
      clearTimeout(tooLate)
    }
  }

  /** Starts an etcd. Resolves when it responds. */
  async #startEtcd(command: string): Promise<void> {
    const etcd = this.#spawn(`exec ${command}`, ['ignore', 'pipe', 'pipe'])
    this.#etcd = etcd
    let log = ''
    etcd.stdout?.resume()
    etcd.stderr?.setEncoding('utf8').on('data', (text: string) => (log += text))
    const [client] = this.#session.etcdPorts ?? [ETCD_PORT]
    await until(
      async () => {
        assert.equal(etcd.exitCode, null, log)
        const response = await fetch(`http://127.0.0.1:${client}/health`).catch(() => undefined)
        await response?.body?.cancel()
        return response?.ok === true
      },
      `${command} is ready`,
      READY_MS_MAX,
    )
  }

  /** Interrupts the server, which stops it gracefully. */
  async #interrupt(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGINT')
    await this.#ended(server)
  }

  async #ended(server = this.#server): Promise<void> {
    this.#server = undefined
    if (server === undefined) return
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    assert.equal(server.exitCode, 0, this.#printed.join('\n'))
  }

  #spawn(script: string, stdio: ['ignore', 'pipe', 'pipe']): ChildProcess {
    const { folder, env, port, etcdPorts = [ETCD_PORT, ETCD_PEER_PORT] } = this.#session
    const whole = ['set -e', ...this.#assignments, script]
      .join('\n')
      .replaceAll(':6443', `:${port}`)
      .replaceAll(`:${ETCD_PORT}`, `:${etcdPorts[0]}`)
      .replaceAll(`:${ETCD_PEER_PORT}`, `:${etcdPorts[1]}`)
    return spawn('sh', ['-c', whole], { cwd: folder, env, stdio })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#interrupt()
    } finally {
      await this.#stopEtcd()
    }
  }

  async #stopEtcd(): Promise<void> {
    const etcd = this.#etcd
    if (etcd === undefined || etcd.exitCode !== null || etcd.signalCode !== null) return
    const gone = once(etcd, 'exit')
    etcd.kill('SIGKILL')
    await gone
  }
}

function isReady(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // Do not verify the certificate, because this request only checks whether the server is ready.
  const asked = request(
    { port, path: '/readyz', rejectUnauthorized: false, agent: false },
    (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    },
  )
  asked.on('error', () => resolve(false))
  asked.end()
  return promise
}

/**
 * Returns a pattern that matches a line with any number of spaces between the words. The widths of
 * table columns vary.
 */
function patternOf(line: string): RegExp {
  const parts = line.trim().split(/(\s+|…)/)
  const source = parts.map((part) =>
    part === '…'
      ? '.*'
      : /^\s+$/.test(part)
        ? '\\s+'
        : part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'),
  )
  return new RegExp(source.join(''))
}
