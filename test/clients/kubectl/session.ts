/** Runs kubectl on one server, in a separate folder with the files that the commands read. */
import { type ExecFileException, execFile, spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiServerProcess } from '../../support/harness/api-server.ts'
import { toolPath } from '../../support/harness/etcd.ts'
import { kubeconfig } from '../../support/harness/kubectl.ts'
import type { KubectlCommand } from './commands.ts'
import { files } from './files.ts'

/** Maximum time for a run. The longest command waits for 30 s. */
const RUN_MAX_MS = 120_000
/** Maximum size of the output, large enough for `explain --recursive` and for all roles as YAML. */
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024

export class KubectlSession implements AsyncDisposable {
  readonly dir: string
  readonly url: string
  readonly #env: NodeJS.ProcessEnv

  private constructor(dir: string, url: string) {
    this.dir = dir
    this.url = url
    this.#env = {
      ...process.env,
      HOME: dir,
      TMPDIR: dir,
      KUBECONFIG: join(dir, 'config'),
      KUBE_EDITOR: join(dir, 'editor'),
      // Set the locale, because the order and the words of the output depend on it.
      LC_ALL: 'C',
    }
  }

  static async on(server: ApiServerProcess): Promise<KubectlSession> {
    const dir = await mkdtemp(join(tmpdir(), 'keelson-kubectl-'))
    for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content)
    await writeFile(join(dir, 'config'), JSON.stringify(kubeconfig(server, server.token, 'work')))
    return new KubectlSession(dir, server.url)
  }

  /** Runs a command and returns its exit code, stdout and stderr. */
  async run(command: KubectlCommand): Promise<string> {
    await this.#writeEditor(command.edit ?? '')
    if (command.uidOf !== undefined) await this.#fillUid(command.uidOf)
    return this.execute(wordsOf(command.run), command.stdin)
  }

  execute(args: readonly string[], stdin = ''): Promise<string> {
    return new Promise((resolve) => {
      const settings = {
        cwd: this.dir,
        env: this.#env,
        timeout: RUN_MAX_MS,
        maxBuffer: OUTPUT_MAX_BYTES,
      }
      const done = (error: ExecFileException | null, out: string, err: string): void =>
        resolve(`exit ${error === null ? 0 : String(error.code)}\n${out}\n--- stderr\n${err}`)
      execFile(toolPath('kubectl'), args, settings, done).stdin?.end(stdin)
    })
  }

  start(args: readonly string[]): ReturnType<typeof spawn> {
    return spawn(toolPath('kubectl'), args, {
      cwd: this.dir,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  }

  async #writeEditor(expression: string): Promise<void> {
    const editor = join(this.dir, 'editor')
    await writeFile(editor, `#!/bin/sh\nexec sed -i -e '${expression}' "$1"\n`)
    await chmod(editor, 0o755)
  }

  async #fillUid({ object, inFile }: { object: string; inFile: string }): Promise<void> {
    const answer = await this.execute(['get', object, '-o', 'jsonpath={.metadata.uid}'])
    const [uid = ''] = /[0-9a-f-]{36}/.exec(answer) ?? []
    const path = join(this.dir, inFile)
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('UID', uid))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true })
  }
}

/**
 * Splits a command at spaces. Text in single quotes is one word: `'a b' c` consists of two words.
 */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|[^' ])+/g)].map(([word]) => word.replaceAll("'", ''))
}
