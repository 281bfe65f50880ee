/**
 * Rules for admin access to devices that are in use (gate DRAAdminAccess). The namespace must have
 * a label that permits admin access.
 */
import { forbiddenField } from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject } from '../../../api/object.ts'
import type { NamespaceRule } from '../../resource.ts'

const label = 'resource.k8s.io/admin-access'
const reason = `admin access to devices requires the \`${label}: true\` label on the containing namespace`

/**
 * Returns the rule for the requests in the spec of a claim. As in kube-apiserver, errors in claim
 * templates have the paths of claims.
 */
export function adminRequests(spec: Fields): ReturnType<NamespaceRule> {
  const requests = itemsOf(fieldsOf(spec['devices'])['requests'])
  return labelled(
    requests.findIndex(({ exactly }) => fieldsOf(exactly)['adminAccess'] === true),
    'spec.devices.requests',
  )
}

/** Returns the rule for the allocation results of a claim. */
export function adminResults({ status }: KubeObject): ReturnType<NamespaceRule> {
  const { devices } = fieldsOf(fieldsOf(status)['allocation'])
  const results = itemsOf(fieldsOf(devices)['results'])
  return labelled(
    results.findIndex(({ adminAccess }) => adminAccess === true),
    'status.allocation.devices.results',
  )
}

const labelled = (at: number, path: string): ReturnType<NamespaceRule> =>
  at === -1
    ? undefined
    : (labels) =>
        labels[label] === 'true' ? [] : [forbiddenField(`${path}[${at}].adminAccess`, reason)]
