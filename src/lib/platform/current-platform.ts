/** Chooses the implementation for the operating system on which the process runs. */
import { createLinux } from './linux.ts'
import { createMacos } from './macos.ts'
import type { Platform } from './platform.ts'
import { realSystem, type System } from './system.ts'
import { createWindows } from './windows.ts'

/** Returns the implementation for a value of `process.platform`. */
export function createPlatform(name: NodeJS.Platform, system: System): Platform {
  if (name === 'linux' || name === 'android') return createLinux(system)
  return name === 'win32' ? createWindows(system) : createMacos(system)
}

export const platform: Platform = createPlatform(process.platform, realSystem)
