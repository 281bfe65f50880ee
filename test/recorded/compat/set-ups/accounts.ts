/** A set-up in which the server accepts service account tokens without looking up their objects. */
import type { SetUps } from '../set-ups.ts'

export const setUps: SetUps = {
  'no-account-lookup': { flags: ['--service-account-lookup=false'] },
}
