/**
 * Defaults of this group's types wherever they occur, in addition to those that OpenAPI publishes.
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

/** Defaults by package and type name. `set` runs after the fixed values are set. */
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
