/**
 * Reads the program's own files and starts its threads, both from the file system and from the
 * single executable (scripts/binary.ts). The executable contains these files as assets.
 */
import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Returns the text of a file. `from` is the URL of the calling module. */
export function readOwnFile(path: string, from: string): string {
  return isSea() ? getAsset(basename(path), 'utf8') : readFileSync(new URL(path, from), 'utf8')
}

/**
 * Starts a thread. `path` has no extension, because the extension is the same as in `from`, the URL
 * of the calling module.
 */
export function startOwnThread(path: string, from: string, options: WorkerOptions = {}): Worker {
  const file = `${path}${extname(new URL(from).pathname)}`
  return isSea()
    ? new Worker(readOwnFile(file, from), { ...options, eval: true })
    : new Worker(new URL(file, from), options)
}
