/**
 * The file of the audit log. It is rotated by size. Old files are named, removed and compressed as
 * in kube-apiserver.
 *
 * A short write to a file on a local disk is a copy into the page cache. It is done synchronously,
 * because a thread would cost several times as much. Writes that may block for longer are left to
 * threads: long writes, writes to other files, and all writes for a minute after a slow one.
 */
import { write, writeSync } from 'node:fs'
import { type FileHandle, open, rename, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { NEWLINE } from '../../lib/bytes/ascii.ts'
import { makeFolders } from '../../lib/process/files.ts'
import { COMPRESSED, OldFiles, type OldFilesOptions } from './old-files.ts'

export type LogFileOptions = {
  readonly path: string
  /** 0 means 100 MB. */
  readonly megabytesMax: number
  readonly old: Omit<OldFilesOptions, 'directory' | 'prefix' | 'extension'>
  readonly wallMs: () => number
  readonly monotonicMs: () => number
}

/**
 * Maximum size of a synchronous write, which takes about 20 µs. A write of many requests is about
 * half as large.
 */
const SHORT_BYTES_MAX = 64 << 10
/**
 * Number of bytes that are written without waiting for more. It leaves room for lines in the rest
 * of the tick, so that the write is still short: using a thread costs as much as printing ten
 * events. This many bytes are also still in the processor's cache.
 */
const FULL_BYTES = 48 << 10
/**
 * A short write that takes longer than this waits for the disk. A shorter delay may be due to
 * another process on the CPU.
 */
const SHORT_MS_MAX = 10
/** How long all writes are left to threads after such a slow write. */
const SLOW_MS = 60_000

/**
 * Local filesystems, by their numbers in statfs: ext4, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs.
 * Others may call another server.
 */
const localFilesystems: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1,
])

/** Mode of folders that are created. */
const FOLDER_MODE = 0o700

const MEGABYTE = 2 ** 20
const MEGABYTES_MAX_DEFAULT = 100

/** Appends to a file, one call at a time. */
export class LogFile {
  readonly #options: LogFileOptions
  readonly #bytesMax: number
  readonly #old: OldFiles
  #file: FileHandle | undefined
  #isLocal = false
  /** Until when threads write, on the monotonic clock. */
  #slowUntilMs = -Infinity
  #bytes = 0
  /** Whether the last write has left an incomplete line behind. */
  #isCut = false
  /**
   * Number of bytes that should be written without waiting for more. Finite only while short writes
   * are synchronous.
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
   * Appends one line, which is in pieces and ends in a newline. Fails if not all of it is written.
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

  /** Returns a file that has room for a line of this size. */
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

  /** Starts a new file. It has the mode of the old one and, where that is allowed, its owner. */
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
   * Returns a name for the old file: `audit.log` becomes `audit-2025-01-31T12-00-00.000.log`. A
   * later millisecond is used if this file exists, or existed before it was compressed.
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
 * Whether the file is on a local disk, and not a pipe or a terminal, whose reader may not read. If
 * this cannot be determined, threads write.
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
 * Ignores a refusal: only root may give a file away. Other users continue with a file of their own.
 */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) throw error
}

/** Writes some of the bytes. The promises of file handles would cost as much as the write. */
const writeSome = (file: FileHandle, bytes: Buffer, from: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(file.fd, bytes, from, bytes.length - from, null, (error, written) => {
      if (error === null) resolve(written)
      else reject(error)
    })
  })

/** Returns the end of the name from the last dot on, even if that is the first character. */
function extname(path: string): string {
  const name = basename(path)
  const dot = name.lastIndexOf('.')
  return dot === -1 ? '' : name.slice(dot)
}

const newline = Buffer.from('\n')
