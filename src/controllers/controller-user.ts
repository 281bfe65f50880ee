/**
 * Requests of a controller inside the server: those of its service account, as if
 * kube-controller-manager had sent them.
 */
import type { Handler } from '../api/request.ts'
import { authenticatedGroup, type User } from '../api/user.ts'

/** Its name is the field manager of what controllers write, as upstream. */
const userAgent = 'kube-controller-manager'

const namespace = 'kube-system'

/**
 * `account`: its name in kube-system. What it may do is decided by RBAC, like for any other user.
 */
export function controllerHandle(handle: Handler, account: string): Handler {
  const user: User = {
    name: `system:serviceaccount:${namespace}:${account}`,
    uid: '',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, authenticatedGroup],
  }
  return (request) =>
    handle({ ...request, headers: { ...request.headers, 'user-agent': userAgent } }, user)
}
