/**
 * Defaults of this group's types wherever they occur, in addition to those that OpenAPI publishes.
 */
import { type Fields } from '../../../api/object.ts'
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/** Defaults by package and type name. `set` runs after the fixed values are set. */
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
