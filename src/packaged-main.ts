/** The entry of the built package: starts the program that the build put beside it, with code compiled earlier. */
import { join } from 'node:path'
import { cacheFolder } from './lib/cache-folder.ts'
import { runWithCodeCache } from './lib/code-cache.ts'

/** The build puts a checksum of the program in its place. */
declare const PROGRAM_ID: string

const file = join(import.meta.dirname, 'program.cjs')
runWithCodeCache({ file, id: PROGRAM_ID }, cacheFolder(process.env))
