/**
 * The entry of the built package: starts the program that the build put beside it, with code
 * compiled earlier.
 */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { cacheFolder } from '../lib/process/cache-folder.ts'
import { runWithCodeCache } from '../lib/process/code-cache.ts'
import { optimizeWhenUsed } from '../lib/process/optimize-when-used.ts'

/** The build puts a checksum of the program in its place. */
declare const PROGRAM_ID: string

const file = join(import.meta.dirname, 'program.cjs')
runWithCodeCache(
  { file, id: PROGRAM_ID, storeThread: startStoreThread() },
  cacheFolder(process.env),
)
// Not before: Node's own modules are compiled already, for its own flags, and would be compiled
// anew for others, which takes 5 MB.
if (process.argv[2] === 'dev') optimizeWhenUsed()

/**
 * The thread of SQLite takes as long to start as the program to load: what will most likely need
 * one has it start meanwhile. Who does not need it ends it.
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
    // The program tries it again when it needs one, and says what to do about it.
    return undefined
  }
}
