/** What types of this group get wherever they occur, besides the published defaults. */
import { type Fields } from '../../../api/object.ts'
import type { TypeDefaults } from '../../../schema/schema.ts'

/** By package and name. `set` sees what the fixed values have filled in. */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['networking/v1 NetworkPolicyPort', { fields: { protocol: 'TCP' } }],
  ['networking/v1 NetworkPolicySpec', { fields: {}, set: withPolicyTypes }],
  ['networking/v1 IngressClassParametersReference', { fields: { scope: 'Cluster' } }],
]

function withPolicyTypes(spec: Fields): Fields {
  const { policyTypes, egress } = spec
  if (Array.isArray(policyTypes) && policyTypes.length > 0) return spec
  const hasEgress = Array.isArray(egress) && egress.length > 0
  return { ...spec, policyTypes: hasEgress ? ['Ingress', 'Egress'] : ['Ingress'] }
}
