/**
 * Runs a program with the code that V8 compiled for an earlier start. Node's compile cache only has
 * code that is compiled before a program runs. Functions that are compiled when they are first
 * called, two thousand until a server is ready, would be compiled again at each start. So the code
 * is saved after the program has run for a while.
 */
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Script } from 'node:vm'
import type { Worker } from 'node:worker_threads'
import { crc32 } from 'node:zlib'
import { withGivenFlags } from './optimize-when-used.ts'

/**
 * Delay before the code is saved. By then a server has started, and V8 has not yet dropped the code
 * that only the start needs. Saving blocks the event loop for 30 to 90 ms, once for each version of
 * the program. So it is done when the loop is idle, or when the process ends.
 */
const SAVE_AFTER_MS = 2_000
const LOOK_MS = 500
/** Maximum number of checks. A program that is busy for longer saves its code when it ends. */
const LOOKS_MAX = 120
/** Maximum share of the time between two checks in which an idle loop is busy. */
const IDLE_SHARE_MAX = 0.05
const CHECKSUM_BYTES = 4
const programPrefix = 'code-'

export type Program = {
  /**
   * A file with one expression in ASCII: a function of `require`, `__filename`, `__dirname` and
   * `storeThread`, without dynamic imports.
   */
  readonly file: string
  /** The contents of the file, if it does not exist on disk. */
  readonly text?: string
  /** The code that `saveCode` wrote for this program, if it is shipped with the program. */
  readonly saved?: Buffer
  /** Identifies the content of the file. V8 itself compares only its length. */
  readonly id: string
  /** The prefix of the names of cache files, if this is not the main program. */
  readonly prefix?: string
  /** Identifies the flags that code depends on. Absent: the flags that Node was started with. */
  readonly flags?: string
  /** Passed on to the program. */
  readonly storeThread?: Worker | undefined
}

/**
 * Runs a program. `folder` is where its code is kept, and must be writable only for this user; if
 * it is undefined, no code is kept.
 */
export function runWithCodeCache(program: Program, folder: string | undefined): void {
  const { script, save } = compileWithCache(program, folder)
  if (save !== undefined) setTimeout(() => saveWhenIdle(save), SAVE_AFTER_MS).unref()
  call(script, program)
}

export type LoadedLibrary = {
  /** The value that the function of the file returned. */
  readonly exports: unknown
  /** Saves the code. Call it once, after everything that matters has been used. */
  readonly save: () => void
}

/** Like `runWithCodeCache`, for a library. Its code is saved after it was used. */
export function loadWithCodeCache(program: Program, folder: string | undefined): LoadedLibrary {
  const { script, save } = compileWithCache(program, folder)
  return {
    exports: call(script, program),
    save: () => {
      if (save !== undefined) saveWhenIdle(save)
    },
  }
}

/** Saves once: when the event loop is idle, or at the end of the process. */
function saveWhenIdle(save: () => void): void {
  const saveNow = (): void => {
    clearInterval(timer)
    process.off('exit', saveNow)
    save()
  }
  process.once('exit', saveNow)
  let before = performance.eventLoopUtilization()
  let looks = 0
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const isIdle = performance.eventLoopUtilization(now, before).utilization < IDLE_SHARE_MAX
    before = now
    if (isIdle) saveNow()
    else if (++looks === LOOKS_MAX) clearInterval(timer)
  }, LOOK_MS)
  timer.unref()
}

const call = (script: Script, { file, storeThread }: Program): unknown =>
  script.runInThisContext()(createRequire(file), file, join(file, '..'), storeThread)

type CompiledScript = {
  readonly script: Script
  /** Undefined if there is nothing to save. */
  readonly save: (() => void) | undefined
}

function compileWithCache(program: Program, folder: string | undefined): CompiledScript {
  const { file, id, prefix = programPrefix } = program
  // V8 rejects code that was compiled with other flags.
  const flags = program.flags ?? crc32(process.execArgv.join(' ')).toString(16)
  const others = `${prefix}${process.version}-${process.arch}-${id}-`
  const name = `${others}${flags}`
  const own = program.saved && checkCode(program.saved)
  const text = program.text ?? readText(file)
  let script = own && compile(text, file, own)
  if (script?.cachedDataRejected !== false) {
    const code = folder === undefined ? undefined : readCode(join(folder, name))
    script = compile(text, file, code)
    if (code !== undefined) free(code)
  }
  if (folder === undefined || script.cachedDataRejected === false)
    return { script, save: undefined }
  const compiled = script
  return {
    script,
    save: () =>
      saveCode({
        folder,
        name,
        prefix,
        others,
        code: withGivenFlags(() => compiled.createCachedData()),
      }),
  }
}

/**
 * Compiles the text. `cachedDataRejected` of the script is false only if the cached code was used.
 */
const compile = (text: string, filename: string, cachedData: Buffer | undefined): Script =>
  withGivenFlags(
    () => new Script(text, { filename, ...(cachedData === undefined ? {} : { cachedData }) }),
  )

function readText(file: string): string {
  const bytes = readPages(file)
  const text = bytes.toString('latin1')
  free(bytes)
  return text
}

/**
 * Reads a file into memory that is mapped from the system, as resizable buffers are. Ordinary
 * memory would be freed to the C library, which then serves allocations up to this size from its
 * heaps, and keeps that much free memory for each thread.
 */
function readPages(file: string): Buffer {
  const open = openSync(file, 'r')
  try {
    const { size } = fstatSync(open)
    const bytes = Buffer.from(new ArrayBuffer(size, { maxByteLength: size }))
    for (let at = 0, read = 1; at < size && read > 0; at += read)
      read = readSync(open, bytes, at, size - at, null)
    return bytes
  } finally {
    closeSync(open)
  }
}

/** Frees some megabytes that would stay until garbage is collected: in an idle server, forever. */
function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.resize(0)
}

/** Returns undefined if there is no code, or if it is damaged. */
function readCode(path: string): Buffer | undefined {
  try {
    return checkCode(readPages(path))
  } catch {
    // The file is written again, whatever is wrong with it.
    return undefined
  }
}

/**
 * Returns the code without its checksum, or undefined if it is damaged. V8 itself would not notice.
 */
function checkCode(bytes: Buffer): Buffer | undefined {
  if (bytes.length <= CHECKSUM_BYTES) return undefined
  const code = bytes.subarray(0, -CHECKSUM_BYTES)
  return bytes.readUInt32LE(code.length) === crc32(code) ? code : undefined
}

type CacheFile = {
  readonly folder: string
  readonly name: string
  /** The prefix of the file names of all versions. */
  readonly prefix: string
  /** The prefix of the file names of this program, for any flags. */
  readonly others: string
  readonly code: Buffer
}

/** Saves the code, and removes that of other versions. */
function saveCode({ folder, name, prefix, others, code }: CacheFile): void {
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32LE(crc32(code))
  // If this file is left over, the next save removes it.
  const partial = join(folder, `${prefix}partial-${process.pid}`)
  try {
    writeFileSync(partial, Buffer.concat([code, checksum]), { mode: 0o600 })
    renameSync(partial, join(folder, name))
    for (const other of readdirSync(folder)) {
      if (other.startsWith(prefix) && !other.startsWith(others))
        rmSync(join(folder, other), { force: true })
    }
  } catch {
    // The disk is full, or the folder is read-only: the next start is as slow as this one.
  }
}
