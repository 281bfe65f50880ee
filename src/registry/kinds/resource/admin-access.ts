/**
 * Rules for admin access to devices that are in use (gate DRAAdminAccess). The namespace must have
 * a label that permits admin access.
 */
import { defaultGates, type Gates } from '../../../api/gates.ts'
import { forbiddenField } from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject } from '../../../api/object.ts'
import type { NamespaceRule } from '../../resource.ts'

/** The first release in which the label has the domain kubernetes.io. */
const NEW_LABEL_SINCE = 34

const labelOf = ({ release }: Gates): string =>
  release < NEW_LABEL_SINCE ? 'resource.k8s.io/admin-access' : 'resource.kubernetes.io/admin-access'

/**
 * Returns the rule for the requests in the spec of a claim. As in kube-apiserver, errors in claim
 * templates have the paths of claims.
 */
export function adminRequests(
  spec: Fields,
  gates: Gates = defaultGates,
): ReturnType<NamespaceRule> {
  const requests = itemsOf(fieldsOf(spec['devices'])['requests'])
  return labelled(
    requests.findIndex(({ exactly }) => fieldsOf(exactly)['adminAccess'] === true),
    'spec.devices.requests',
    labelOf(gates),
  )
}

/** Returns the rule for the allocation results of a claim. */
export function adminResults(
  { status }: KubeObject,
  gates: Gates = defaultGates,
): ReturnType<NamespaceRule> {
  const { devices } = fieldsOf(fieldsOf(status)['allocation'])
  const results = itemsOf(fieldsOf(devices)['results'])
  return labelled(
    results.findIndex(({ adminAccess }) => adminAccess === true),
    'status.allocation.devices.results',
    labelOf(gates),
  )
}

function labelled(at: number, path: string, label: string): ReturnType<NamespaceRule> {
  if (at === -1) return undefined
  const reason = `admin access to devices requires the \`${label}: true\` label on the containing namespace`
  return (labels) =>
    labels[label] === 'true' ? [] : [forbiddenField(`${path}[${at}].adminAccess`, reason)]
}
