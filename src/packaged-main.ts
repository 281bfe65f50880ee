/** The entry of the built package: starts the program that the build put beside it, with code compiled earlier. */
import { join } from 'node:path'
import { cacheFolder } from './lib/cache-folder.ts'
import { runWithCodeCache } from './lib/code-cache.ts'

runWithCodeCache(join(import.meta.dirname, 'program.cjs'), cacheFolder(process.env))
