/**
 * Writes and reads export files line by line, so that memory use does not grow with the cluster.
 */
import { createHash, type Hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { platform } from '../../lib/platform/current-platform.ts'
import type { Revision } from '../engine.ts'
import {
  type DumpHead,
  type DumpLine,
  printEnd,
  printEntry,
  printHead,
  printLease,
  readLine,
} from './dump-lines.ts'
import { Digest, type Entry, type LeaseLeft, type Source, type Summary } from './entry.ts'

/**
 * Maximum length of a line. It is enough for a value of the maximum size in etcd with every byte
 * escaped.
 */
const LINE_BYTES_MAX = 16 * 1024 * 1024
/** Approximate size of the pages in which keys are read. */
const PAGE_BYTES = 1024 * 1024
/** Permissions of the file. They are strict, because the file contains secrets. */
const MODE = 0o600

export type ToFile = {
  readonly prefix: string
  readonly nowMs: number
  readonly onProgress: (keys: number) => void
}

/**
 * Writes an export. The file is renamed to `file` when it is complete and on disk. An existing file
 * is not replaced.
 */
export async function writeDump(
  source: Source,
  file: string,
  { prefix, nowMs, onProgress }: ToFile,
): Promise<Summary> {
  if (existsSync(file)) throw new Error(`${file} already exists: remove it, or choose another name`)
  // The name is unique, so that files of other processes are never overwritten.
  const partial = `${file}.${process.pid}-${randomBytes(6).toString('hex')}.partial`
  const out = createWriteStream(partial, { flags: 'wx', mode: MODE, flush: true })
  const failed = once(out, 'error').then(([error]: unknown[]) => {
    throw error
  })
  failed.catch(() => undefined)
  const lines = createHash('sha256')
  const write = async (text: string): Promise<void> => {
    lines.update(text)
    if (!out.write(text)) await Promise.race([once(out, 'drain'), failed])
  }
  try {
    const summary = await printAll(source, { prefix, nowMs, onProgress, write, lines })
    out.end()
    await Promise.race([once(out, 'close'), failed])
    nameWhole(partial, file)
    platform.flushFolder(dirname(file))
    return summary
  } catch (error) {
    out.destroy()
    rmSync(partial, { force: true })
    throw error
  }
}

/** Renames the partial file to its final name. Throws if the name is now in use. */
function nameWhole(partial: string, file: string): void {
  if (tryLink(partial, file)) return rmSync(partial)
  // Reserve the name with an empty file, which only this process replaces.
  closeSync(openSync(file, 'wx', MODE))
  try {
    renameSync(partial, file)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}

/**
 * Creates a hard link. Returns false if the file system has no hard links, such as exFAT. Throws if
 * the name is in use.
 */
export function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw error
    return false
  }
}

async function printAll(
  source: Source,
  {
    prefix,
    nowMs,
    onProgress,
    write,
    lines,
  }: ToFile & { readonly write: (text: string) => Promise<void>; readonly lines: Hash },
): Promise<Summary> {
  const digest = new Digest()
  const leases = new Set<bigint>()
  let keys = 0
  await write(printHead({ prefix, revision: source.revision }, nowMs))
  for await (const page of source.pages()) {
    for (const entry of page) {
      const { key, value, lease } = entry
      digest.add(key, value)
      if (lease !== 0n && !leases.has(lease)) {
        leases.add(lease)
        await write(printLease(await source.readLease(lease)))
      }
      await write(printEntry(entry))
    }
    keys += page.length
    onProgress(keys)
  }
  const summary = digest.end()
  await write(printEnd({ ...summary, lines: lines.copy().digest('hex') }))
  return summary
}

/** A complete export. The file has been read to its end once, and every line has been checked. */
export class DumpFile implements Source {
  readonly #file: string
  readonly #leases = new Map<bigint, LeaseLeft>()
  readonly head: DumpHead
  readonly summary: Summary

  /** Opens an export. Rejects if a line, the order of the keys, their number or a hash is wrong. */
  static async open(file: string): Promise<DumpFile> {
    const reading = new Checking()
    for await (const { line, before } of linesOf(file)) {
      const fault = reading.take(line, before)
      if (fault !== undefined) throw damaged(file, fault)
    }
    const { head, summary } = reading.end()
    if (head === undefined) throw damaged(file, 'it does not begin like an export')
    if (summary === undefined) throw damaged(file, 'its end is missing')
    return new DumpFile(file, head, summary)
  }

  private constructor(file: string, head: DumpHead, summary: Summary) {
    this.#file = file
    this.head = head
    this.summary = summary
  }

  get revision(): Revision {
    return this.head.revision
  }

  async *pages(): AsyncGenerator<readonly Entry[], void, void> {
    let page: Entry[] = []
    let bytes = 0
    for await (const { line } of linesOf(this.#file)) {
      if (line.kind === 'lease') this.#leases.set(line.id, line)
      if (line.kind !== 'entry') continue
      page.push(line)
      bytes += line.key.length + line.value.length
      if (bytes < PAGE_BYTES) continue
      yield page
      page = []
      bytes = 0
    }
    if (page.length > 0) yield page
  }

  /** Returns a lease. In the file, its line comes before that of the first key attached to it. */
  async readLease(id: bigint): Promise<LeaseLeft> {
    const found = this.#leases.get(id)
    if (found === undefined) throw damaged(this.#file, `lease ${id} is missing`)
    return found
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/**
 * Checks the lines of an export while they are read. The head must come first and the end last.
 * Each key must be valid for a store.
 */
class Checking {
  readonly #digest = new Digest()
  #head: DumpHead | undefined
  #end: Summary | undefined
  #last = ''

  /** Checks the next line. Returns an error message if the line is invalid. */
  take(line: DumpLine, before: string): string | undefined {
    if (this.#end !== undefined) return 'there is data after its end'
    if ((line.kind === 'head') !== (this.#head === undefined))
      return 'it does not begin like an export'
    if (line.kind === 'head') this.#head = line
    if (line.kind === 'entry') return this.#takeEntry(line)
    if (line.kind !== 'end') return undefined
    const found = this.#digest.end()
    if (line.lines !== before) return 'its lines do not match its hash'
    if (found.sha256 !== line.sha256 || found.keys !== line.keys)
      return 'its keys and values do not match its hash'
    this.#end = found
    return undefined
  }

  end(): { readonly head: DumpHead | undefined; readonly summary: Summary | undefined } {
    return { head: this.#head, summary: this.#end }
  }

  #takeEntry({ key, value, revision, created }: Entry): string | undefined {
    const { prefix = '', revision: newest = 0 } = this.#head ?? {}
    if (!key.startsWith(prefix)) return 'a key is not below its prefix'
    if (key <= this.#last) return 'its keys are not in order'
    if (created < 1 || created > revision || revision > newest)
      return 'a key has impossible revisions'
    this.#last = key
    this.#digest.add(key, value)
    return undefined
  }
}

/** A line of the file. For the last line, `before` is the hash of all previous lines. */
type LineRead = { readonly line: DumpLine; readonly before: string }

async function* linesOf(file: string): AsyncGenerator<LineRead, void, void> {
  const hash = createHash('sha256')
  let [number, length, parts]: [number, number, Buffer[]] = [0, 0, []]
  const read = (): LineRead => {
    const bytes = Buffer.concat(parts)
    parts = []
    length = 0
    number++
    try {
      const line = readLine(bytes.toString('utf8'))
      const before = line.kind === 'end' ? hash.copy().digest('hex') : ''
      hash.update(bytes).update('\n')
      return { line, before }
    } catch (cause) {
      throw damaged(file, `line ${number}: ${messageOf(cause)}`)
    }
  }
  for await (const chunk of createReadStream(file)) {
    const bytes: Buffer = chunk
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      parts.push(bytes.subarray(start, end))
      start = end + 1
      yield read()
    }
    parts.push(bytes.subarray(start))
    length += bytes.length - start
    if (length > LINE_BYTES_MAX)
      throw damaged(file, `line ${number + 1} is longer than any line of an export`)
  }
  if (length > 0) throw damaged(file, 'its last line is cut off')
}

const NEWLINE = 0x0a

const damaged = (file: string, why: string): Error =>
  new Error(`${file} is not a complete export: ${why}`)
