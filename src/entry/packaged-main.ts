/**
 * The entry of the built package: starts the program that the build put beside it, with code that
 * was compiled earlier.
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
// Not earlier: Node's own modules are already compiled, for its own flags. For other flags they
// would be compiled again, which takes 5 MB.
if (process.argv[2] === 'dev') optimizeWhenUsed()

/**
 * Starts the thread of SQLite early, because it takes as long to start as the program takes to
 * load. Only commands that will most likely need the thread start it here. The program ends a
 * thread that it does not need.
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
    // The program tries again when it needs the thread, and reports what to do.
    return undefined
  }
}
