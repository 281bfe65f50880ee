/**
 * Entry point of keelson/testing in the built package. Loads the library next to it with a V8 code
 * cache. Without the cache, starting the first cluster in a process spends most of its time
 * compiling about two thousand functions.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { cacheFolder } from '../lib/process/cache-folder.ts'
import { loadWithCodeCache } from '../lib/process/code-cache.ts'
import { checkNode } from './testing/check-node.ts'
import type * as Testing from './testing/index.ts'

// Check the version of Node before the library is loaded, because the library uses functions that
// older versions lack.
checkNode()

/** The build replaces this name with a checksum of the library. */
declare const TESTING_ID: string

const file = join(import.meta.dirname, 'testing-library.cjs')
const library = {
  file,
  id: TESTING_ID,
  prefix: 'testing-',
  // Identifies the V8 flags that affect compiled code. Test runners start Node with various other
  // flags, which do not matter here.
  flags: cachedDataVersionTag().toString(16),
}
const { exports: loaded, save } = isOwnRealm()
  ? loadWithCodeCache(library, cacheFolder(process.env))
  : loadHere()
const testing = checkTesting(loaded)
const use = { isFirst: true }

export const { Cluster } = testing

export async function startCluster(options?: Testing.ClusterOptions): Promise<Testing.Cluster> {
  const cluster = await testing.startCluster(options)
  if (use.isFirst) save()
  use.isFirst = false
  return cluster
}

/**
 * Whether this module runs in the main realm of Node. Some test runners load modules into another
 * realm, which has its own global classes such as Error. Cached code can run only in the main
 * realm.
 */
function isOwnRealm(): boolean {
  return runInThisContext('globalThis') === globalThis
}

function loadHere(): { readonly exports: unknown; readonly save: () => void } {
  // The file is part of the package, and its code must be compiled in this realm.
  // oxlint-disable-next-line typescript/no-implied-eval, no-new-func
  const create: unknown = new Function(`return ${readFileSync(file, 'latin1')}`)()
  if (typeof create !== 'function')
    throw new TypeError(`${file} is damaged: install the package again`)
  return { exports: create(createRequire(file), file, import.meta.dirname), save: () => undefined }
}

function checkTesting(value: unknown): typeof Testing {
  if (!isTesting(value)) throw new TypeError(`${file} is damaged: install the package again`)
  return value
}

function isTesting(value: unknown): value is typeof Testing {
  return (
    typeof value === 'object' && value !== null && 'startCluster' in value && 'Cluster' in value
  )
}
