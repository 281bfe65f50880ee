/**
 * Policies whose expressions are type-checked, by name, and the custom kind to which some of them
 * refer.
 */
import type { Fields } from '../../../src/api/object.ts'

export type Case = {
  readonly rules: readonly Fields[]
  readonly paramKind?: Fields
  readonly variables?: readonly Fields[]
  readonly validations: readonly Fields[]
}

const rule = (group: string, version: string, ...resources: readonly string[]): Fields => ({
  apiGroups: [group],
  apiVersions: [version],
  operations: ['CREATE'],
  resources,
})
const deployments = rule('apps', 'v1', 'deployments')
const pods = rule('', 'v1', 'pods')
const configMaps = rule('', 'v1', 'configmaps')
const widgets = rule('example.com', 'v1', 'widgets')

const checks = (rules: readonly Fields[], ...expressions: readonly string[]): Case => ({
  rules,
  validations: expressions.map((expression) => ({ expression })),
})
/**
 * Returns an expression that is valid as long as types are ignored. All warnings about it are
 * therefore type errors.
 */
const holds = (field: string): string => `${field} == dyn(1)`

const text = { type: 'string' }
export const definition: Fields = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  ratio: { type: 'number' },
                  host: text,
                  at: { type: 'string', format: 'date-time' },
                  day: { type: 'string', format: 'date' },
                  lasts: { type: 'string', format: 'duration' },
                  bytes: { type: 'string', format: 'byte' },
                  either: { 'x-kubernetes-int-or-string': true },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  untyped: { 'x-kubernetes-preserve-unknown-fields': true },
                  embedded: {
                    type: 'object',
                    'x-kubernetes-embedded-resource': true,
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                  list: {
                    type: 'array',
                    items: { type: 'object', properties: { name: text, on: { type: 'boolean' } } },
                  },
                  map: { type: 'object', additionalProperties: { type: 'integer' } },
                  'dashed-name': text,
                  namespace: text,
                },
              },
              status: { type: 'object', properties: { phase: text } },
            },
          },
        },
      },
    ],
  },
}

export const cases: { readonly [name: string]: Case } = {
  good: checks([deployments], 'object.spec.replicas > 1', "object.metadata.name.startsWith('a')"),
  'unknown-field': checks(
    [deployments],
    'object.foo == 1',
    "object.spec.nothing == 'a'",
    'object.spec.template.spec.none.more == 1',
  ),
  'wrong-type': checks(
    [deployments],
    "object.spec.replicas == 'a'",
    'object.metadata.name > 1',
    'object.spec.replicas + 1.5 > 2.0',
  ),
  'several-lines': checks([deployments], 'object.spec.replicas > 1 &&\n  object.spec.none == 1'),
  'two-faults': checks([deployments], 'object.a == 1 && object.b == 2'),
  'several-kinds': checks(
    [rule('apps', 'v1', 'deployments', 'statefulsets', 'daemonsets')],
    'object.spec.replicas > 1',
    'object.none == 1',
  ),
  'several-groups': checks(
    [deployments, pods],
    'object.spec.replicas > 1',
    'has(object.spec.containers)',
  ),
  'many-kinds': checks(
    [
      rule(
        '',
        'v1',
        'pods',
        'services',
        'configmaps',
        'secrets',
        'endpoints',
        'events',
        'nodes',
        'namespaces',
        'limitranges',
        'podtemplates',
        'resourcequotas',
        'serviceaccounts',
      ),
    ],
    'object.none == 1',
  ),
  wildcards: checks(
    [rule('*', 'v1', 'deployments'), rule('apps', '*', 'deployments'), rule('apps', 'v1', '*')],
    'object.none == 1',
  ),
  subresources: checks(
    [rule('apps', 'v1', 'deployments/status', 'deployments/*')],
    'object.none == 1',
  ),
  'partly-subresources': checks(
    [rule('apps', 'v1', 'deployments', 'deployments/scale')],
    'object.none == 1',
  ),
  'unknown-resource': checks(
    [rule('apps', 'v1', 'nothings'), rule('apps', 'v9', 'deployments')],
    'object.none == 1',
  ),
  'core-group-of-others': checks([rule('', 'v1', 'deployments')], 'object.none == 1'),
  'events-in-both': checks([rule('', 'v1', 'events')], 'object.none == 1'),
  singular: checks([rule('apps', 'v1', 'deployment')], 'object.none == 1'),
  capitals: checks([rule('apps', 'v1', 'Deployments')], 'object.none == 1'),
  'other-version': checks(
    [
      rule('autoscaling', 'v1', 'horizontalpodautoscalers'),
      rule('autoscaling', 'v2', 'horizontalpodautoscalers'),
    ],
    'object.spec.targetCPUUtilizationPercentage > 1',
  ),
  message: {
    rules: [deployments],
    validations: [
      { expression: 'true', messageExpression: "'a' + object.spec.replicas" },
      { expression: 'object.none == 1', messageExpression: 'string(object.other)' },
    ],
  },
  metadata: checks(
    [configMaps],
    "object.metadata.labels['a'] == 1",
    'object.metadata.creationTimestamp.getFullYear() > 2000',
    "object.metadata.creationTimestamp == 'a'",
    'object.metadata.none == 1',
    'object.metadata.ownerReferences[0].uid == 1',
    'object.metadata.managedFields[0].fieldsV1.a == 1',
  ),
  'old-object': checks(
    [deployments],
    'oldObject.spec.replicas == object.spec.none',
    'oldObject == null || oldObject.spec.replicas > 1',
  ),
  quantities: checks(
    [pods],
    "object.spec.containers.all(c, c.resources.limits['cpu'] == 'a')",
    'object.spec.containers.all(c, has(c.resources.requests))',
    "object.spec.overhead['cpu'] == 'a'",
  ),
  'int-or-string': checks(
    [rule('', 'v1', 'services')],
    'object.spec.ports[0].targetPort == 1',
    "object.spec.ports[0].targetPort == 'a'",
    "object.spec.ports[0].port == 'a'",
  ),
  bytes: checks(
    [rule('', 'v1', 'secrets')],
    "object.data['a'] == 'a'",
    "object.data['a'] == b'a'",
    "object.stringData['a'] == 1",
    'object.data.size() > 1',
    'string(object.data.a) == object.metadata.name',
  ),
  lists: checks(
    [pods],
    'object.spec.containers == 1',
    'object.spec.containers.exists(c, c.none)',
    'object.spec.containers.map(c, c.name).exists(n, n == 1)',
    "'a' in object.spec.containers",
    "object.spec.containers[0].ports[0].containerPort == '80'",
    'object.spec.containers.name == 1',
  ),
  structs: checks(
    [deployments],
    'object.spec == 1',
    'object.spec.template == object.spec',
    'object == oldObject',
    'object.spec + 1 == 2',
    "object.metadata.labels == {'a': 1}",
    'type(object) == map',
  ),
  circular: checks(
    [rule('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')],
    'object.spec.versions[0].schema.openAPIV3Schema.properties.all(p, object.none)',
    "object.spec.versions[0].schema.openAPIV3Schema.properties['a'].type == 'b'",
    'object.spec.versions[0].schema.openAPIV3Schema.type == 1',
    'object.spec.versions[0].schema.openAPIV3Schema.default == 1',
    "object.spec.versions[0].schema.openAPIV3Schema.not.type == 'a'",
  ),
  raw: checks(
    [rule('apps', 'v1', 'controllerrevisions')],
    "object.data.a == 'b'",
    'object.revision == 1.5',
    'has(object.data)',
  ),
  float: checks(
    [rule('flowcontrol.apiserver.k8s.io', 'v1', 'flowschemas')],
    "object.spec.matchingPrecedence == 'a'",
    "object.status.conditions[0].lastTransitionTime == 'a'",
  ),
  request: checks(
    [deployments],
    'request.operation == object.spec.replicas',
    "request.userInfo.extra['a'] == object.metadata.name",
    'request.options.a == 1',
  ),
  namespace: checks(
    [deployments],
    'namespaceObject.metadata.labels.a == object.spec.replicas',
    'namespaceObject.status.phase == object.metadata.name',
  ),
  authorizer: checks(
    [deployments],
    "authorizer.group('a').resource('b').check('c').allowed()",
    "authorizer.requestResource.check('c').allowed()",
    "authorizer.path(object.metadata.name).check('a').allowed()",
    "authorizer.path(object.spec.replicas).check('a').allowed()",
  ),
  variables: {
    rules: [deployments],
    variables: [
      { name: 'n', expression: 'object.spec.replicas' },
      { name: 'bad', expression: 'object.none' },
      { name: 'l', expression: 'object.metadata.labels' },
      { name: 's', expression: 'object.spec' },
      { name: 'late', expression: 'variables.n + 1' },
    ],
    validations: [
      "variables.n == 'a'",
      'variables.bad == 1',
      "variables.l['a'] == 1",
      'variables.s.none == 1',
      'variables.late == object.metadata.name',
    ].map((expression) => ({ expression })),
  },
  params: {
    rules: [deployments],
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [
      "params.data['a'] == 1",
      'params.none == 1',
      "params.data.a == 'b'",
      'object.none == params.none',
    ].map((expression) => ({ expression })),
  },
  'params-unknown': {
    rules: [deployments],
    paramKind: { apiVersion: 'example.org/v1', kind: 'Nothing' },
    validations: [
      { expression: "params.data['a'] == 1" },
      { expression: 'object.spec.replicas > 1' },
    ],
  },
  'params-custom': {
    rules: [deployments],
    paramKind: { apiVersion: 'example.com/v1', kind: 'Widget' },
    validations: [
      { expression: 'params.spec.size == object.spec.replicas' },
      { expression: "params.spec.size == 'a'" },
      { expression: 'params.spec.none == 1' },
    ],
  },
  'params-without-kind': { rules: [deployments], validations: [{ expression: 'true' }] },
  'custom-good': checks(
    [widgets],
    'object.spec.size > 1',
    "object.metadata.labels['a'] == 'b'",
    'object.spec.ratio > 1.0',
  ),
  custom: checks(
    [widgets],
    "object.spec.size == 'a'",
    'object.spec.none == 1',
    'object.spec.ratio == 1',
    "object.spec.at == 'a'",
    "object.spec.day == 'a'",
    "object.spec.lasts == 'a'",
    "object.spec.bytes == 'a'",
    "object.spec.either == 'a' || object.spec.either == 1",
    'object.status.phase == 1',
    'object.none == 1',
  ),
  'custom-parts': checks(
    [widgets],
    'object.spec.free.a == 1',
    'object.spec.untyped == 1',
    'object.spec.embedded.kind == 1',
    'object.spec.embedded.metadata.labels.a == 1',
    'object.spec.embedded.spec == 1',
    "object.spec.list[0].on == 'a'",
    "object.spec.map['a'] == 'b'",
    'object.spec.dashed__dash__name == 1',
    'object.spec.namespace == 1',
    'object.spec.__namespace__ == 1',
    'object.metadata.none == 1',
    'object.metadata.name == 1',
  ),
  'custom-and-built-in': checks(
    [widgets, deployments],
    'object.spec.size > 1',
    'object.spec.none == 1',
  ),
  macros: checks(
    [pods],
    'object.spec.containers.exists_one(c, c.image == 1)',
    'object.metadata.labels.all(k, k == 1)',
    "object.metadata.?labels['a'].orValue(object.spec.priority) == 'a'",
    'object.?none.hasValue()',
    'object.metadata.labels.transformList(k, v, v).exists(v, v == 1)',
  ),
  libraries: checks(
    [pods],
    'object.metadata.name.matches(object.spec.priority)',
    'quantity(object.spec.nodeName).isGreaterThan(quantity(object.spec.priority))',
    "object.spec.hostNetwork == 'a'",
    "object.spec.priority.startsWith('a')",
    'isIP(object.spec.priority)',
  ),
  dynamic: checks([pods], holds('object.spec.nodeName'), holds('object.spec.none')),
}

export const policyOf = (name: string, { rules, ...spec }: Case): Fields => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: { resourceRules: rules }, failurePolicy: 'Fail', ...spec },
})
