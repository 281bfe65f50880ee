/**
 * Runs a program with the code that V8 compiled for an earlier start. Node's compile cache has what
 * is compiled before a program runs; the functions that are compiled when they are first called,
 * two thousand until a server is ready, are compiled anew at each start. Here the code is saved
 * when the program has run for a while.
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
 * By then a server has started, and V8 has not yet dropped what only the start needs. Saving holds
 * the event loop for 30 to 90 ms, once for each version of the program: that is done when nothing
 * else is, or when the process ends.
 */
const SAVE_AFTER_MS = 2_000
const LOOK_MS = 500
/** One that is busy for longer saves its code when it ends. */
const LOOKS_MAX = 120
/** Of the time between two looks. */
const IDLE_SHARE_MAX = 0.05
const CHECKSUM_BYTES = 4
const programPrefix = 'code-'

export type Program = {
  /**
   * An expression in ASCII: a function of `require`, `__filename`, `__dirname` and `storeThread`,
   * without dynamic imports.
   */
  readonly file: string
  /** The contents of the file, where there is none. */
  readonly text?: string
  /** What `saveCode` wrote for this program, if it comes with it. */
  readonly saved?: Buffer
  /** Another one for any other content. V8 itself compares no more than lengths. */
  readonly id: string
  /** What names of its code begin with, if it is not the program. */
  readonly prefix?: string
  /** Names the flags that code depends on. Absent: those that Node was started with. */
  readonly flags?: string
  /** Handed on to it. */
  readonly storeThread?: Worker | undefined
}

/**
 * `folder`: where the program's code is kept, which only this user may write to; undefined:
 * nowhere.
 */
export function runWithCodeCache(program: Program, folder: string | undefined): void {
  const { script, save } = compileWithCache(program, folder)
  if (save !== undefined) setTimeout(() => saveWhenIdle(save), SAVE_AFTER_MS).unref()
  call(script, program)
}

export type LoadedLibrary = {
  /** What the function of the file returned. */
  readonly exports: unknown
  /** To be called once when all of it that matters has been used. */
  readonly save: () => void
}

/** As `runWithCodeCache`, for a library. Its code is saved after it was used. */
export function loadWithCodeCache(program: Program, folder: string | undefined): LoadedLibrary {
  const { script, save } = compileWithCache(program, folder)
  return {
    exports: call(script, program),
    save: () => {
      if (save !== undefined) saveWhenIdle(save)
    },
  }
}

/** Once: when nothing else is done, or at the end of the process. */
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
  /** Undefined: there is nothing to be saved. */
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

/** `cachedDataRejected` is false only if the code was used. */
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
 * Into pages of the system, as buffers that can be resized are: after some megabytes of its own
 * were freed, the C library would take all that is smaller from its heaps, and keep as much as that
 * of each thread's heap for later.
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

/** Some megabytes, which would stay until garbage is collected: for an idle server, for good. */
function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.resize(0)
}

/** Undefined: there is none, or it is damaged. */
function readCode(path: string): Buffer | undefined {
  try {
    return checkCode(readPages(path))
  } catch {
    // Whatever is wrong with the file: it is written again.
    return undefined
  }
}

/** Undefined: it is damaged, which V8 itself would not notice. */
function checkCode(bytes: Buffer): Buffer | undefined {
  if (bytes.length <= CHECKSUM_BYTES) return undefined
  const code = bytes.subarray(0, -CHECKSUM_BYTES)
  return bytes.readUInt32LE(code.length) === crc32(code) ? code : undefined
}

type CacheFile = {
  readonly folder: string
  readonly name: string
  /** What names of the code of all versions begin with. */
  readonly prefix: string
  /** What names of the same program for other flags begin with. */
  readonly others: string
  readonly code: Buffer
}

/** Replaces the code of other programs. */
function saveCode({ folder, name, prefix, others, code }: CacheFile): void {
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32LE(crc32(code))
  // If it is left over, the next one to save removes it.
  const partial = join(folder, `${prefix}partial-${process.pid}`)
  try {
    writeFileSync(partial, Buffer.concat([code, checksum]), { mode: 0o600 })
    renameSync(partial, join(folder, name))
    for (const other of readdirSync(folder)) {
      if (other.startsWith(prefix) && !other.startsWith(others))
        rmSync(join(folder, other), { force: true })
    }
  } catch {
    // A full disk, or a folder that is read-only: the next start takes as long as this one.
  }
}
