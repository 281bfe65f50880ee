/**
 * Defaults of the types in this API group, in addition to the defaults in the OpenAPI documents.
 * They apply to a type wherever it occurs.
 */
import type { TypeDefaults } from '../../../objects/schema/schema.ts'

const webhook = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
}

const policyDefaults = (packageName: string): readonly (readonly [string, TypeDefaults])[] => [
  [`${packageName} NamedRuleWithOperations`, { fields: { scope: '*' } }],
  [`${packageName} ValidatingAdmissionPolicySpec`, { fields: { failurePolicy: 'Fail' } }],
  [`${packageName} MutatingAdmissionPolicySpec`, { fields: { failurePolicy: 'Fail' } }],
  [
    `${packageName} MatchResources`,
    { fields: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} } },
  ],
]

/**
 * Defaults, keyed by package and type name. `set` computes further defaults, after the fixed values
 * in `fields` are set.
 */
export const typeDefaults: readonly (readonly [string, TypeDefaults])[] = [
  ['admissionregistration/v1 ValidatingWebhook', { fields: webhook }],
  [
    'admissionregistration/v1 MutatingWebhook',
    { fields: { ...webhook, reinvocationPolicy: 'Never' } },
  ],
  ['admissionregistration/v1 ServiceReference', { fields: { port: 443 } }],
  ['admissionregistration/v1 RuleWithOperations', { fields: { scope: '*' } }],
  ['admissionregistration/v1alpha1 ParamRef', { fields: { parameterNotFoundAction: 'Deny' } }],
  ...['v1', 'v1beta1', 'v1alpha1'].flatMap((version) =>
    policyDefaults(`admissionregistration/${version}`),
  ),
]
