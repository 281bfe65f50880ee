/**
 * Reads the file of `--egress-selector-config-file`, which defines the proxies for connections to
 * the nodes and Services of the cluster, to the control plane, and to etcd. Its kind is
 * EgressSelectorConfiguration (apiserver.k8s.io). v1alpha1 and v1beta1 have the same fields.
 */
import { existsSync } from 'node:fs'
import { describeFaults } from '../../api/aggregate.ts'
import {
  duplicate,
  type FieldFault,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../api/field-fault.ts'
import { goPointer, goStruct } from '../../api/go-value.ts'
import { type Fields, fieldsOf, isFields, itemsOf, type Json, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { parseGoUrl } from '../../api/url.ts'
import {
  type EgressConfig,
  type EgressName,
  egressNames,
  type EgressProxy,
  type ProxyTls,
} from '../../net/egress/egress-config.ts'
import { certificateBlocks, isCertificate } from '../../lib/x509/trust-anchors.ts'
import { decodeFile } from './decode-file.ts'
import { pairFault } from './key-pair.ts'
import { readTextFile } from './read-file.ts'
import { egressScheme } from './schemes.ts'

/** An error. In kube-apiserver, the prefix of its message depends on `stage`. */
export type EgressFault = {
  readonly fault: string
  readonly stage: 'reading' | 'validating' | 'building'
}

export function readEgressConfiguration(
  bytes: Buffer,
): { readonly value: EgressConfig } | EgressFault {
  const decoded = decodeFile(bytes, egressScheme)
  if ('fault' in decoded) return { fault: decoded.fault, stage: 'reading' }
  const { known, fields, strictFault } = decoded
  if (strictFault !== undefined) return { fault: strictFault, stage: 'reading' }
  if (known.hubName !== 'apiserver.EgressSelectorConfiguration') {
    const { apiVersion, kind } = fields
    return {
      fault: `unexpected config type: ${textOf(apiVersion)}, Kind=${textOf(kind)}`,
      stage: 'reading',
    }
  }
  const selections = itemsOf(fields['egressSelections']).map(selectionOf)
  const faults = [...selections.flatMap(connectionFaults), ...nameFaults(selections)]
  if (faults.length > 0) return { fault: describeFaults(faults), stage: 'validating' }
  return build(selections)
}

type Selection = {
  readonly name: string
  readonly protocol: string
  /** The transport, or undefined if the file does not configure it. */
  readonly transport: Fields | undefined
}

function selectionOf({ name: given, connection: of }: Fields): Selection {
  const name = textOf(given)
  const connection = fieldsOf(of)
  return {
    // `master` is the former name of the control plane.
    name: name === 'master' ? 'controlplane' : name,
    protocol: textOf(connection['proxyProtocol']),
    transport: isGiven(connection['transport']),
  }
}

const isGiven = (value: Json | undefined): Fields | undefined =>
  isFields(value) ? value : undefined

const path = 'service.connection'

function connectionFaults({ protocol, transport }: Selection): FieldFault[] {
  if (protocol === 'HTTPConnect') return connectFaults(transport)
  if (protocol === 'GRPC') return grpcFaults(transport)
  if (protocol !== 'Direct')
    return [notSupported(`${path}.protocol`, protocol, ['Direct', 'HTTPConnect', 'GRPC'])]
  if (transport === undefined) return []
  return [
    invalidValue(
      `${path}.transport`,
      'direct',
      'Transport config should be absent for direct connect',
    ),
  ]
}

function connectFaults(transport: Fields | undefined): FieldFault[] {
  if (transport === undefined)
    return [required(`${path}.transport`, 'transport must be set for HTTPConnect')]
  const [tcp, uds] = [isGiven(transport['tcp']), isGiven(transport['uds'])]
  if (uds === undefined) {
    return tcp === undefined
      ? [required(`${path}.tcp`, 'One of TCP or UDS must be set')]
      : tcpFaults(tcp)
  }
  if (tcp === undefined) return socketFaults(uds)
  const shown = goStruct('apiserver.TCPTransport', {
    URL: quote(textOf(tcp['url'])),
    TLSConfig: goPointer('apiserver.TLSConfig', isFields(tcp['tlsConfig'])),
  })
  return [invalidShown(`${path}.tcp`, shown, 'TCP and UDS cannot both be set')]
}

function grpcFaults(transport: Fields | undefined): FieldFault[] {
  if (transport === undefined)
    return [required(`${path}.transport`, 'transport must be set for GRPC')]
  const uds = isGiven(transport['uds'])
  return uds === undefined
    ? [required(`${path}.uds`, 'UDS must be set with GRPC')]
    : socketFaults(uds)
}

function socketFaults({ udsName }: Fields): FieldFault[] {
  if (textOf(udsName) !== '') return []
  return [invalidValue(`${path}.udsName`, 'nil', 'UDSName should be present for UDS connections')]
}

function tcpFaults(tcp: Fields): FieldFault[] {
  const url = textOf(tcp['url'])
  const tls = isGiven(tcp['tlsConfig'])
  if (url.startsWith('https://')) return tlsFaults(tls)
  if (!url.startsWith('http://')) {
    return [
      invalidValue(`${path}.url`, url, 'supported connection protocols are http:// and https://'),
    ]
  }
  if (tls === undefined) return []
  return [
    invalidValue(
      `${path}.tlsConfig`,
      'nil',
      'TLSConfig config should not be present when using HTTP',
    ),
  ]
}

function tlsFaults(tls: Fields | undefined): FieldFault[] {
  if (tls === undefined)
    return [required(`${path}.tlsConfig`, 'TLSConfig must be present when using HTTPS')]
  const [ca, certificate, key] = [
    textOf(tls['caBundle']),
    textOf(tls['clientCert']),
    textOf(tls['clientKey']),
  ]
  return [
    ...(ca === '' ? [] : fileFaults('caBundle', ca, 'TLS config ca bundle')),
    ...(certificate === ''
      ? [invalidValue(`${path}.tlsConfig.clientCert`, 'nil', 'Using TLS requires clientCert')]
      : fileFaults('clientCert', certificate, 'TLS client cert')),
    ...(key === ''
      ? [
          invalidValue(
            `${path}.tlsConfig.clientKey`,
            'nil',
            'Using TLS requires requires clientKey',
          ),
        ]
      : fileFaults('clientKey', key, 'TLS client key')),
  ]
}

const fileFaults = (field: string, file: string, what: string): FieldFault[] =>
  existsSync(file)
    ? []
    : [invalidValue(`${path}.tlsConfig.${field}`, file, `${what} does not exist`)]

function nameFaults(selections: readonly Selection[]): FieldFault[] {
  const seen = new Set<string>()
  return selections.flatMap((selection, at) => {
    const name = selection.name.toLowerCase()
    if (seen.has(name)) return [duplicate(`${path}[${at}]`, name)]
    seen.add(name)
    return isEgressName(name) ? [] : [notSupported(path, name, egressNames)]
  })
}

const isEgressName = (name: string): name is EgressName =>
  egressNames.some((known) => known === name)

function build(selections: readonly Selection[]): { readonly value: EgressConfig } | EgressFault {
  const value: { [name in EgressName]?: EgressProxy | null } = {}
  for (const selection of selections) {
    const name = selection.name.toLowerCase()
    const proxy = proxyOf(selection)
    if (proxy !== null && 'fault' in proxy) {
      const why = `failed to create dialer for egressSelection ${quote(name)}: ${proxy.fault}`
      return {
        fault: `failed to setup egress selector with config &${goConfig(selections)}: ${why}`,
        stage: 'building',
      }
    }
    if (isEgressName(name)) value[name] = proxy
  }
  return { value }
}

function proxyOf({
  protocol,
  transport = {},
}: Selection): EgressProxy | { readonly fault: string } | null {
  if (protocol === 'Direct') return null
  const uds = isGiven(transport['uds'])
  if (uds !== undefined) {
    return {
      protocol: protocol === 'GRPC' ? 'grpc' : 'http-connect',
      transport: 'uds',
      path: textOf(uds['udsName']),
    }
  }
  const { url: given, tlsConfig } = fieldsOf(transport['tcp'])
  const tls = isFields(tlsConfig) ? tlsOf(tlsConfig) : null
  const fault = tls === null ? undefined : unusable(tls)
  if (fault !== undefined) return { fault }
  const url = parseGoUrl(textOf(given))
  if ('fault' in url)
    return { fault: `invalid proxy server url ${quote(textOf(given))}: ${url.fault}` }
  return { protocol: 'http-connect', transport: 'tcp', address: url.host, tls }
}

const tlsOf = ({ caBundle, clientCert, clientKey }: Fields): ProxyTls => ({
  caPath: textOf(caBundle) || null,
  certificatePath: textOf(clientCert),
  keyPath: textOf(clientKey),
})

/**
 * Returns why the TLS files cannot be used, or undefined if they can be used. The files are
 * validated at startup, although each connection reads them again.
 */
function unusable({ caPath, certificatePath, keyPath }: ProxyTls): string | undefined {
  const pair = (why: string): string =>
    `failed to read key pair ${certificatePath} & ${keyPath}, got ${why}`
  const [certificate, key] = [readTextFile(certificatePath), readTextFile(keyPath)]
  if ('fault' in certificate) return pair(certificate.fault)
  if ('fault' in key) return pair(key.fault)
  const other = pairFault(certificate.text, key.text)
  if (other !== undefined) return pair(other)
  if (caPath === null) return undefined
  const ca = readTextFile(caPath)
  if ('fault' in ca) return `failed to read cert file ${caPath}, got ${ca.fault}`
  return certificateBlocks(ca.text).some(isCertificate)
    ? undefined
    : 'failed to append CA cert to the cert pool'
}

function goConfig(selections: readonly Selection[]): string {
  const items = selections.map(({ name, protocol, transport }) => {
    const connection = goStruct('apiserver.Connection', {
      ProxyProtocol: quote(protocol),
      Transport: goPointer('apiserver.Transport', transport !== undefined),
    })
    return goStruct('apiserver.EgressSelection', { Name: quote(name), Connection: connection })
  })
  return goStruct('apiserver.EgressSelectorConfiguration', {
    TypeMeta: 'v1.TypeMeta{Kind:"", APIVersion:""}',
    EgressSelections: `[]apiserver.EgressSelection{${items.join(', ')}}`,
  })
}
