/**
 * Rules for StorageVersion, which records the version in which each API server stores a resource,
 * and the versions that it can decode.
 */
import {
  checked,
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { goPlain, goStrings } from '../../../api/go-value.ts'
import { checkDns1035Label, checkDnsSubdomain, checkQualifiedName } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { mapEach, once } from '../../../lib/scheduling/parts.ts'
import type { KindRules } from '../../kind-rules.ts'

export const storageVersionRules: KindRules = {
  strategy: { needsResourceVersion: true, statusKeeps: 'metadata' },
  checkName,
  validate: validateStatus,
  // An update of the object itself needs no validation, because only the status can change, and
  // only through /status.
  validateUpdate: () => [],
  status: { validateUpdate: validateStatus },
}

/** Validates that a name has the form `<group>.<resource>`. */
function checkName(name: string): string[] {
  const dot = name.lastIndexOf('.')
  if (dot === -1) return ['name must be in the form of <group>.<resource>']
  return [
    ...checkDnsSubdomain(name.slice(0, dot)).map((why) => `the group segment ${why}`),
    ...checkDns1035Label(name.slice(dot + 1)).map((why) => `the resource segment ${why}`),
  ]
}

function validateStatus(object: KubeObject): FieldFault[] {
  const status = fieldsOf(object['status'])
  const servers = itemsOf(status['storageVersions'])
  const ids = mapEach('ids of API servers', servers, ({ apiServerID }) => textOf(apiServerID))
  const repeats = repeatsIn(ids)
  return [
    ...faultsOfEach(servers, (server, at) => {
      const path = `status.storageVersions[${at}]`
      const id = ids[at] ?? ''
      return [
        ...(repeats.has(at) ? [duplicate(`${path}.apiServerID`, id)] : []),
        ...validateServer(server, path),
      ]
    }),
    ...validateCommonVersion(status, servers),
    ...validateConditions(itemsOf(status['conditions'])),
  ]
}

function validateServer(server: Fields, path: string): FieldFault[] {
  const encoding = textOf(server['encodingVersion'])
  const [decodable, served] = [
    textsOf(server['decodableVersions']),
    textsOf(server['servedVersions']),
  ]
  const known = new Set(decodable)
  const faults = checked(`${path}.apiServerID`, textOf(server['apiServerID']), checkDnsSubdomain)
  faults.push(...validateApiVersion(encoding, `${path}.encodingVersion`))
  const ofDecodable = faultsOfEach(decodable, (one, at) =>
    validateApiVersion(one, `${path}.decodableVersions[${at}]`),
  )
  faults.push(...ofDecodable)
  if (!known.has(encoding)) {
    const why = `decodableVersions must include encodingVersion ${encoding}`
    faults.push(invalidShown(`${path}.decodableVersions`, goStrings(decodable), why))
  }
  // Print the list of API versions only once, because the list can be long and each error contains
  // it.
  const shown = goPlain(decodable)
  const ofServed = faultsOfEach(served, (version, at) => {
    const place = `${path}.servedVersions[${at}]`
    const why = `individual served version : ${version} must be included in decodableVersions : ${shown}`
    return [
      ...validateApiVersion(version, place),
      ...(known.has(version) ? [] : [invalidValue(place, version, why)]),
    ]
  })
  return [...faults, ...ofServed]
}

function validateApiVersion(apiVersion: string, path: string): FieldFault[] {
  const faults = checkApiVersion(apiVersion)
  return faults.length === 0 ? [] : [invalidValue(path, apiVersion, faults.join(','))]
}

const labelRule =
  "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"

function checkApiVersion(apiVersion: string): readonly string[] {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return [labelRule]
  const [version = '', group] = parts.toReversed()
  return [
    ...(group === undefined ? [] : checkPart('group', group, checkDnsSubdomain)),
    ...checkPart('version', version, checkDns1035Label),
  ]
}

const checkPart = (
  part: string,
  text: string,
  check: (text: string) => readonly string[],
): readonly string[] =>
  (text === '' ? ['must be non-empty'] : check(text)).map((why) => `${part} part: ${why}`)

/**
 * Validates commonEncodingVersion. It must be set if and only if all servers use the same version.
 */
function validateCommonVersion(
  { commonEncodingVersion: reported }: Fields,
  servers: readonly Fields[],
): FieldFault[] {
  const path = 'status.commonEncodingVersion'
  const versions = new Set(servers.map(({ encodingVersion }) => textOf(encodingVersion)))
  const [common] = versions.size === 1 ? versions : []
  if (common === undefined && reported === undefined) return []
  if (common === undefined) {
    const why =
      'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet'
    return [invalidValue(path, textOf(reported), why)]
  }
  if (reported === undefined)
    return [invalidShown(path, '"null"', `the common encoding version is ${common}`)]
  return reported === common
    ? []
    : [invalidValue(path, textOf(reported), `the actual common encoding version is ${common}`)]
}

/** Validates conditions. As in kube-apiserver, the paths do not contain the name of the list. */
function validateConditions(conditions: readonly Fields[]): FieldFault[] {
  const places = once('places of conditions', () => new Map<string, number>())
  return faultsOfEach(conditions, ({ status, reason, message, ...condition }, at) => {
    const path = `status[${at}]`
    const type = textOf(condition['type'])
    const last = places.get(type)
    places.set(type, at)
    const why = `the type of the condition is not unique, it also appears in conditions[${last}]`
    return [
      ...(last === undefined ? [] : [invalidValue(`${path}.type`, type, why)]),
      ...checked(`${path}.type`, type, checkQualifiedName),
      ...checked(`${path}.status`, textOf(status), checkQualifiedName),
      ...(textOf(reason) === '' ? [required(`${path}.reason`, 'reason cannot be empty')] : []),
      ...(textOf(message) === '' ? [required(`${path}.message`, 'message cannot be empty')] : []),
    ]
  })
}
