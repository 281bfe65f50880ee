/**
 * Defaults of the types in this API group, in addition to the defaults in the OpenAPI documents.
 * They apply to a type wherever it occurs.
 */
import { type Fields } from '../../../api/object.ts'
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

/**
 * Defaults, keyed by package and type name. `set` computes further defaults, after the fixed values
 * in `fields` are set.
 */
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
