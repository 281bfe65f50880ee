/** Access to the operating system. Tests replace it to simulate other operating systems. */
import { execFileSync } from 'node:child_process'
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Maximum time for a program that describes processes. */
const RUN_MS_MAX = 10_000

export type System = {
  /** Returns the text of a file. Throws if the file cannot be read. */
  readonly readFile: (path: string) => string
  /** Returns the names in a folder. Throws if the folder cannot be read. */
  readonly listFolder: (path: string) => readonly string[]
  /** Returns the target of a link. Throws if the link cannot be read. */
  readonly readLink: (path: string) => string
  readonly flush: (path: string) => void
  /** Runs a program and returns its output, or an empty string if it fails. */
  readonly run: (program: string, args: readonly string[]) => string
  /** Returns the ID of the user, or undefined on systems without user IDs. */
  readonly userId: () => number | undefined
}

export const realSystem: System = {
  readFile: (path) => readFileSync(path, 'utf8'),
  listFolder: (path) => readdirSync(path),
  readLink: (path) => readlinkSync(path),
  flush,
  run,
  userId: () => process.getuid?.(),
}

function flush(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function run(program: string, args: readonly string[]): string {
  try {
    const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'ignore']
    return execFileSync(program, args, {
      encoding: 'utf8',
      stdio,
      timeout: RUN_MS_MAX,
      windowsHide: true,
    })
  } catch {
    // The program does not exist, or reports that there is no such process.
    return ''
  }
}
