/** Rotated files of the audit log: removed by number and by age, and compressed. */
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Log } from '../../lib/telemetry/log.ts'

export type OldFilesOptions = {
  readonly directory: string
  /** What the names begin with, before the time, and end with. */
  readonly prefix: string
  readonly extension: string
  /** 0: any number. */
  readonly filesMax: number
  /** 0: however old. */
  readonly daysMax: number
  readonly isCompressed: boolean
  readonly wallMs: () => number
  readonly log: Log
}

const DAY_MS = 86_400_000
/** What the name of a compressed file ends with. */
export const COMPRESSED = '.gz'

type OldFile = { readonly name: string; readonly ms: number; readonly isCompressed: boolean }

export class OldFiles {
  readonly #options: OldFilesOptions
  #tidying: Promise<void> | undefined
  #isAsked = false

  constructor(options: OldFilesOptions) {
    this.#options = options
  }

  /** Removes and compresses files in the background; errors are logged. */
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
    // A file and its compressed copy, which a crash may have left beside it, are one.
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

  /** The newest first. */
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

/** NaN if the text is not such a time. */
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
