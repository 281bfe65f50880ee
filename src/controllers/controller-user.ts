/**
 * Sends the requests of a controller inside the server as its service account, as if they came from
 * kube-controller-manager.
 */
import type { Handler } from '../api/request.ts'
import { authenticatedGroup, type User } from '../api/user.ts'

/**
 * The user agent. Its name becomes the field manager of what controllers write, as with
 * kube-controller-manager.
 */
const userAgent = 'kube-controller-manager'

const namespace = 'kube-system'

/**
 * Returns a handler that sends requests as a service account in kube-system. As for any other user,
 * RBAC decides what it may do.
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
