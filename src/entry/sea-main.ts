/**
 * Entry point of the single executable (scripts/binary.ts). Starts the embedded program, as
 * `bin/keelson` and `packaged-main.ts` do for the package.
 */
import { basename, dirname, join } from 'node:path'
import { getRawAsset } from 'node:sea'
import { cacheFolder } from '../lib/process/cache-folder.ts'
import { runWithCodeCache } from '../lib/process/code-cache.ts'
import { optimizeWhenUsed } from '../lib/process/optimize-when-used.ts'

/** The build replaces this name with a checksum of the program. */
declare const PROGRAM_ID: string

/**
 * The environment of `keelson serve`. `bin/keelson` sets the same variables and gives the reasons.
 * The V8 flags are part of the executable.
 */
const serveEnvironment = { MALLOC_MMAP_THRESHOLD_: '524288', MALLOC_ARENA_MAX: '2' }
const given: NodeJS.ProcessEnv = process.env

// A link with this name runs `keelson serve`, so that an image can replace the image of
// kube-apiserver.
if (basename(process.argv0) === 'kube-apiserver') process.argv.splice(2, 0, 'serve')
const [, , command, ...args] = process.argv

if (command === 'etcd-stand-in') {
  process.argv.splice(2, 1)
  void import('./envtest/etcd-stand-in.ts')
} else if (
  command === 'serve' &&
  Object.keys(serveEnvironment).some((name) => given[name] === undefined)
) {
  // Replace this process instead of starting a child process. The server then has the process ID of
  // this process, and gets its signals.
  process.execve?.(process.execPath, [process.execPath, command, ...args], {
    ...serveEnvironment,
    ...given,
  })
} else {
  start()
  // The V8 flags must not be changed earlier; `packaged-main.ts` gives the reason.
  if (command === 'dev') optimizeWhenUsed()
}

function start(): void {
  const program = {
    // There is no such file. V8 shows this name in stack traces.
    file: join(dirname(process.execPath), 'program.cjs'),
    text: Buffer.from(getRawAsset('program.cjs')).toString('latin1'),
    id: PROGRAM_ID,
    saved: Buffer.from(getRawAsset('code')),
  }
  runWithCodeCache(program, cacheFolder(process.env))
}
