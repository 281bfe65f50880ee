/** The part of the platform interface that is the same on Linux and macOS. */
import { join } from 'node:path'
import type { Platform } from './platform.ts'
import type { System } from './system.ts'

/** The permission bits of a file mode that let the group or all other users write. */
const WRITABLE_BY_OTHERS = 0o022

export type Unix = Pick<Platform, 'cacheHome' | 'isOwn' | 'flushFolder' | 'programNames'>

export const createUnix = (system: System): Unix => ({
  cacheHome: (env) => env['XDG_CACHE_HOME'] ?? (env['HOME'] && join(env['HOME'], '.cache')),
  isOwn: ({ uid, mode }) => uid === system.userId() && (mode & WRITABLE_BY_OTHERS) === 0,
  flushFolder: system.flush,
  programNames: (program) => [program],
})
