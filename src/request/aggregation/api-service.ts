/** Reads an APIService: its group and version, and the server that serves them. */
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import type { ServiceReference } from '../../net/outbound/service-address.ts'

export type ApiService = {
  /** Name in the form `<version>.<group>`. `v1.` is the legacy group. */
  readonly name: string
  readonly resourceVersion: string
  readonly group: string
  readonly version: string
  readonly groupPriorityMinimum: number
  readonly versionPriority: number
  /** The remote server for the group and version. Undefined if this server serves them. */
  readonly remote: RemoteSpec | undefined
  /** Whether the Available condition of the APIService is True. */
  readonly isAvailable: boolean
  /** The Available condition. Undefined if it is absent. */
  readonly condition: Condition | undefined
  /**
   * Whether this server creates and deletes the APIService, because this server itself serves the
   * group and version.
   */
  readonly isManaged: boolean
}

export type Condition = {
  readonly status: string
  readonly reason: string
  readonly message: string
}

export type RemoteSpec = {
  readonly service: ServiceReference
  /** CA certificates in PEM format. If empty, the CAs of the system are used. */
  readonly caPem: string
  /** Whether verification of the server's certificate is disabled. */
  readonly isInsecure: boolean
}

const DEFAULT_PORT = 443

export function readApiService(object: KubeObject): ApiService {
  const spec = fieldsOf(object['spec'])
  const { name = '', resourceVersion = '' } = object.metadata
  const { status, reason, message } = conditionOf(object) ?? {}
  return {
    name,
    resourceVersion,
    group: textOf(spec['group']),
    version: textOf(spec['version']),
    groupPriorityMinimum: numberOf(spec['groupPriorityMinimum']),
    versionPriority: numberOf(spec['versionPriority']),
    remote: isFields(spec['service']) ? remoteSpec(spec, spec['service']) : undefined,
    isAvailable: status === 'True',
    condition:
      status === undefined
        ? undefined
        : { status: textOf(status), reason: textOf(reason), message: textOf(message) },
    isManaged: object.metadata.labels?.['kube-aggregator.kubernetes.io/automanaged'] !== undefined,
  }
}

const conditionOf = (object: KubeObject): Fields | undefined =>
  itemsOf(fieldsOf(object['status'])['conditions']).find(({ type }) => type === 'Available')

const remoteSpec = (spec: Fields, { namespace, name, port }: Fields): RemoteSpec => ({
  service: {
    namespace: textOf(namespace),
    name: textOf(name),
    port: numberOf(port) || DEFAULT_PORT,
  },
  caPem: Buffer.from(textOf(spec['caBundle']), 'base64').toString('latin1'),
  isInsecure: spec['insecureSkipTLSVerify'] === true,
})

/**
 * Whether both specs result in the same connection to the same server, so that existing connections
 * can be reused.
 */
export const isSameRemote = (one: RemoteSpec, other: RemoteSpec): boolean =>
  one.service.namespace === other.service.namespace &&
  one.service.name === other.service.name &&
  one.service.port === other.service.port &&
  one.caPem === other.caPem &&
  one.isInsecure === other.isInsecure
