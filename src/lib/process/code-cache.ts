/**
 * Runs a program with the code that V8 compiled in an earlier run. Node's compile cache contains
 * only code that is compiled before a program runs. It does not contain functions that are compiled
 * when they are first called. About two thousand functions are compiled in this way until a server
 * is ready. To avoid compiling them again at each start, the code is saved after the program has
 * run for a while.
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
 * Delay before the code is saved. By then a server has started, and V8 still has the code that only
 * the startup needs. Saving happens once for each version of the program, and blocks the event loop
 * for 30 to 90 ms. So it waits until the event loop is idle, or the process exits.
 */
const SAVE_AFTER_MS = 2_000
const LOOK_MS = 500
/**
 * Maximum number of checks whether the event loop is idle. If it never is, the code is saved when
 * the process exits.
 */
const LOOKS_MAX = 120
/**
 * The event loop counts as idle if it was busy for at most this share of the time between two
 * checks.
 */
const IDLE_SHARE_MAX = 0.05
const CHECKSUM_BYTES = 4
const programPrefix = 'code-'

export type Program = {
  /**
   * The file with the source code. It contains one expression in ASCII: a function with the
   * parameters `require`, `__filename`, `__dirname` and `storeThread`. It must not contain dynamic
   * imports.
   */
  readonly file: string
  /** The contents of the file. Required if the file does not exist on disk. */
  readonly text?: string
  /**
   * Compiled code of this program that is distributed with it, as written by `saveCode`. Absent if
   * there is none.
   */
  readonly saved?: Buffer
  /**
   * Identifies the content of the file. V8 itself accepts cached code for any source of the same
   * length.
   */
  readonly id: string
  /**
   * The prefix of the names of this program's cache files. By default, the prefix of the main
   * program.
   */
  readonly prefix?: string
  /**
   * Identifies the V8 flags with which the code is compiled. The default identifies the flags with
   * which Node was started.
   */
  readonly flags?: string
  /** A worker thread that is passed to the program as a parameter. */
  readonly storeThread?: Worker | undefined
}

/**
 * Runs a program. Compiled code is read from and saved to `folder`, to which no other user may have
 * write access. If `folder` is undefined, no code is saved.
 */
export function runWithCodeCache(program: Program, folder: string | undefined): void {
  const { script, save } = compileWithCache(program, folder)
  if (save !== undefined) setTimeout(() => saveWhenIdle(save), SAVE_AFTER_MS).unref()
  call(script, program)
}

export type LoadedLibrary = {
  /** The return value of the function in the file. */
  readonly exports: unknown
  /** Saves the code. Call this once, after all important functions have been called. */
  readonly save: () => void
}

/**
 * Loads a library with the code that V8 compiled in an earlier run. Unlike `runWithCodeCache`, this
 * function does not save the code. The caller must call `save` after it has used the library.
 */
export function loadWithCodeCache(program: Program, folder: string | undefined): LoadedLibrary {
  const { script, save } = compileWithCache(program, folder)
  return {
    exports: call(script, program),
    save: () => {
      if (save !== undefined) saveWhenIdle(save)
    },
  }
}

/** Saves the code once: when the event loop is idle, or when the process exits. */
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
  /** Writes the compiled code to a file. Undefined if the code need not be saved. */
  readonly save: (() => void) | undefined
}

function compileWithCache(program: Program, folder: string | undefined): CompiledScript {
  const { file, id, prefix = programPrefix } = program
  // The file name identifies the flags, because V8 rejects code that was compiled with other flags.
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
 * Compiles the text. The property `cachedDataRejected` of the script is false only if the cached
 * code was used.
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
 * Reads a file into a resizable buffer. The operating system gets the memory of such a buffer back
 * when the buffer is freed. The C library, in contrast, would keep ordinary memory of this size for
 * later allocations, separately for each thread.
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

/**
 * Frees a buffer of some megabytes immediately. An idle server may never run another garbage
 * collection that would free it.
 */
function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.resize(0)
}

/** Returns the saved code. Returns undefined if there is no code, or if it is damaged. */
function readCode(path: string): Buffer | undefined {
  try {
    return checkCode(readPages(path))
  } catch {
    // The file is missing or cannot be read. The program then runs without saved code, and saves it
    // again.
    return undefined
  }
}

/**
 * Returns the code without its checksum, or undefined if the code is damaged. V8 itself does not
 * detect all damage.
 */
function checkCode(bytes: Buffer): Buffer | undefined {
  if (bytes.length <= CHECKSUM_BYTES) return undefined
  const code = bytes.subarray(0, -CHECKSUM_BYTES)
  return bytes.readUInt32LE(code.length) === crc32(code) ? code : undefined
}

type CacheFile = {
  readonly folder: string
  readonly name: string
  /** The part of the file name that is the same for all versions of the program. */
  readonly prefix: string
  /** The part of the file name that is the same for all V8 flags with which this version runs. */
  readonly others: string
  readonly code: Buffer
}

/** Saves the code, and deletes the cache files of other versions of the program. */
function saveCode({ folder, name, prefix, others, code }: CacheFile): void {
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32LE(crc32(code))
  // A process that is killed here leaves a temporary file behind. The next save deletes the file.
  const partial = join(folder, `${prefix}partial-${process.pid}`)
  try {
    writeFileSync(partial, Buffer.concat([code, checksum]), { mode: 0o600 })
    renameSync(partial, join(folder, name))
    for (const other of readdirSync(folder)) {
      if (other.startsWith(prefix) && !other.startsWith(others))
        rmSync(join(folder, other), { force: true })
    }
  } catch {
    // The disk is full, or the folder is read-only. The code is not saved, so the next start is not
    // faster.
  }
}
