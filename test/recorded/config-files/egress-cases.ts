/**
 * Test cases for `--egress-selector-config-file`. There is no test case for a proxy with an http://
 * URL and no tlsConfig, because kube-apiserver crashes with this configuration.
 */
import type { Json } from '../../../src/api/object.ts'
import { casesOf, type ConfigCase, type FileTable, formCases, yamlOf } from './case.ts'

const apiVersion = 'apiserver.k8s.io/v1beta1'
const kind = 'EgressSelectorConfiguration'
const file = (egressSelections: Json, version = apiVersion): string =>
  yamlOf({ apiVersion: version, kind, egressSelections })
const direct = { proxyProtocol: 'Direct' }
const to = (...names: readonly Json[]): string =>
  file(names.map((name) => ({ name, connection: direct })))
const via = (proxyProtocol: Json, transport?: Json): string =>
  file([
    {
      name: 'cluster',
      connection: { proxyProtocol, ...(transport === undefined ? {} : { transport }) },
    },
  ])
const socket = (udsName: Json): Json => ({ uds: { udsName } })
const tcp = (url: Json, tlsConfig?: Json): Json => ({
  tcp: { url, ...(tlsConfig === undefined ? {} : { tlsConfig }) },
})
const files = {
  caBundle: '$DIR/ca.pem',
  clientCert: '$DIR/client.pem',
  clientKey: '$DIR/client.key',
}
const tls = (changed: { readonly [field: string]: Json }): string =>
  via('HTTPConnect', tcp('https://proxy.example.org:8131', { ...files, ...changed }))

const table: FileTable = {
  'version/v1alpha1': file([{ name: 'etcd', connection: direct }], 'apiserver.k8s.io/v1alpha1'),
  'version/v1': file([], 'apiserver.k8s.io/v1'),
  'version/other-kind-of-the-scheme': yamlOf({
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    kind: 'AuthenticationConfiguration',
    jwt: [],
  }),
  'version/other-kind-with-unknown-field': yamlOf({
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    kind: 'TracingConfiguration',
    other: 1,
  }),
  'selections/null': file(null),
  'selections/null-in-list': file([null]),
  'selections/map': file({ name: 'cluster' }),
  'name/all': to('cluster', 'controlplane', 'etcd'),
  'name/capitals': to('CLUSTER', 'Etcd'),
  'name/master': to('master'),
  'name/master-in-capitals': to('MASTER'),
  'name/master-of-v1alpha1': file(
    [{ name: 'master', connection: direct }],
    'apiserver.k8s.io/v1alpha1',
  ),
  'name/number': to(5),
  'name/null': to(null),
  'name/three-of-one': to('etcd', 'ETCD', 'etcd'),
  'name/two-unknown': to('a', 'a'),
  'name/quoted': to('a "b"'),
  'connection/null': file([{ name: 'cluster', connection: null }]),
  'connection/text': file([{ name: 'cluster', connection: 'Direct' }]),
  'connection/unknown-field': file([{ name: 'cluster', connection: { ...direct, port: 1 } }]),
  'direct/transport-null': via('Direct', null),
  'direct/transport-socket': via('Direct', socket('/run/proxy.sock')),
  'grpc/socket': via('GRPC', socket('/run/proxy.sock')),
  'grpc/socket-relative': via('GRPC', socket('proxy.sock')),
  'grpc/socket-null': via('GRPC', socket(null)),
  'grpc/uds-null': via('GRPC', { uds: null }),
  'grpc/both': via('GRPC', { uds: { udsName: '/run/proxy.sock' }, tcp: { url: 'ftp://a' } }),
  'grpc/transport-empty': via('GRPC', {}),
  'connect/socket': via('HTTPConnect', socket('/run/proxy.sock')),
  'connect/socket-unknown-field': via('HTTPConnect', { uds: { name: '/run/proxy.sock' } }),
  'connect/both-with-tls': via('HTTPConnect', {
    uds: {},
    tcp: { url: 'https://a', tlsConfig: files },
  }),
  'tls/all': tls({}),
  'tls/no-port': via('HTTPConnect', tcp('https://proxy', files)),
  'tls/ipv6': via('HTTPConnect', tcp('https://[2001:db8::7]:8131', files)),
  'tls/path': via('HTTPConnect', tcp('https://proxy:8131/a', files)),
  'tls/no-host': via('HTTPConnect', tcp('https://', files)),
  'tls/blank-in-host': via('HTTPConnect', tcp('https://a b', files)),
  'tls/scheme-in-capitals': via('HTTPConnect', tcp('HTTPS://proxy:8131', files)),
  'tls/none': via('HTTPConnect', tcp('https://proxy')),
  'tls/empty': via('HTTPConnect', tcp('https://proxy', {})),
  'tls/with-http': via('HTTPConnect', tcp('http://proxy', {})),
  'tls/ca-blank': tls({ caBundle: '' }),
  'tls/ca-absent': tls({ caBundle: '/none' }),
  'tls/ca-is-a-key': tls({ caBundle: '$DIR/client.key' }),
  'tls/ca-is-a-folder': tls({ caBundle: '$DIR' }),
  'tls/certificate-absent': tls({ clientCert: '/none' }),
  'tls/certificate-is-a-key': tls({ clientCert: '$DIR/client.key' }),
  'tls/key-absent': tls({ clientKey: '/none' }),
  'tls/key-of-another': tls({ clientKey: '$DIR/other.key' }),
  'tls/key-is-a-certificate': tls({ clientKey: '$DIR/client.pem' }),
  'tls/all-absent': tls({ caBundle: '/none', clientCert: '/none', clientKey: '/none' }),
  'several/of-all-kinds': file([
    { name: 'cluster', connection: { proxyProtocol: 'GRPC' } },
    { name: 'Cluster', connection: { proxyProtocol: 'x' } },
    { name: 'y', connection: { proxyProtocol: 'HTTPConnect', transport: {} } },
  ]),
  'several/same-fault-twice': file([
    { name: 'cluster', connection: { proxyProtocol: 'GRPC' } },
    { name: 'etcd', connection: { proxyProtocol: 'GRPC' } },
  ]),
}

export const egressCases: readonly ConfigCase[] = [
  ...casesOf(
    'egress',
    { 'egress-selector-config-file': '$FILE' },
    formCases(apiVersion, kind, 'egressSelections: []\n'),
  ),
  ...casesOf('egress', { 'egress-selector-config-file': '$FILE' }, table),
]
