import { type KubeObject, textOf, textsOf } from '../../../api/object.ts'
import { warnOfCidr, warnOfIp } from '../../rules/addresses.ts'
import { warningsOfEach } from '../../rules/warnings.ts'
import { ownIpsOf, specOf, typeOf } from './service-needs.ts'

export const hintsAnnotation = 'service.kubernetes.io/topology-aware-hints'
export const modeAnnotation = 'service.kubernetes.io/topology-mode'

export function warnings(object: KubeObject): string[] {
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
    ...(isNamed && externalIps.length > 0
      ? ['spec.externalIPs is ignored when spec.type is "ExternalName"']
      : []),
    ...(!isNamed && textOf(spec['externalName']) !== ''
      ? ['spec.externalName is ignored when spec.type is not "ExternalName"']
      : []),
  ]
}
