/** The parts that Linux and macOS have in common. */
import { join } from 'node:path'
import type { Platform } from './platform.ts'
import type { System } from './system.ts'

/** Write permissions of the group and of all other users. */
const WRITABLE_BY_OTHERS = 0o022

export type Unix = Pick<Platform, 'cacheHome' | 'isOwn' | 'flushFolder' | 'programNames'>

export const createUnix = (system: System): Unix => ({
  cacheHome: (env) => env['XDG_CACHE_HOME'] ?? (env['HOME'] && join(env['HOME'], '.cache')),
  isOwn: ({ uid, mode }) => uid === system.userId() && (mode & WRITABLE_BY_OTHERS) === 0,
  flushFolder: system.flush,
  programNames: (program) => [program],
})
