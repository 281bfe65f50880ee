import type { Gates } from '../../../api/gates.ts'
import { type Fields, type KubeObject, textOf, textsOf } from '../../../api/object.ts'
import { warnOfCidr, warnOfIp } from '../../rules/addresses.ts'
import { warningsOfEach } from '../../rules/warnings.ts'
import { ownIpsOf, specOf, typeOf } from './service-needs.ts'

export const hintsAnnotation = 'service.kubernetes.io/topology-aware-hints'
export const modeAnnotation = 'service.kubernetes.io/topology-mode'

/** The first release that warns about fields that have no effect on headless services. */
const HEADLESS_SINCE = 34

/** The first release that warns about the deprecated traffic distribution `PreferClose`. */
const PREFER_CLOSE_SINCE = 35

export function warnings(
  object: KubeObject,
  _current: KubeObject | undefined,
  { release }: Gates,
): string[] {
  const spec = specOf(object)
  const externalIps = textsOf(spec['externalIPs'])
  const isNamed = typeOf(spec) === 'ExternalName'
  const hints = object.metadata.annotations?.[hintsAnnotation]
  return [
    ...(hints === undefined
      ? []
      : [`annotation ${hintsAnnotation} is deprecated, please use ${modeAnnotation} instead`]),
    ...warningsOfEach(ownIpsOf(spec), (ip, at) => warnOfIp(`spec.clusterIPs[${at}]`, ip)),
    ...warningsOfEach(externalIps, (ip, at) => warnOfIp(`spec.externalIPs[${at}]`, ip)),
    ...warnOfIp('spec.loadBalancerIP', textOf(spec['loadBalancerIP'])),
    ...warningsOfEach(textsOf(spec['loadBalancerSourceRanges']), (cidr, at) =>
      warnOfCidr(`spec.loadBalancerSourceRanges[${at}]`, cidr),
    ),
    ...(release >= HEADLESS_SINCE && isHeadless(spec) ? headlessWarnings(spec) : []),
    ...(isNamed && externalIps.length > 0
      ? ['spec.externalIPs is ignored when spec.type is "ExternalName"']
      : []),
    ...(!isNamed && textOf(spec['externalName']) !== ''
      ? ['spec.externalName is ignored when spec.type is not "ExternalName"']
      : []),
    ...(release >= PREFER_CLOSE_SINCE && spec['trafficDistribution'] === 'PreferClose'
      ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
      : []),
  ]
}

const isHeadless = (spec: Fields): boolean =>
  typeOf(spec) === 'ClusterIP' && spec['clusterIP'] === 'None'

function headlessWarnings(spec: Fields): string[] {
  const ignored = [
    ...(textOf(spec['loadBalancerIP']) === '' ? [] : ['loadBalancerIP']),
    ...(textsOf(spec['externalIPs']).length === 0 ? [] : ['externalIPs']),
    ...(textOf(spec['sessionAffinity']) === 'None' ? [] : ['SessionAffinity']),
  ]
  return ignored.map((field) => `spec.${field} is ignored for headless services`)
}
