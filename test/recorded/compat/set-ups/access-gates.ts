/** Feature gates of authorization, each with the opposite of its default. */
import type { SetUps } from '../set-ups.ts'
import { hookConfig } from './access.ts'

const gates =
  'AuthorizeWithSelectors=false,AuthorizeNodeWithSelectors=false,KubeletServiceAccountTokenForCredentialProviders=true'

export const setUps: SetUps = {
  'access-gates': {
    omit: ['authorization-mode'],
    flags: [
      '--authorization-mode=Node,RBAC,Webhook',
      '--authorization-webhook-config-file=${dir}/access.json',
      '--authorization-webhook-version=v1',
      `--feature-gates=${gates}`,
    ],
    files: { 'access.json': hookConfig('access') },
    hooks: {
      access: () => ({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        status: { allowed: false },
      }),
    },
  },
}
