/**
 * Reads the file of `--audit-policy-file`, which defines which requests are recorded, and at which
 * level. Its kind is Policy (audit.k8s.io/v1), which can be omitted. Unknown and duplicate fields
 * cause warnings instead of errors.
 */
import { describeFaults } from '../../api/aggregate.ts'
import {
  type FieldFault,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../api/field-fault.ts'
import { goStrings } from '../../api/go-value.ts'
import { checkDnsSubdomain } from '../../api/names.ts'
import { type Fields, itemsOf, textOf, textsOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { decodeFile, fieldNames, type FileFault, headOf, readText } from './decode-file.ts'
import { auditScheme } from './schemes.ts'

const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const

export type AuditLevel = (typeof levels)[number]
export type AuditStage = (typeof stages)[number]

export type AuditPolicy = {
  /** Rules in order of precedence. The first rule that matches a request applies. */
  readonly rules: readonly AuditRule[]
  readonly omitStages: readonly AuditStage[]
  readonly omitsManagedFields: boolean
}

/** A rule of the audit policy. An empty list in a rule matches all values. */
export type AuditRule = {
  readonly level: AuditLevel
  readonly users: readonly string[]
  readonly userGroups: readonly string[]
  readonly verbs: readonly string[]
  readonly resources: readonly AuditResources[]
  readonly namespaces: readonly string[]
  readonly nonResourceUrls: readonly string[]
  readonly omitStages: readonly AuditStage[]
  /**
   * Whether to omit managedFields from the recorded objects. If null, the setting of the whole
   * policy applies.
   */
  readonly omitsManagedFields: boolean | null
}

export type AuditResources = {
  readonly group: string
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
}

export type ReadPolicy =
  | { readonly value: AuditPolicy; readonly warnings: readonly string[] }
  | (FileFault & { readonly warnings: readonly string[] })

/** Parses a policy. `path` is used only in messages. */
export function readAuditPolicy(bytes: Buffer, path: string): ReadPolicy {
  const refuse = (fault: string, warnings: readonly string[] = []): ReadPolicy => ({
    fault: `${fault}: from file ${path}`,
    warnings,
  })
  const internal = internalFault(bytes)
  if (internal !== undefined) return refuse(internal.fault, internal.warnings)
  const decoded = decodeFile(bytes, auditScheme, { byDefault: { kind: 'Policy' } })
  if ('fault' in decoded) return refuse(`failed decoding: ${decoded.fault}`)
  const { known, fields, strictFault } = decoded
  if (known.hubName !== 'audit.Policy') {
    return refuse(
      `failed decoding: converting (${known.goName}) to (audit.Policy): unknown conversion`,
    )
  }
  const warnings = strictFault === undefined ? [] : [lenient(strictFault)]
  const policy = policyOf(fields)
  const faults = policyFaults(fields)
  if (faults.length > 0) return refuse(describeFaults(faults), warnings)
  if (policy.rules.length === 0) return refuse('loaded illegal policy with 0 rules', warnings)
  return { value: policy, warnings }
}

const lenient = (strictFault: string): string =>
  `Audit policy contains errors, falling back to lenient decoding: ${strictFault}`

/**
 * Returns the error for a file without an apiVersion. kube-apiserver decodes such a file as its
 * internal version, which has other field names, and then rejects the file.
 */
function internalFault(
  bytes: Buffer,
): { readonly fault: string; readonly warnings: readonly string[] } | undefined {
  const read = readText(bytes)
  const head = 'fault' in read ? read : headOf(read.json)
  if ('fault' in read || 'fault' in head || !/^(?:audit\.k8s\.io\/)?$/.test(head.apiVersion))
    return undefined
  const kind = head.kind || 'Policy'
  const known = auditScheme.find('audit.k8s.io/v1', kind)
  if (known === undefined) {
    const where = `for the internal version of group "audit.k8s.io" in scheme ${quote(auditScheme.name)}`
    return { fault: `failed decoding: no kind ${quote(kind)} is registered ${where}`, warnings: [] }
  }
  if (known.hubName !== 'audit.Policy') {
    return {
      fault: `failed decoding: converting (${known.hubName}) to (audit.Policy): unknown conversion`,
      warnings: [],
    }
  }
  const unknown = fieldNames(read.json).map((name) => `unknown field ${quote(name)}`)
  const warnings =
    unknown.length === 0 ? [] : [lenient(`strict decoding error: ${unknown.join(', ')}`)]
  return {
    fault: 'unknown group version field audit.k8s.io/__internal, Kind=Policy in policy',
    warnings,
  }
}

function policyFaults({ rules, omitStages }: Fields): FieldFault[] {
  return [
    ...stageFaults(textsOf(omitStages), 'omitStages'),
    ...itemsOf(rules).flatMap((rule, at) => ruleFaults(rule, `rules[${at}]`)),
  ]
}

function ruleFaults(rule: Fields, path: string): FieldFault[] {
  const urls = textsOf(rule['nonResourceURLs'])
  const resources = itemsOf(rule['resources'])
  const faults = [
    ...levelFaults(textOf(rule['level']), `${path}.level`),
    ...urls.flatMap((url, at) => urlFaults(url, `${path}.nonResourceURLs[${at}]`)),
    ...resources.flatMap((one) => resourceFaults(one, `${path}.resources`)),
    ...stageFaults(textsOf(rule['omitStages']), `${path}.omitStages`),
  ]
  if (urls.length === 0 || (resources.length === 0 && textsOf(rule['namespaces']).length === 0))
    return faults
  const why = 'rules cannot apply to both regular resources and non-resource URLs'
  return [...faults, invalidShown(`${path}.nonResourceURLs`, goStrings(urls), why)]
}

function levelFaults(level: string, path: string): FieldFault[] {
  if (level === '') return [required(path)]
  return levels.some((one) => one === level) ? [] : [notSupported(path, level, levels)]
}

function urlFaults(url: string, path: string): FieldFault[] {
  if (url === '*') return []
  const whys: string[] = []
  if (!url.startsWith('/')) whys.push("non-resource URL rules must begin with a '/' character")
  if (url.slice(0, -1).includes('*')) {
    whys.push("non-resource URL wildcards '*' must be the final character of the rule")
  }
  return whys.map((why) => invalidValue(path, url, why))
}

/**
 * Validates an item of `resources`. As in kube-apiserver, errors do not contain the index of the
 * item.
 */
function resourceFaults(
  { group: given, resources, resourceNames }: Fields,
  path: string,
): FieldFault[] {
  const group = textOf(given)
  const whys = group === '' ? [] : checkDnsSubdomain(group)
  const faults = whys.length === 0 ? [] : [invalidValue(`${path}.group`, group, whys.join(','))]
  const names = textsOf(resourceNames)
  if (names.length === 0 || textsOf(resources).length > 0) return faults
  const why = 'using resourceNames requires at least one resource'
  return [...faults, invalidShown(`${path}.resourceNames`, goStrings(names), why)]
}

function stageFaults(given: readonly string[], path: string): FieldFault[] {
  return given.flatMap((stage, at) =>
    isStage(stage)
      ? []
      : [invalidValue(`${path}[${at}]`, stage, `allowed stages are ${stages.join(',')}`)],
  )
}

const isStage = (stage: string): stage is AuditStage => stages.some((one) => one === stage)

const policyOf = ({ rules, omitStages, omitManagedFields }: Fields): AuditPolicy => ({
  rules: itemsOf(rules).map(ruleOf),
  omitStages: textsOf(omitStages).filter(isStage),
  omitsManagedFields: omitManagedFields === true,
})

function ruleOf(rule: Fields): AuditRule {
  const { omitManagedFields } = rule
  return {
    level: levels.find((level) => level === rule['level']) ?? 'None',
    users: textsOf(rule['users']),
    userGroups: textsOf(rule['userGroups']),
    verbs: textsOf(rule['verbs']),
    resources: itemsOf(rule['resources']).map(({ group, resources, resourceNames }) => ({
      group: textOf(group),
      resources: textsOf(resources),
      resourceNames: textsOf(resourceNames),
    })),
    namespaces: textsOf(rule['namespaces']),
    nonResourceUrls: textsOf(rule['nonResourceURLs']),
    omitStages: textsOf(rule['omitStages']).filter(isStage),
    omitsManagedFields: typeof omitManagedFields === 'boolean' ? omitManagedFields : null,
  }
}
