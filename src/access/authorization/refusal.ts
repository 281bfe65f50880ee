/**
 * Creates the 403 error for a request that is not authorized, with the same message as
 * kube-apiserver.
 */
import type { AccessAttributes } from '../../api/access.ts'
import { type ApiError, escapeHtml, forbidden } from '../../api/errors.ts'
import { quote } from '../../api/quote.ts'
import type { User } from '../../api/user.ts'

export function refusal(user: User, attributes: AccessAttributes, reason: string): ApiError {
  const who = `User ${quote(user.name)} cannot ${attributes.verb}`
  const because = reason === '' ? '' : `: ${reason}`
  if (attributes.kind === 'path') {
    return forbidden(
      { group: '', plural: '' },
      '',
      escapeHtml(`${who} path ${quote(attributes.path)}`) + because,
    )
  }
  const { group, plural, subresource, namespace, name } = attributes
  const resource = subresource === '' ? plural : `${plural}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`
  const what = `resource ${quote(resource)} in API group ${quote(group)} ${where}`
  return forbidden({ group, plural }, name, escapeHtml(`${who} ${what}`) + because)
}
