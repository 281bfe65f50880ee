/** Runs the commands of the picture in README.md on a terminal, as a reader would type them. */
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { freePorts, toolPath } from '../../test/support/harness/etcd.ts'
import { npmEnvironment } from '../../test/support/harness/packed.ts'
import { PseudoTerminal, visibleText } from '../../test/support/harness/pseudo-terminal.ts'

/** A command that was typed, and the text that the terminal showed after it. */
export type TypedCommand = { readonly command: string; readonly shown: string }

const READERS_FOLDER = '/home/jane/shop'
const READERS_PORT = 6443
const CTRL_C = '\u0003'

export type SessionOptions = {
  /** Folder in which the commands run. It must be empty. */
  readonly folder: string
  /** Path of the Keelson program that `npx keelson` runs. */
  readonly program: string
}

/**
 * Runs the commands. In their output, the folder and the port are replaced by those of an imaginary
 * reader.
 */
export async function runSession({ folder, program }: SessionOptions): Promise<TypedCommand[]> {
  const cwd = realpathSync(folder)
  const commands = join(cwd, 'node_modules', '.bin')
  mkdirSync(commands, { recursive: true })
  symlinkSync(program, join(commands, 'keelson'))
  const env = environmentIn(cwd)
  const [port = 0] = await freePorts(1)
  // Use a free port. If the default port was in use on this machine, the output would contain an
  // explanation.
  const command = ['npx', 'keelson', 'dev', `--secure-port=${port}`]
  await using dev = new PseudoTerminal(command, { env, cwd })
  await dev.waitFor('kubectl get ns')
  const clean = (output: string): string =>
    withoutLog(visibleText(output))
      .replaceAll(cwd, READERS_FOLDER)
      .replaceAll(`:${port}`, `:${READERS_PORT}`)
  const started = { command: 'npx keelson dev', shown: clean(dev.output).trimEnd() }
  const others: TypedCommand[] = []
  const kubectlEnv = { ...env, KUBECONFIG: join('.keelson', 'kubeconfig') }
  for (const typed of kubectlCommands) {
    await using terminal = new PseudoTerminal(typed.split(' '), { env: kubectlEnv, cwd })
    await terminal.ended()
    others.push({ command: typed, shown: clean(terminal.output).trimEnd() })
  }
  dev.type(CTRL_C)
  await dev.ended()
  return [started, { command: 'export KUBECONFIG=.keelson/kubeconfig', shown: '' }, ...others]
}

const kubectlCommands = ['kubectl create namespace shop', 'kubectl get namespaces']

function environmentIn(folder: string): NodeJS.ProcessEnv {
  const path = [dirname(process.execPath), dirname(toolPath('kubectl')), process.env['PATH'] ?? '']
  return {
    ...npmEnvironment(folder, path.join(delimiter)),
    XDG_CACHE_HOME: join(folder, 'cache'),
    TERM: 'xterm-256color',
  }
}

/** Removes the log lines of slow requests, because requests are slow on a busy machine. */
const withoutLog = (shown: string): string => shown.replaceAll(/^\d\d:\d\d:\d\d\.\d{3} .*\n/gm, '')
