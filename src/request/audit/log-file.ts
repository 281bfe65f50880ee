/**
 * The file of the audit log. It is rotated by size; old files are named, removed and compressed as
 * upstream does. A short write to a file of a local disk is a copy into the page cache: it is made
 * at once, since to have a thread make it costs several times as much. Whatever may block longer is
 * left to threads: long writes, other files, and all writes for a minute after one that took long.
 */
import { write, writeSync } from 'node:fs'
import { type FileHandle, open, rename, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { NEWLINE } from '../../lib/bytes/ascii.ts'
import { makeFolders } from '../../lib/process/files.ts'
import { COMPRESSED, OldFiles, type OldFilesOptions } from './old-files.ts'

export type LogFileOptions = {
  readonly path: string
  /** 0: 100 MB. */
  readonly megabytesMax: number
  readonly old: Omit<OldFilesOptions, 'directory' | 'prefix' | 'extension'>
  readonly wallMs: () => number
  readonly monotonicMs: () => number
}

/** What is copied in some 20 µs; a write of many requests has half as many. */
const SHORT_BYTES_MAX = 64 << 10
/**
 * As many leave room for what comes in the rest of a turn, and are still in the processor's cache.
 * To wake a thread and be woken by it costs as much as to print ten events.
 */
const FULL_BYTES = 48 << 10
/**
 * A short write that takes longer waits for the disk (less may have been another process's turn on
 * the CPU), …
 */
const SHORT_MS_MAX = 10
/** … as the next ones may: threads make them for so long. */
const SLOW_MS = 60_000

/**
 * By the numbers of statfs: ext4, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs. Others may ask another
 * server.
 */
const localFilesystems: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1,
])

/** Of a folder that is made. */
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
  /** The last write has left a part of a line behind. */
  #isCut = false
  /** Of a file that is written to at once. */
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

  /** Creates the file if it does not exist. Fails if nothing can be written there. */
  static async create(options: LogFileOptions): Promise<LogFile> {
    makeFolders(dirname(options.path), FOLDER_MODE)
    const file = await open(options.path, 'a', 0o600)
    await file.close()
    return new LogFile(options)
  }

  /** `lines`: each ends in a newline. Fails if they are not all written. */
  async append(lines: Buffer): Promise<void> {
    const file = this.#file ?? (await this.#open(lines.indexOf(NEWLINE)))
    if (this.#bytes + lines.length <= this.#bytesMax) return this.#write(file, lines)
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(NEWLINE, start) + 1
      await this.#appendOne(lines.subarray(start, end))
      start = end
    }
  }

  /** Appends one line, which is in pieces and ends in a newline. Fails if it is not all written. */
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

  /** A file that has room for a line of this many bytes. */
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

  /** A file that is full already is rotated at once. */
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

  /** The new file has the mode of the old one, and its owner where that is allowed. */
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
   * `audit.log` becomes `audit-2025-01-31T12-00-00.000.log`; another millisecond if there is such a
   * file, or was before it was compressed.
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

/** Not a pipe or a terminal, whose reader may not read. If it cannot be told, threads write. */
async function isLocalFile(file: FileHandle, path: string): Promise<boolean> {
  try {
    const [{ type }, about] = await Promise.all([statfs(path), file.stat()])
    return about.isFile() && localFilesystems.has(type)
  } catch {
    return false
  }
}

/** Only root may give a file away; others write on into a file of their own. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) throw error
}

/** The promises of file handles cost as much as the write. */
const writeSome = (file: FileHandle, bytes: Buffer, from: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(file.fd, bytes, from, bytes.length - from, null, (error, written) => {
      if (error === null) resolve(written)
      else reject(error)
    })
  })

/** From the last dot on, even if that is the first character. */
function extname(path: string): string {
  const name = basename(path)
  const dot = name.lastIndexOf('.')
  return dot === -1 ? '' : name.slice(dot)
}

const newline = Buffer.from('\n')
