/**
 * Entry point of the built package: starts the program that the build placed next to it, with a V8
 * code cache.
 */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { cacheFolder } from '../lib/process/cache-folder.ts'
import { runWithCodeCache } from '../lib/process/code-cache.ts'
import { optimizeWhenUsed } from '../lib/process/optimize-when-used.ts'

/** The build replaces this name with a checksum of the program. */
declare const PROGRAM_ID: string

const file = join(import.meta.dirname, 'program.cjs')
runWithCodeCache(
  { file, id: PROGRAM_ID, storeThread: startStoreThread() },
  cacheFolder(process.env),
)
// Change the V8 flags only after the program has started. Node's own modules were compiled with the
// original flags. If they had to be compiled again, this would take 5 MB of memory.
if (process.argv[2] === 'dev') optimizeWhenUsed()

/**
 * Starts the SQLite thread at once for commands that most likely need it. Starting the thread takes
 * as long as loading the program, so both happen at the same time. If the program does not need the
 * thread, it terminates the thread.
 */
function startStoreThread(): Worker | undefined {
  const [, , command, ...args] = process.argv
  const hasOther = args.some((argument) =>
    /^(?:--(?:ephemeral|etcd|store|help)|-h$)/.test(argument),
  )
  if (command !== 'dev' || hasOther) return undefined
  try {
    const worker = new Worker(join(import.meta.dirname, 'sqlite-worker.cjs'))
    worker.unref()
    return worker
  } catch {
    // The program will try again when it needs the thread. If that also fails, the program reports
    // what to do.
    return undefined
  }
}
