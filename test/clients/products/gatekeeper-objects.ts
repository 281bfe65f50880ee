/**
 * Policies for Gatekeeper, and objects that violate or satisfy them. The Rego and CEL code was
 * written for this test.
 */
import type { Manifest } from './manifests.ts'

const TARGET = 'admission.k8s.gatekeeper.sh'

type Template = {
  readonly name: string
  readonly kind: string
  readonly parameters: object
  readonly rego?: string
  /** CEL validations, from which Gatekeeper generates a ValidatingAdmissionPolicy. */
  readonly cel?: readonly object[]
  readonly operations?: readonly string[]
}

export function template({ name, kind, parameters, rego, cel, operations }: Template): Manifest {
  const code = [
    ...(rego === undefined ? [] : [{ engine: 'Rego', source: { rego } }]),
    ...(cel === undefined ? [] : [{ engine: 'K8sNativeValidation', source: { validations: cel } }]),
  ]
  return {
    apiVersion: 'templates.gatekeeper.sh/v1',
    kind: 'ConstraintTemplate',
    metadata: { name },
    spec: {
      crd: {
        spec: {
          names: { kind },
          validation: { openAPIV3Schema: { type: 'object', properties: parameters } },
        },
      },
      targets: [{ target: TARGET, ...(operations === undefined ? {} : { operations }), code }],
    },
  }
}

export const requiredLabels = template({
  name: 'k8srequiredlabels',
  kind: 'K8sRequiredLabels',
  parameters: { labels: { type: 'array', items: { type: 'string' } } },
  rego: `package requiredlabels

violation[{"msg": msg, "details": {"missing": missing}}] {
  present := {label | input.review.object.metadata.labels[label]}
  wanted := {label | label := input.parameters.labels[_]}
  missing := wanted - present
  count(missing) > 0
  msg := sprintf("%v %v lacks the labels %v", [input.review.kind.kind, input.review.object.metadata.name, missing])
}`,
})

export const brokenRego = template({
  name: 'k8sbroken',
  kind: 'K8sBroken',
  parameters: {},
  rego: 'package broken\n\nviolation[{"msg": msg}] {\n  msg := undefined_function(1)\n}',
})

export const wrongName = template({
  name: 'other',
  kind: 'K8sOther',
  parameters: {},
  rego: 'package a\nviolation[{"msg": "a"}] { true }',
})

export const unknownSchema = template({
  name: 'k8sschema',
  kind: 'K8sSchema',
  parameters: { labels: { type: 'sack' } },
  rego: 'package a\nviolation[{"msg": "a"}] { true }',
})

/**
 * A Gatekeeper template in CEL. Gatekeeper generates an admission policy from it, which the server
 * evaluates.
 */
export const replicaLimits = template({
  name: 'k8sreplicalimits',
  kind: 'K8sReplicaLimits',
  parameters: { max: { type: 'integer' } },
  operations: ['CREATE', 'UPDATE'],
  cel: [
    {
      expression: '!has(object.spec.replicas) || object.spec.replicas <= variables.params.max',
      messageExpression:
        '"at most " + string(variables.params.max) + " replicas, not " + string(object.spec.replicas)',
    },
  ],
})

/**
 * A Gatekeeper template that denies DELETE requests. These requests contain only the old object.
 */
export const keep = template({
  name: 'k8skeep',
  kind: 'K8sKeep',
  parameters: {},
  rego: `package keep

violation[{"msg": msg}] {
  input.review.operation == "DELETE"
  input.review.oldObject.metadata.annotations.keep == "yes"
  msg := sprintf("%v must be kept", [input.review.oldObject.metadata.name])
}`,
})

/**
 * A Gatekeeper template that reads other objects. A SyncSet makes Gatekeeper load these objects
 * into its memory.
 */
export const uniqueTitle = template({
  name: 'k8suniquetitle',
  kind: 'K8sUniqueTitle',
  parameters: {},
  rego: `package uniquetitle

violation[{"msg": msg}] {
  title := input.review.object.metadata.labels.title
  other := data.inventory.namespace[namespace]["v1"]["ConfigMap"][name]
  other.metadata.labels.title == title
  [namespace, name] != [input.review.object.metadata.namespace, input.review.object.metadata.name]
  msg := sprintf("the title %v is taken by %v/%v", [title, namespace, name])
}`,
})

/** A Gatekeeper template that checks the images of all types of containers of a Pod. */
export const allowedRegistries = template({
  name: 'k8sallowedregistries',
  kind: 'K8sAllowedRegistries',
  parameters: { registries: { type: 'array', items: { type: 'string' } } },
  rego: `package allowedregistries

containers[container] { container := input.review.object.spec.containers[_] }
containers[container] { container := input.review.object.spec.initContainers[_] }
containers[container] { container := input.review.object.spec.ephemeralContainers[_] }

violation[{"msg": msg}] {
  container := containers[_]
  not allowed(container.image)
  msg := sprintf("container %v has the image %v from another registry", [container.name, container.image])
}

allowed(image) { startswith(image, input.parameters.registries[_]) }`,
})

export const scaleLimit = template({
  name: 'k8sscalelimit',
  kind: 'K8sScaleLimit',
  parameters: { max: { type: 'integer' } },
  rego: `package scalelimit

violation[{"msg": msg}] {
  input.review.object.spec.replicas > input.parameters.max
  msg := sprintf("%v/%v by %v to %v", [input.review.resource.resource, input.review.subResource, input.review.userInfo.username, input.review.object.spec.replicas])
}`,
})

export type Constraint = {
  readonly kind: string
  readonly name: string
  readonly on: readonly [string, string][]
  readonly match?: object
  readonly parameters?: object
  readonly action?: string
  readonly scoped?: readonly object[]
}

/** Returns a constraint. `on` contains pairs of API group and kind. */
export function constraint({
  kind,
  name,
  on,
  match,
  parameters,
  action,
  scoped,
}: Constraint): Manifest {
  return {
    apiVersion: 'constraints.gatekeeper.sh/v1beta1',
    kind,
    metadata: { name },
    spec: {
      ...(action === undefined ? {} : { enforcementAction: action }),
      ...(scoped === undefined ? {} : { scopedEnforcementActions: scoped }),
      match: { kinds: on.map(([group, of]) => ({ apiGroups: [group], kinds: [of] })), ...match },
      ...(parameters === undefined ? {} : { parameters }),
    },
  }
}

type Mutator = {
  readonly kind: string
  readonly name: string
  readonly version?: string
  readonly spec: object
}

export const mutator = ({ kind, name, version = 'v1', spec }: Mutator): Manifest => ({
  apiVersion: `mutations.gatekeeper.sh/${version}`,
  kind,
  metadata: { name },
  spec,
})

const pods = [{ groups: [''], kinds: ['Pod'], versions: ['v1'] }]
const inPlay = {
  scope: 'Namespaced',
  namespaces: ['play'],
  kinds: [{ apiGroups: [''], kinds: ['Pod'] }],
}

export const mutators: readonly Manifest[] = [
  mutator({
    kind: 'AssignMetadata',
    name: 'owner',
    spec: {
      match: inPlay,
      location: 'metadata.labels.owner',
      parameters: { assign: { value: 'nobody' } },
    },
  }),
  mutator({
    kind: 'AssignMetadata',
    name: 'came-from',
    version: 'v1beta1',
    spec: {
      match: inPlay,
      location: 'metadata.annotations."example.com/from"',
      parameters: { assign: { fromMetadata: { field: 'namespace' } } },
    },
  }),
  mutator({
    kind: 'Assign',
    name: 'pull',
    spec: {
      applyTo: pods,
      match: inPlay,
      location: 'spec.containers[name:*].imagePullPolicy',
      parameters: { assign: { value: 'Always' } },
    },
  }),
  mutator({
    kind: 'Assign',
    name: 'unprivileged',
    spec: {
      applyTo: pods,
      match: inPlay,
      location: 'spec.containers[name:main].securityContext.privileged',
      parameters: {
        assign: { value: false },
        pathTests: [{ subPath: 'spec.containers[name:main]', condition: 'MustExist' }],
      },
    },
  }),
  mutator({
    kind: 'Assign',
    name: 'sidecar',
    spec: {
      applyTo: [{ ...pods[0], operations: ['CREATE'] }],
      match: { ...inPlay, labelSelector: { matchLabels: { sidecar: 'wanted' } } },
      location: 'spec.containers[name:sidecar]',
      parameters: {
        assign: {
          value: { name: 'sidecar', image: 'registry.example/sidecar:1', command: ['run'] },
        },
      },
    },
  }),
  mutator({
    kind: 'ModifySet',
    name: 'verbose',
    spec: {
      applyTo: pods,
      match: inPlay,
      location: 'spec.containers[name:main].args',
      parameters: { operation: 'merge', values: { fromList: ['--verbose'] } },
    },
  }),
  mutator({
    kind: 'ModifySet',
    name: 'quiet',
    spec: {
      applyTo: pods,
      match: inPlay,
      location: 'spec.containers[name:*].args',
      parameters: { operation: 'prune', values: { fromList: ['--debug'] } },
    },
  }),
  mutator({
    kind: 'AssignImage',
    name: 'mirror',
    version: 'v1alpha1',
    spec: {
      applyTo: pods,
      match: { ...inPlay, labelSelector: { matchLabels: { mirrored: 'yes' } } },
      location: 'spec.containers[name:*].image',
      parameters: { assignDomain: 'mirror.example' },
    },
  }),
]

export const expansion: Manifest = {
  apiVersion: 'expansion.gatekeeper.sh/v1beta1',
  kind: 'ExpansionTemplate',
  metadata: { name: 'deployments' },
  spec: {
    applyTo: [{ groups: ['apps'], kinds: ['Deployment'], versions: ['v1'] }],
    templateSource: 'spec.template',
    generatedGVK: { group: '', version: 'v1', kind: 'Pod' },
  },
}

export const syncSet: Manifest = {
  apiVersion: 'syncset.gatekeeper.sh/v1alpha1',
  kind: 'SyncSet',
  metadata: { name: 'titles' },
  spec: { gvks: [{ group: '', version: 'v1', kind: 'ConfigMap' }] },
}

export const exemption: Manifest = {
  apiVersion: 'config.gatekeeper.sh/v1alpha1',
  kind: 'Config',
  metadata: { name: 'config', namespace: 'gatekeeper-system' },
  spec: { match: [{ excludedNamespaces: ['exempt-*'], processes: ['*'] }] },
}

export const namespace = (
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
})

export const configMap = (
  namespaceName: string,
  name: string,
  metadata: object = {},
): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: namespaceName, ...metadata },
  data: { a: 'b' },
})

type PodOptions = {
  readonly labels?: object
  readonly container?: object
  readonly more?: readonly object[]
}

export const pod = (
  namespaceName: string,
  name: string,
  { labels, container, more = [] }: PodOptions = {},
): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: namespaceName, ...(labels === undefined ? {} : { labels }) },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: 'registry.example/main:1', ...container }, ...more],
  },
})

export const deployment = (
  namespaceName: string,
  name: string,
  replicas: number,
  image = 'registry.example/main:1',
): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: namespaceName },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image }] },
    },
  },
})
