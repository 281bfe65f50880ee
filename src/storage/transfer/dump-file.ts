/** Writes and reads the file of an export, a line at a time: memory does not grow with the cluster. */
import { once } from 'node:events'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  openSync,
  closeSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Revision } from '../engine.ts'
import { type DumpHead, type DumpLine, printEnd, printEntry, printHead, printLease, readLine } from './dump-lines.ts'
import { Digest, type Entry, type LeaseLeft, type Source, type Summary } from './entry.ts'

/** A value of etcd's largest size, with every byte escaped. */
const LINE_BYTES_MAX = 16 * 1024 * 1024
/** Entries are handed on in pages of about so many bytes. */
const PAGE_BYTES = 1024 * 1024
/** Secrets are in it. */
const MODE = 0o600

export type ToFile = {
  readonly prefix: string
  readonly nowMs: number
  readonly onProgress: (keys: number) => void
}

/** The file gets its name when it is whole and on the disk; one that exists is not replaced. */
export async function writeDump(source: Source, file: string, { prefix, nowMs, onProgress }: ToFile): Promise<Summary> {
  if (existsSync(file)) throw new Error(`${file} exists already: remove it, or choose another name`)
  const partial = `${file}.partial`
  // What an earlier one left behind, or somebody else put there, is not written into.
  rmSync(partial, { force: true })
  const out = createWriteStream(partial, { flags: 'wx', mode: MODE, flush: true })
  const failed = once(out, 'error').then(([error]: unknown[]) => {
    throw error
  })
  failed.catch(() => undefined)
  const write = async (text: string): Promise<void> => {
    if (!out.write(text)) await Promise.race([once(out, 'drain'), failed])
  }
  try {
    const summary = await printAll(source, { prefix, nowMs, onProgress, write })
    out.end()
    await Promise.race([once(out, 'close'), failed])
    renameSync(partial, file)
    syncFolder(dirname(file))
    return summary
  } catch (error) {
    out.destroy()
    rmSync(partial, { force: true })
    throw error
  }
}

async function printAll(
  source: Source,
  { prefix, nowMs, onProgress, write }: ToFile & { readonly write: (text: string) => Promise<void> },
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
  await write(printEnd(summary))
  return summary
}

export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** An export that is whole: it is read to its end once before, and every line was checked. */
export class DumpFile implements Source {
  readonly #file: string
  readonly #leases = new Map<bigint, LeaseLeft>()
  readonly head: DumpHead
  readonly summary: Summary

  /** Fails if a line, the order of keys, their number or their hash is wrong. */
  static async open(file: string): Promise<DumpFile> {
    let head: DumpHead | undefined
    let end: Summary | undefined
    const digest = new Digest()
    let last = ''
    for await (const line of linesOf(file)) {
      if (line.kind === 'head') head = line
      if (line.kind === 'end') end = line
      if (line.kind !== 'entry') continue
      if (head === undefined || !line.key.startsWith(head.prefix))
        throw damaged(file, `${line.key} is not below its prefix`)
      if (line.key <= last) throw damaged(file, `${line.key} is not in its order`)
      if (line.revision > head.revision) throw damaged(file, `${line.key} is newer than the export`)
      last = line.key
      digest.add(line.key, line.value)
    }
    const found = digest.end()
    if (head === undefined) throw damaged(file, 'it does not begin as an export does')
    if (end === undefined) throw damaged(file, 'its end is missing')
    if (found.sha256 !== end.sha256 || found.keys !== end.keys)
      throw damaged(file, 'keys and values are not those of its hash')
    return new DumpFile(file, head, found)
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
    for await (const line of linesOf(this.#file)) {
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

  /** A lease stands before the first key that has it. */
  async readLease(id: bigint): Promise<LeaseLeft> {
    const found = this.#leases.get(id)
    if (found === undefined) throw damaged(this.#file, `lease ${id} is missing`)
    return found
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

async function* linesOf(file: string): AsyncGenerator<DumpLine, void, void> {
  let number = 0
  let parts: Buffer[] = []
  let length = 0
  const read = (): DumpLine => {
    const text = Buffer.concat(parts).toString('utf8')
    parts = []
    length = 0
    number++
    try {
      return readLine(text)
    } catch (cause) {
      throw damaged(file, `line ${number}: ${cause instanceof Error ? cause.message : String(cause)}`)
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
    if (length > LINE_BYTES_MAX) throw damaged(file, `line ${number + 1} is longer than any of an export`)
  }
  if (length > 0) throw damaged(file, 'its last line is cut off')
}

const NEWLINE = 0x0a

const damaged = (file: string, why: string): Error => new Error(`${file} is no whole export: ${why}`)
