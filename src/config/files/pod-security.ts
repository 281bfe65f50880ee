/**
 * Reads the configuration of the PodSecurity plugin: the default levels for namespaces without
 * labels, and the exemptions. Its kind is PodSecurityConfiguration
 * (pod-security.admission.config.k8s.io). v1, v1beta1 and v1alpha1 have the same fields.
 */
import { aggregate, describeFaults } from '../../api/aggregate.ts'
import { duplicate, type FieldFault, invalidValue } from '../../api/field-fault.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../api/names.ts'
import { type Fields, fieldsOf, textOf, textsOf } from '../../api/object.ts'
import {
  type LevelVersion,
  levelRule,
  parseLevel,
  parseVersion,
  type PodSecurityPolicy,
  privilegedPolicy,
  versionRule,
} from '../../api/pod-security-level.ts'
import { type ConfigFileType, type FileRead, readConfigFile } from './config-file.ts'
import { podSecurityScheme } from './schemes.ts'

export type PodSecurityConfiguration = {
  /** The policy for namespaces without labels. */
  readonly defaults: PodSecurityPolicy
  readonly exemptions: PodSecurityExemptions
}

export type PodSecurityExemptions = {
  readonly usernames: readonly string[]
  readonly namespaces: readonly string[]
  readonly runtimeClasses: readonly string[]
}

export const defaultPodSecurity: PodSecurityConfiguration = {
  defaults: privilegedPolicy,
  exemptions: { usernames: [], namespaces: [], runtimeClasses: [] },
}

export const readPodSecurity = (bytes: Buffer): FileRead<PodSecurityConfiguration> =>
  readConfigFile(bytes, fileType)

const fileType: ConfigFileType<PodSecurityConfiguration> = {
  scheme: podSecurityScheme,
  kind: 'PodSecurityConfiguration',
  ofEmpty: {},
  read: (fields) => {
    const { value: defaults, faults } = defaultsOf(fieldsOf(fields['defaults']))
    if (faults.length > 0) return { fault: `PodSecurity configuration error: ${aggregate(faults)}` }
    const exemptions = exemptionsOf(fieldsOf(fields['exemptions']))
    const invalid = exemptionFaults(exemptions)
    if (invalid.length > 0) return { fault: `PodSecurity invalid: ${describeFaults(invalid)}` }
    return { value: { defaults, exemptions } }
  },
}

function defaultsOf(given: Fields): {
  readonly value: PodSecurityPolicy
  readonly faults: readonly string[]
} {
  const faults: string[] = []
  const mode = (name: string): LevelVersion => {
    const level = parseLevel(textOf(given[name]) || 'privileged')
    if (level === undefined) faults.push(`${name}: ${levelRule}`)
    const version = parseVersion(textOf(given[`${name}-version`]) || 'latest')
    if (version === undefined) faults.push(`${name}-version: ${versionRule}`)
    return { level: level ?? 'restricted', version: version ?? 'latest' }
  }
  const [enforce, audit, warn] = [mode('enforce'), mode('audit'), mode('warn')]
  return { value: { enforce, audit, warn }, faults }
}

const exemptionsOf = ({
  usernames,
  namespaces,
  runtimeClasses,
}: Fields): PodSecurityExemptions => ({
  usernames: textsOf(usernames),
  namespaces: textsOf(namespaces),
  runtimeClasses: textsOf(runtimeClasses),
})

const exemptionFaults = ({
  usernames,
  namespaces,
  runtimeClasses,
}: PodSecurityExemptions): FieldFault[] => [
  ...listFaults(namespaces, 'exemptions.namespaces', checkDnsLabel),
  ...listFaults(runtimeClasses, 'exemptions.runtimeClasses', checkDnsSubdomain),
  ...listFaults(usernames, 'exemptions.usernames', (name) =>
    name === '' ? ['username must not be empty'] : [],
  ),
]

function listFaults(
  list: readonly string[],
  path: string,
  check: (name: string) => readonly string[],
): FieldFault[] {
  const seen = new Set<string>()
  return list.flatMap((name, at) => {
    const whys = check(name)
    if (whys.length > 0) return [invalidValue(`${path}[${at}]`, name, whys.join(', '))]
    if (seen.has(name)) return [duplicate(`${path}[${at}]`, name)]
    seen.add(name)
    return []
  })
}
