/**
 * The file of the audit log. Events that come while others are being written are written together, so that one write to the disk serves
 * many requests and none blocks the event loop. It is rotated by size; old files are named, removed and compressed as upstream does.
 */
import { write } from 'node:fs'
import { type FileHandle, mkdir, open, rename, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { OldFiles, type OldFilesOptions } from './old-files.ts'

export type LogFileOptions = {
  readonly path: string
  /** 0: 100 MB. */
  readonly megabytesMax: number
  readonly old: Omit<OldFilesOptions, 'directory' | 'prefix' | 'extension'>
  readonly wallMs: () => number
}

const MEGABYTE = 2 ** 20
const MEGABYTES_MAX_DEFAULT = 100
/** Some hundred events without objects. */
const SPACE_BYTES = 1 << 20

/** Appends to a file, one call at a time. */
export class LogFile {
  readonly #options: LogFileOptions
  readonly #bytesMax: number
  readonly #old: OldFiles
  /** There is one write at a time, so its bytes can always be in the same memory. */
  readonly #space = Buffer.allocUnsafeSlow(SPACE_BYTES)
  #file: FileHandle | undefined
  #bytes = 0
  /** The last write has left a part of a line behind. */
  #isCut = false

  constructor(options: LogFileOptions) {
    const { path, megabytesMax, old } = options
    this.#options = options
    this.#bytesMax = (megabytesMax || MEGABYTES_MAX_DEFAULT) * MEGABYTE
    const extension = extname(path)
    this.#old = new OldFiles({ ...old, directory: dirname(path), prefix: `${basename(path, extension)}-`, extension })
  }

  /** Creates the file if it does not exist. Fails if nothing can be written there. */
  static async create(options: LogFileOptions): Promise<LogFile> {
    await mkdir(dirname(options.path), { recursive: true, mode: 0o700 })
    const file = await open(options.path, 'a', 0o600)
    await file.close()
    return new LogFile(options)
  }

  /** Fails if the lines are not all written. */
  async append(lines: readonly string[]): Promise<void> {
    let text = ''
    for (const line of lines) text += `${line}\n`
    const all = this.#encode(text)
    const file = this.#file ?? (await this.#open(Buffer.byteLength(lines[0] ?? '')))
    if (this.#bytes + all.length <= this.#bytesMax) return this.#write(file, all)
    for (const line of lines) await this.#appendOne(this.#encode(`${line}\n`))
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
    await this.#old.settled()
  }

  async #appendOne(line: Buffer): Promise<void> {
    if (line.length > this.#bytesMax) {
      throw new Error(`write length ${line.length} exceeds maximum file size ${this.#bytesMax}`)
    }
    const file = this.#file ?? (await this.#open(line.length))
    await this.#write(this.#bytes + line.length > this.#bytesMax ? await this.#rotate() : file, line)
  }

  async #write(file: FileHandle, bytes: Buffer): Promise<void> {
    const whole = this.#isCut ? Buffer.concat([newline, bytes]) : bytes
    let written = 0
    try {
      while (written < whole.length) written += await writeSome(file, whole, written)
      this.#isCut = false
    } catch (error) {
      this.#isCut ||= written > 0
      throw error
    } finally {
      this.#bytes += written
    }
  }

  #encode(text: string): Buffer {
    if (text.length * 3 > SPACE_BYTES) return Buffer.from(text)
    return this.#space.subarray(0, this.#space.write(text))
  }

  /** A file that is full already is rotated at once. */
  async #open(neededBytes: number): Promise<FileHandle> {
    this.#old.tidy()
    const { path } = this.#options
    const known = await stat(path).catch(() => undefined)
    if (known === undefined || known.size + neededBytes >= this.#bytesMax) return this.#rotate()
    this.#file = await open(path, 'a')
    this.#bytes = known.size
    return this.#file
  }

  /** The new file has the mode of the old one, and its owner where that is allowed. */
  async #rotate(): Promise<FileHandle> {
    const { path } = this.#options
    const file = this.#file
    this.#file = undefined
    await file?.close()
    await mkdir(dirname(path), { recursive: true, mode: 0o755 })
    const known = await stat(path).catch(() => undefined)
    if (known !== undefined) await rename(path, this.#nameOfOld())
    const made = await open(path, 'w', known?.mode ?? 0o600)
    this.#file = made
    this.#bytes = 0
    this.#isCut = false
    if (known !== undefined && known.uid !== process.getuid?.())
      await made.chown(known.uid, known.gid).catch(unlessRefused)
    this.#old.tidy()
    return made
  }

  /** `audit.log` becomes `audit-2025-01-31T12-00-00.000.log`. */
  #nameOfOld(): string {
    const { path, wallMs } = this.#options
    const extension = extname(path)
    const time = new Date(wallMs()).toISOString().slice(0, -1).replaceAll(':', '-')
    return join(dirname(path), `${basename(path, extension)}-${time}${extension}`)
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
