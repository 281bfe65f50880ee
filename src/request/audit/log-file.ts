/**
 * The file of the audit log. It is rotated by size. Old files are named, removed and compressed as
 * in kube-apiserver.
 *
 * A short write to a file on a local disk only copies the data into the page cache. Such a write is
 * synchronous, because a write in another thread would take several times as long. Writes that
 * might block are done in threads: long writes, writes to other files, and all writes for a minute
 * after a slow one.
 */
import { write, writeSync } from 'node:fs'
import { type FileHandle, open, rename, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { NEWLINE } from '../../lib/bytes/ascii.ts'
import { makeFolders } from '../../lib/process/files.ts'
import { COMPRESSED, OldFiles, type OldFilesOptions } from './old-files.ts'

export type LogFileOptions = {
  readonly path: string
  /** Maximum size of the file in MB. 0 means 100. */
  readonly megabytesMax: number
  readonly old: Omit<OldFilesOptions, 'directory' | 'prefix' | 'extension'>
  readonly wallMs: () => number
  readonly monotonicMs: () => number
}

/**
 * Maximum size of a synchronous write, which takes about 20 µs. A write under load is about half as
 * large.
 */
const SHORT_BYTES_MAX = 64 << 10
/**
 * Number of buffered bytes that are written without waiting for further lines. This is less than
 * `SHORT_BYTES_MAX`, so that the lines of the current tick also fit into a synchronous write. A
 * write in a thread would cost as much as serializing ten events. The data also still fits into the
 * CPU cache.
 */
const FULL_BYTES = 48 << 10
/**
 * Duration above which a short write counts as slow, because it waited for the disk. A shorter
 * delay might be caused by another process on the CPU.
 */
const SHORT_MS_MAX = 10
/** Time during which all writes are done in threads after a slow write. */
const SLOW_MS = 60_000

/**
 * Local file systems, by their numbers in statfs: ext4, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs.
 * Other file systems might be on another server.
 */
const localFilesystems: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1,
])

/** File mode of folders that the log creates. */
const FOLDER_MODE = 0o700

const MEGABYTE = 2 ** 20
const MEGABYTES_MAX_DEFAULT = 100

/** Appends to a file. Calls must not overlap. */
export class LogFile {
  readonly #options: LogFileOptions
  readonly #bytesMax: number
  readonly #old: OldFiles
  #file: FileHandle | undefined
  #isLocal = false
  /** Time on the monotonic clock until which all writes are done in threads. */
  #slowUntilMs = -Infinity
  #bytes = 0
  /** Whether the last write left an incomplete line in the file. */
  #isCut = false
  /**
   * Number of bytes that should be written without waiting for further lines. Finite only while
   * short writes are synchronous.
   */
  fullBytes = Infinity

  constructor(options: LogFileOptions) {
    const { path, megabytesMax, old } = options
    this.#options = options
    this.#bytesMax = (megabytesMax || MEGABYTES_MAX_DEFAULT) * MEGABYTE
    const extension = extname(path)
    this.#old = new OldFiles({
      ...old,
      directory: dirname(path),
      prefix: `${basename(path, extension)}-`,
      extension,
    })
  }

  /**
   * Opens the log, and creates the file if it does not exist. Fails if the file cannot be written.
   */
  static async create(options: LogFileOptions): Promise<LogFile> {
    makeFolders(dirname(options.path), FOLDER_MODE)
    const file = await open(options.path, 'a', 0o600)
    await file.close()
    return new LogFile(options)
  }

  /** Appends lines, each of which ends in a newline. Fails if not all of them are written. */
  async append(lines: Buffer): Promise<void> {
    const file = this.#file ?? (await this.#open(lines.indexOf(NEWLINE)))
    if (this.#bytes + lines.length <= this.#bytesMax) return this.#write(file, lines)
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(NEWLINE, start) + 1
      await this.#appendOne(lines.subarray(start, end))
      start = end
    }
  }

  /**
   * Appends one line, which consists of several pieces and ends in a newline. Fails if the line is
   * not completely written.
   */
  async appendLong(pieces: readonly Buffer[]): Promise<void> {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const file = await this.#fileFor(length)
    const before = this.#bytes
    try {
      for (const piece of pieces) await this.#write(file, piece)
    } catch (error) {
      this.#isCut ||= this.#bytes > before
      throw error
    }
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
    await this.#old.settled()
  }

  async #appendOne(line: Buffer): Promise<void> {
    await this.#write(await this.#fileFor(line.length), line)
  }

  /**
   * Returns a log file that has enough space for this number of bytes. If the current file does not
   * have enough space, it is rotated.
   */
  async #fileFor(bytes: number): Promise<FileHandle> {
    if (bytes > this.#bytesMax)
      throw new Error(`write length ${bytes} exceeds maximum file size ${this.#bytesMax}`)
    const file = this.#file ?? (await this.#open(bytes))
    return this.#bytes + bytes > this.#bytesMax ? this.#rotate() : file
  }

  async #write(file: FileHandle, bytes: Buffer): Promise<void> {
    const whole = this.#isCut ? Buffer.concat([newline, bytes]) : bytes
    let written = 0
    try {
      const isQuick = this.#isLocal && this.#options.monotonicMs() >= this.#slowUntilMs
      this.fullBytes = isQuick ? FULL_BYTES : Infinity
      if (isQuick && whole.length <= SHORT_BYTES_MAX) written = this.#writeNow(file, whole)
      while (written < whole.length) written += await writeSome(file, whole, written)
      this.#isCut = false
    } catch (error) {
      this.#isCut ||= written > 0
      throw error
    } finally {
      this.#bytes += written
    }
  }

  #writeNow(file: FileHandle, bytes: Buffer): number {
    const { monotonicMs } = this.#options
    const startMs = monotonicMs()
    const written = writeSync(file.fd, bytes)
    const endMs = monotonicMs()
    if (endMs - startMs > SHORT_MS_MAX) this.#slowUntilMs = endMs + SLOW_MS
    return written
  }

  /** Opens the file. A file that is already full is rotated immediately. */
  async #open(neededBytes: number): Promise<FileHandle> {
    this.#old.tidy()
    const { path } = this.#options
    const known = await stat(path).catch(() => undefined)
    if (known === undefined || known.size + neededBytes >= this.#bytesMax) return this.#rotate()
    const file = await open(path, 'a')
    this.#isLocal = await isLocalFile(file, path)
    this.#file = file
    this.#bytes = known.size
    return file
  }

  /**
   * Renames the full file and creates a new one. The new file has the same mode and, if the process
   * is allowed to set it, the same owner.
   */
  async #rotate(): Promise<FileHandle> {
    const { path } = this.#options
    const file = this.#file
    this.#file = undefined
    await file?.close()
    if (!(await exists(dirname(path)))) makeFolders(dirname(path), FOLDER_MODE)
    const known = await stat(path).catch(() => undefined)
    if (known !== undefined) await rename(path, await this.#nameOfOld())
    const made = await open(path, 'w', known?.mode ?? 0o600)
    this.#isLocal = await isLocalFile(made, path)
    this.#file = made
    this.#bytes = 0
    this.#isCut = false
    if (known !== undefined && known.uid !== process.getuid?.())
      await made.chown(known.uid, known.gid).catch(unlessRefused)
    this.#old.tidy()
    return made
  }

  /**
   * Returns a name for the old file: `audit.log` becomes `audit-2025-01-31T12-00-00.000.log`. If a
   * file with this name exists, compressed or not, the name contains a later millisecond.
   */
  async #nameOfOld(): Promise<string> {
    const { path, wallMs } = this.#options
    const extension = extname(path)
    for (let ms = wallMs(); ; ms++) {
      const time = new Date(ms).toISOString().slice(0, -1).replaceAll(':', '-')
      const name = join(dirname(path), `${basename(path, extension)}-${time}${extension}`)
      if (!(await exists(name)) && !(await exists(`${name}${COMPRESSED}`))) return name
    }
  }
}

const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/**
 * Whether the file is a regular file on a local disk. Writes to other files, such as a pipe or a
 * terminal, can block. If this cannot be determined, the result is false.
 */
async function isLocalFile(file: FileHandle, path: string): Promise<boolean> {
  try {
    const [{ type }, about] = await Promise.all([statfs(path), file.stat()])
    return about.isFile() && localFilesystems.has(type)
  } catch {
    return false
  }
}

/**
 * Ignores permission errors, because only root can change the owner of a file. Other users continue
 * with a file that they own.
 */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) throw error
}

/**
 * Writes some of the bytes. Uses the callback API, because the promise-based method of file handles
 * would double the time of a write.
 */
const writeSome = (file: FileHandle, bytes: Buffer, from: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(file.fd, bytes, from, bytes.length - from, null, (error, written) => {
      if (error === null) resolve(written)
      else reject(error)
    })
  })

/** Returns the extension of the name, from the last dot, even if the dot is the first character. */
function extname(path: string): string {
  const name = basename(path)
  const dot = name.lastIndexOf('.')
  return dot === -1 ? '' : name.slice(dot)
}

const newline = Buffer.from('\n')
