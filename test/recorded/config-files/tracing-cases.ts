/** Test cases for `--tracing-config-file`. */
import type { Json } from '../../../src/api/object.ts'
import { casesOf, type ConfigCase, type FileTable, formCases, yamlOf } from './case.ts'

const apiVersion = 'apiserver.config.k8s.io/v1beta1'
const kind = 'TracingConfiguration'
const file = (fields: { readonly [field: string]: Json }): string =>
  yamlOf({ apiVersion, kind, ...fields })
const to = (endpoint: Json): string => file({ endpoint })
const rate = (samplingRatePerMillion: Json): string => file({ samplingRatePerMillion })

const table: FileTable = {
  'version/v1alpha1': yamlOf({
    apiVersion: 'apiserver.config.k8s.io/v1alpha1',
    kind,
    samplingRatePerMillion: 5,
  }),
  'version/v1': yamlOf({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind,
    samplingRatePerMillion: 5,
  }),
  'version/other-kind-of-the-group': yamlOf({
    apiVersion,
    kind: 'AuthenticationConfiguration',
    jwt: [],
  }),
  'rate/all': rate(1_000_000),
  'rate/one-more-than-all': rate(1_000_001),
  'rate/none': rate(0),
  'rate/below-none': rate(-5),
  'rate/null': rate(null),
  'rate/fraction': rate(0.5),
  'rate/text': rate('half'),
  'rate/too-large-for-its-type': rate(4_294_967_296),
  'endpoint/host-and-port': to('collector.example.org:4317'),
  'endpoint/host-alone': to('collector'),
  'endpoint/address': to('192.0.2.7:4317'),
  'endpoint/ipv6': to('[2001:db8::7]:4317'),
  'endpoint/dns-with-resolver': to('dns://192.0.2.53/collector:4317'),
  'endpoint/dns-without-resolver': to('dns:///collector:4317'),
  'endpoint/unix': to('unix:///run/collector.sock'),
  'endpoint/unix-abstract': to('unix-abstract://collector'),
  'endpoint/https': to('https://collector:4317'),
  'endpoint/scheme-unknown': to('passthrough:///collector:4317'),
  'endpoint/port-is-text': to('collector:otlp'),
  'endpoint/blank-inside': to('my collector:4317'),
  'endpoint/control-character': to('collector\u0001:4317'),
  'endpoint/escape-broken': to('dns://%zz/collector'),
  'endpoint/blank': to(''),
  'endpoint/null': to(null),
  'endpoint/number': to(4317),
  'both/wrong': file({ samplingRatePerMillion: 2_000_000, endpoint: 'ftp://collector' }),
  'both/right': file({ samplingRatePerMillion: 10_000, endpoint: 'collector:4317' }),
  'gate/off': [rate(1), { 'feature-gates': 'APIServerTracing=false' }],
  'gate/off-and-wrong': [rate(-1), { 'feature-gates': 'APIServerTracing=false' }],
}

export const tracingCases: readonly ConfigCase[] = [
  ...casesOf(
    'tracing',
    { 'tracing-config-file': '$FILE' },
    formCases(apiVersion, kind, 'samplingRatePerMillion: 1\n'),
  ),
  ...casesOf('tracing', { 'tracing-config-file': '$FILE' }, table),
]
