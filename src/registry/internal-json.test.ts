import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printInternal } from './internal-json.ts'

test('fields have the names of Go in the order of the struct, and absent ones are shown', () => {
  const port = { port: 80, targetPort: 'http', name: 'a' }
  assert.equal(
    printInternal('core.ServicePort', port, 34),
    '{"Name":"a","Protocol":"","AppProtocol":null,"Port":80,"TargetPort":"http","NodePort":0}',
  )
  assert.equal(printInternal('*core.ServicePort', undefined, 34), 'null')
})

test('maps are sorted, and strings are escaped as in Go', () => {
  const spec = { nodeSelector: { b: '1', a: '<' }, containers: [] }
  const text = printInternal('core.PodSpec', spec, 34)
  assert.match(text, /"NodeSelector":\{"a":"\\u003c","b":"1"\}/)
  assert.match(text, /"Volumes":null,"InitContainers":null,"Containers":\[\]/)
})

test('metadata of a template is inlined with the names of JSON', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { hostNetwork: true } }
  const text = printInternal('core.PodTemplateSpec', template, 34)
  assert.ok(text.startsWith('{"labels":{"a":"b"},"Spec":{"Volumes":null,'), text)
  assert.match(text, /"SecurityContext":\{"HostNetwork":true,"HostPID":false,/)
})

const template = (release: number): string => printInternal('core.PodTemplateSpec', {}, release)

test('fields of a later release are shown only since this release', () => {
  assert.doesNotMatch(template(34), /SchedulingGroup/)
  assert.match(template(36), /"SchedulingGroup":null/)
  assert.match(template(37), /"NodeName":"","HostNetwork":false/)
})

test('a schema has the form of the internal version', () => {
  const schema = {
    additionalProperties: { type: 'string' },
    items: { type: 'integer' },
    'x-kubernetes-preserve-unknown-fields': true,
  }
  const text = printInternal('apiextensions.JSONSchemaProps', schema, 34)
  assert.match(text, /"Items":\{"Schema":\{"ID":"",.*?\},"JSONSchemas":null\}/)
  assert.match(text, /"AdditionalProperties":\{"Allows":true,"Schema":\{"ID":""/)
  assert.match(text, /"XPreserveUnknownFields":true/)
})

test('the configuration of a claim is shown with its parameters', () => {
  const opaque = { driver: 'd', parameters: '{"a":1}' }
  assert.match(
    printInternal('resource.ResourceClaimSpec', { devices: { config: [{ opaque }] } }, 34),
    /"Config":\[\{"Requests":null,"Opaque":\{"Driver":"d","Parameters":\{"a":1\}\}\}\]/,
  )
})
