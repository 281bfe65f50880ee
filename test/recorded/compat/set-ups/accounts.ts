/** Tokens of service accounts that are treated otherwise. */
import type { SetUps } from '../set-ups.ts'

export const setUps: SetUps = {
  'no-account-lookup': { flags: ['--service-account-lookup=false'] },
}
