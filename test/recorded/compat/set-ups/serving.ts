/** Set-ups with flags that control how requests are served. */
import type { SetUps } from '../set-ups.ts'

export const setUps: SetUps = {
  serving: {
    flags: [
      '--cors-allowed-origins=//ok\\.example\\.org(:|$),^https://(a|b)\\.test$',
      '--strict-transport-security-directives=max-age=31536000,includeSubDomains',
      '--feature-gates=ComponentFlagz=true,ComponentStatusz=true',
    ],
  },
  'no-garbage-collector': {
    flags: ['--enable-garbage-collector=false', '--delete-collection-workers=5'],
  },
}
