/**
 * The differences between operating systems. Code that depends on the operating system uses only
 * this interface. If a system does not offer a value, its implementation returns `undefined`, an
 * empty string or Infinity, and callers continue without the value.
 */
import type { Stats } from 'node:fs'

/** The resources that the process uses, and their limits. */
export type ProcessUsage = {
  readonly virtualBytes: number
  readonly virtualBytesMax: number
  readonly openFiles: number
  readonly openFilesMax: number
  /** The bytes that the network namespace of the process has received and sent. */
  readonly receivedBytes: number
  readonly sentBytes: number
}

export type RunningProcess = { readonly pid: number; readonly name: string }

export interface Platform {
  /** The name of the operating system for users, such as macOS. */
  readonly name: string
  /** Returns the folder for the caches of the user, or undefined if it is unknown. */
  cacheHome(env: NodeJS.ProcessEnv): string | undefined
  /** Whether the file belongs to this user, and other users cannot write to it. */
  isOwn(stats: Pick<Stats, 'uid' | 'mode'>): boolean
  /** Makes the system write the entries of a folder to disk, if the system supports this. */
  flushFolder(path: string): void
  /**
   * Returns the maximum number of files and sockets that this process can open, or Infinity if
   * there is no limit or it is unknown.
   */
  openFilesMax(): number
  /**
   * Returns the resources that the process uses. Throws if the process cannot open more files.
   * Operating systems that do not report these values do not have this function.
   */
  readonly usage: (() => ProcessUsage) | undefined
  /**
   * Returns the start time of a process, which distinguishes it from other processes with the same
   * ID. Returns an empty string if there is no such process, or if it has exited and its parent has
   * not waited for it.
   */
  startOf(pid: number): string
  /** Returns the command line of a process, or an empty string if there is no such process. */
  commandOf(pid: number): string
  /** Returns the process that listens on a TCP port, or undefined if it cannot be determined. */
  listenerOn(port: number): RunningProcess | undefined
  /** Returns the possible names of a program's file, such as `kubectl.exe` on Windows. */
  programNames(program: string): readonly string[]
}
