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
 * Delay before the code is saved. By then a server has started, and V8 has not yet dropped the code
 * that only the startup needs. Saving blocks the event loop for 30 to 90 ms, once for each version
 * of the program. So it is done when the event loop is idle, or when the process exits.
 */
const SAVE_AFTER_MS = 2_000
const LOOK_MS = 500
/**
 * Maximum number of checks whether the event loop is idle. A program that is busy for longer saves
 * its code when it exits.
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
   * A file that contains a single expression in ASCII: a function with the parameters `require`,
   * `__filename`, `__dirname` and `storeThread`. It must not contain dynamic imports.
   */
  readonly file: string
  /** The contents of the file. Required if the file does not exist on disk. */
  readonly text?: string
  /**
   * The code that `saveCode` wrote for this program. Absent if the code is not shipped with the
   * program.
   */
  readonly saved?: Buffer
  /**
   * Identifies the content of the file. It is needed because V8 compares only the length of the
   * source with that of the cached code.
   */
  readonly id: string
  /** The prefix of the names of cache files. Absent for the main program. */
  readonly prefix?: string
  /**
   * Identifies the V8 flags on which the code depends. If absent, the flags with which Node was
   * started.
   */
  readonly flags?: string
  /** A worker thread that is passed to the program as a parameter. */
  readonly storeThread?: Worker | undefined
}

/**
 * Runs a program. `folder` is the folder for the code, to which only this user may be able to
 * write. If it is undefined, no code is saved.
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
 * does not save the code: the caller does so after the library was used.
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
 * Reads a file into a resizable buffer, whose memory is mapped directly from the system. Ordinary
 * memory would be returned to the C library when it is freed. The C library would then serve
 * allocations of this size from its heaps, and retain up to this amount of free memory for each
 * thread.
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
 * Releases some megabytes immediately. Otherwise they would be retained until the next garbage
 * collection, which may never happen in an idle server.
 */
function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.resize(0)
}

/** Returns the saved code. Returns undefined if there is no code, or if it is damaged. */
function readCode(path: string): Buffer | undefined {
  try {
    return checkCode(readPages(path))
  } catch {
    // The error is ignored, because the program then runs without saved code and saves it again.
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
  /** The prefix of the names of cache files for all versions of the program. */
  readonly prefix: string
  /**
   * The prefix of the names of cache files for this version of the program, whatever its flags are.
   */
  readonly others: string
  readonly code: Buffer
}

/** Saves the code, and deletes the code of other versions. */
function saveCode({ folder, name, prefix, others, code }: CacheFile): void {
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32LE(crc32(code))
  // If this temporary file is left behind, the next save deletes it.
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
