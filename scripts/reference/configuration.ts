/**
 * docs/reference/configuration.md: the kinds that configuration files may have, with their fields
 * as the server decodes them.
 */
import {
  configurationKinds,
  imagePolicyType,
  podNodeSelectorType,
} from '../../src/config/files/schemes.ts'
import type { Schema, Struct } from '../../src/objects/schema/schema.ts'
import { code, type Page, page, table } from './markdown.ts'

/** The flag or plugin that takes a kind, by its group and kind. */
const takenBy: Readonly<Record<string, string>> = {
  'apiserver.config.k8s.io AuthenticationConfiguration': '`--authentication-config`',
  'apiserver.config.k8s.io AuthorizationConfiguration': '`--authorization-config`',
  'apiserver.config.k8s.io EncryptionConfiguration': '`--encryption-provider-config`',
  'apiserver.config.k8s.io AdmissionConfiguration': '`--admission-control-config-file`',
  'apiserver.k8s.io AdmissionConfiguration': '`--admission-control-config-file`',
  'apiserver.config.k8s.io TracingConfiguration': '`--tracing-config-file`',
  'audit.k8s.io Policy': '`--audit-policy-file`',
  ' Config':
    '`--authentication-token-webhook-config-file`, `--authorization-webhook-config-file`, `--audit-webhook-config-file`, and `kubeConfigFile` of other files',
  'abac.authorization.kubernetes.io Policy':
    '`--authorization-policy-file`, a line of JSON for each policy',
  'pod-security.admission.config.k8s.io PodSecurityConfiguration': 'the plugin PodSecurity',
  'apiserver.config.k8s.io ResourceQuotaConfiguration': 'the plugin ResourceQuota',
  'resourcequota.admission.k8s.io Configuration': 'the plugin ResourceQuota',
  'apiserver.k8s.io EgressSelectorConfiguration': '`--egress-selector-config-file`',
  'apiserver.config.k8s.io WebhookAdmissionConfiguration':
    'the plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook',
  'apiserver.config.k8s.io WebhookAdmission':
    'the plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook',
  'eventratelimit.admission.k8s.io Configuration': 'the plugin EventRateLimit',
  'podtolerationrestriction.admission.k8s.io Configuration': 'the plugin PodTolerationRestriction',
}

export function configurationPage(): Page {
  const byFields = Map.groupBy(configurationKinds(), (one) =>
    [taker(one), one.kind, fieldTable(one.struct)].join('\n'),
  )
  const parts = [...byFields.values()].map((same) => {
    const [first] = same
    if (first === undefined) return ''
    return `## ${first.kind}: ${same.map(({ apiVersion }) => apiVersion).join(', ')}\n\nTaken by ${taker(first)}.\n\n${fieldTable(first.struct)}`
  })
  return page(
    'configuration.md',
    'Configuration files',
    'YAML or JSON. A file with a fault is refused at the start, with all its faults. A heading has the kind, and the `apiVersion`s that it may have. How to use them: [access.md](../access.md), [admission.md](../admission.md), [encryption.md](../encryption.md).',
    ...parts,
    `## The plugin ImagePolicyWebhook\n\nWithout \`apiVersion\` and \`kind\`.\n\n${fieldTable(imagePolicyType())}`,
    `## The plugin PodNodeSelector\n\nWithout \`apiVersion\` and \`kind\`.\n\n${fieldTable(podNodeSelectorType())}`,
  )
}

function taker({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string
  readonly kind: string
}): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  const found = takenBy[`${group} ${kind}`]
  if (found === undefined) throw new Error(`nobody is said to take ${group} ${kind}`)
  return found
}

const fieldTable = (struct: Struct): string =>
  table(
    ['field', 'type'],
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

/** What a list or a map is of: `[]` for each list, `.*` for each map. */
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
