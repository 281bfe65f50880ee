/** Non-default handling of service account tokens. */
import type { SetUps } from '../set-ups.ts'

export const setUps: SetUps = {
  'no-account-lookup': { flags: ['--service-account-lookup=false'] },
}
