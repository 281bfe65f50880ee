/**
 * Generates docs/reference/configuration.md: the kinds of configuration files, with the fields that
 * the server decodes.
 */
import {
  configurationKinds,
  imagePolicyType,
  podNodeSelectorType,
} from '../../src/config/files/schemes.ts'
import type { Schema, Struct } from '../../src/objects/schema/schema.ts'
import { code, type Page, page, table } from './markdown.ts'

/** The flags or plugins that read a configuration kind, by group and kind. */
const takenBy: Readonly<Record<string, string>> = {
  'apiserver.config.k8s.io AuthenticationConfiguration': '`--authentication-config`',
  'apiserver.config.k8s.io AuthorizationConfiguration': '`--authorization-config`',
  'apiserver.config.k8s.io EncryptionConfiguration': '`--encryption-provider-config`',
  'apiserver.config.k8s.io AdmissionConfiguration': '`--admission-control-config-file`',
  'apiserver.k8s.io AdmissionConfiguration': '`--admission-control-config-file`',
  'apiserver.config.k8s.io TracingConfiguration': '`--tracing-config-file`',
  'audit.k8s.io Policy': '`--audit-policy-file`',
  ' Config': `\`--authentication-token-webhook-config-file\`, \`--authorization-webhook-config-file\`,
\`--audit-webhook-config-file\`, and the field \`kubeConfigFile\` of other files`,
  'abac.authorization.kubernetes.io Policy':
    '`--authorization-policy-file`, with one JSON object per line',
  'pod-security.admission.config.k8s.io PodSecurityConfiguration': 'the PodSecurity plugin',
  'apiserver.config.k8s.io ResourceQuotaConfiguration': 'the ResourceQuota plugin',
  'resourcequota.admission.k8s.io Configuration': 'the ResourceQuota plugin',
  'apiserver.k8s.io EgressSelectorConfiguration': '`--egress-selector-config-file`',
  'apiserver.config.k8s.io WebhookAdmissionConfiguration':
    'the MutatingAdmissionWebhook and ValidatingAdmissionWebhook plugins',
  'apiserver.config.k8s.io WebhookAdmission':
    'the MutatingAdmissionWebhook and ValidatingAdmissionWebhook plugins',
  'eventratelimit.admission.k8s.io Configuration': 'the EventRateLimit plugin',
  'podtolerationrestriction.admission.k8s.io Configuration': 'the PodTolerationRestriction plugin',
}

export function configurationPage(): Page {
  const byFields = Map.groupBy(configurationKinds(), (one) =>
    [taker(one), one.kind, fieldTable(one.struct)].join('\n'),
  )
  const parts = [...byFields.values()].map((same) => {
    const [first] = same
    if (first === undefined) return ''
    return `## ${first.kind}: ${versionsText(same)}\n\nUsed by ${taker(first)}.\n\n${fieldTable(first.struct)}`
  })
  return page(
    'configuration.md',
    'Configuration files',
    `Configuration files are YAML or JSON. If a file is invalid, the server reports the errors and does
not start. For examples, see [access](../access.md), [admission](../admission.md) and
[encryption](../encryption.md).

Each heading below has a kind and its API versions. In the names of fields, \`[]\` stands for the
items of a list, and \`.*\` for the values of a map.`,
    ...parts,
    `## The ImagePolicyWebhook plugin\n\nThe file has no \`apiVersion\` and no \`kind\`.\n\n${fieldTable(imagePolicyType())}`,
    `## The PodNodeSelector plugin\n\nThe file has no \`apiVersion\` and no \`kind\`.\n\n${fieldTable(podNodeSelectorType())}`,
  )
}

/**
 * Joins versions. A group is omitted if the previous version has the same group: `apps/v1,
 * v1beta1`.
 */
const versionsText = (kinds: readonly { readonly apiVersion: string }[]): string =>
  kinds
    .map(({ apiVersion }, at) => {
      const group = apiVersion.slice(0, apiVersion.indexOf('/') + 1)
      return at > 0 && kinds[at - 1]?.apiVersion.startsWith(group) === true
        ? apiVersion.slice(group.length)
        : apiVersion
    })
    .join(', ')

function taker({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string
  readonly kind: string
}): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  const found = takenBy[`${group} ${kind}`]
  if (found === undefined)
    throw new Error(`scripts/reference/configuration.ts does not say what uses ${group} ${kind}`)
  return found
}

const fieldTable = (struct: Struct): string =>
  table(
    ['Field', 'Type'],
    [...fields(struct, '')].map(([path, type]) => [code(path), type]),
  )

function* fields(struct: Struct, before: string): Generator<readonly [path: string, type: string]> {
  for (const { name, schema } of struct.fields) {
    if (before === '' && (name === 'apiVersion' || name === 'kind')) continue
    const path = `${before}${name}`
    const { inner, marks } = innermost(schema)
    if (inner.type === 'struct') yield* fields(inner, `${path}${marks}.`)
    else yield [path, typeName(schema)]
  }
}

/**
 * Returns the innermost item type of nested lists and maps, and a path with `[]` for each list and
 * `.*` for each map.
 */
function innermost(schema: Schema): { readonly inner: Schema; readonly marks: string } {
  if (schema.type !== 'list' && schema.type !== 'map') return { inner: schema, marks: '' }
  const { inner, marks } = innermost(schema.of)
  return { inner, marks: `${schema.type === 'list' ? '[]' : '.*'}${marks}` }
}

function typeName(schema: Schema): string {
  if (schema.type === 'list') return `list of ${typeName(schema.of)}`
  if (schema.type === 'map') return `map of ${typeName(schema.of)}`
  return schema.type === 'raw' || schema.type === 'any' ? 'any object' : schema.type
}
