/** Removes old files of the audit log by number and by age, and compresses them. */
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Log } from '../../lib/telemetry/log.ts'

export type OldFilesOptions = {
  readonly directory: string
  /** File names consist of this prefix, a timestamp and the extension. */
  readonly prefix: string
  readonly extension: string
  /** Maximum number of old files. 0 means no limit. */
  readonly filesMax: number
  /** Maximum age of old files. 0 means no limit. */
  readonly daysMax: number
  readonly isCompressed: boolean
  readonly wallMs: () => number
  readonly log: Log
}

const DAY_MS = 86_400_000
/** Suffix of compressed files. */
export const COMPRESSED = '.gz'

type OldFile = { readonly name: string; readonly ms: number; readonly isCompressed: boolean }

export class OldFiles {
  readonly #options: OldFilesOptions
  #tidying: Promise<void> | undefined
  #isAsked = false

  constructor(options: OldFilesOptions) {
    this.#options = options
  }

  /** Removes and compresses files in the background. Errors are logged. */
  tidy(): void {
    const { filesMax, daysMax, isCompressed } = this.#options
    if (filesMax === 0 && daysMax === 0 && !isCompressed) return
    this.#isAsked = true
    this.#tidying ??= this.#run()
  }

  async settled(): Promise<void> {
    await this.#tidying
  }

  async #run(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false
      try {
        await this.#tidyOnce()
      } catch (error) {
        this.#options.log('error', 'old audit logs could not be removed or compressed', {
          error: String(error),
        })
      }
    }
    this.#tidying = undefined
  }

  async #tidyOnce(): Promise<void> {
    const { directory, filesMax, daysMax, isCompressed, wallMs } = this.#options
    const files = await this.#list()
    const oldestMs = daysMax === 0 ? -Infinity : wallMs() - daysMax * DAY_MS
    // Count a file and its compressed copy as one. Both can exist after a crash.
    const times = [...new Set(files.map(({ ms }) => ms))]
    const kept = new Set(
      (filesMax === 0 ? times : times.slice(0, filesMax)).filter((ms) => ms >= oldestMs),
    )
    for (const { name, ms } of files) if (!kept.has(ms)) await unlink(join(directory, name))
    if (!isCompressed) return
    for (const file of files) {
      if (kept.has(file.ms) && !file.isCompressed) await compress(join(directory, file.name))
    }
  }

  /** Returns the old log files, the newest first. */
  async #list(): Promise<OldFile[]> {
    const names = await readdir(this.#options.directory)
    return names
      .flatMap((name) => this.#parse(name) ?? [])
      .toSorted((one, other) => other.ms - one.ms)
  }

  #parse(name: string): OldFile | undefined {
    const { prefix, extension } = this.#options
    if (!name.startsWith(prefix)) return undefined
    for (const end of [extension, `${extension}${COMPRESSED}`]) {
      const ms = name.endsWith(end)
        ? timeOf(name.slice(prefix.length, name.length - end.length))
        : Number.NaN
      if (!Number.isNaN(ms)) return { name, ms, isCompressed: end !== extension }
    }
    return undefined
  }
}

/**
 * Parses the timestamp in the name of an old file. Returns NaN if the string is not such a
 * timestamp.
 */
function timeOf(text: string): number {
  const [, day = '', hours = '', minutes = '', seconds = ''] =
    /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(text) ?? []
  return day === '' ? Number.NaN : Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)
}

async function compress(path: string): Promise<void> {
  const { mode } = await stat(path)
  const to = `${path}${COMPRESSED}`
  try {
    await pipeline(createReadStream(path), createGzip(), createWriteStream(to, { mode }))
  } catch (error) {
    await unlink(to).catch(() => undefined)
    throw error
  }
  await unlink(path)
}
