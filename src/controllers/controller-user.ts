/**
 * Sends the requests of a controller inside the server with the identity of its service account, as
 * kube-controller-manager does.
 */
import type { Handler } from '../api/request.ts'
import { authenticatedGroup, type User } from '../api/user.ts'
import { accountGroups, accountUserName } from '../api/service-account.ts'

/**
 * The user agent, which determines the field manager of the objects that controllers write, as for
 * kube-controller-manager.
 */
const userAgent = 'kube-controller-manager'

const namespace = 'kube-system'

/**
 * Returns a handler that sends requests as a service account in kube-system. RBAC authorizes them
 * like the requests of any other user.
 */
export function controllerHandle(handle: Handler, account: string): Handler {
  const user: User = {
    name: accountUserName({ namespace, name: account }),
    uid: '',
    groups: [...accountGroups(namespace), authenticatedGroup],
  }
  return (request) =>
    handle({ ...request, headers: { ...request.headers, 'user-agent': userAgent } }, user)
}
