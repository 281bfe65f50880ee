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
// This call changes the V8 flags, so it must come after the program has started. Node's own modules
// are compiled with the original flags, and compiling them again would take 5 MB.
if (process.argv[2] === 'dev') optimizeWhenUsed()

/**
 * Starts the SQLite thread early, because its start takes as long as loading the program. Only
 * commands that most likely need the thread start it here. The program terminates the thread if it
 * is not needed.
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
    // The thread could not be started. The program tries again when it needs the thread, and
    // reports what to do if that fails.
    return undefined
  }
}
