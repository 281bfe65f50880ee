/**
 * The flags that `readAuthentication` and `readAuthorization` read: those of flags.ts, and those that `keelson serve` rejects since they are
 * not implemented yet (unsupported-flags.ts), with upstream's defaults. A row moves to flags.ts when its feature is.
 */
import { flags } from './flags.ts'

export const accessFlags = {
  ...flags,
} as const

export type AccessFlagName = keyof typeof accessFlags
