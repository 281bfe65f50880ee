/**
 * Tests that Gatekeeper works with the server: it denies requests, returns warnings, mutates and
 * audits objects, and generates admission policies.
 */
import type { JsonObject } from '../../recorded/compat/json.ts'
import { arrayAt, at, textAt } from './fields.ts'
import { installGatekeeper, NAMESPACE } from './gatekeeper-install.ts'
import * as objects from './gatekeeper-objects.ts'
import type { Manifest } from './manifests.ts'
import type { Product, Ref, Stage } from './stage.ts'

const VALIDATING: Ref = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'gatekeeper-validating-webhook-configuration' },
}
const bindings = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings'
/** Number of Gatekeeper's processes, each of which reports its own status. */
const PROCESSES = 2

export const gatekeeper: Product = { name: 'gatekeeper', play: playGatekeeper }

async function playGatekeeper(stage: Stage): Promise<void> {
  await installGatekeeper(stage)
  await refuseBadTemplates(stage)
  await requireLabels(stage)
  await warnAndDryRun(stage)
  await exempt(stage)
  await mutate(stage)
  await limitByPolicy(stage)
  await expand(stage)
  await subresources(stage)
  await lookAtOthers(stage)
  await keepFromDeletion(stage)
  await audit(stage)
  await takeAway(stage)
}

async function refuseBadTemplates(stage: Stage): Promise<void> {
  // Wait until the webhook works. Gatekeeper must first add its CA to the webhook configurations.
  // Until then, all calls fail, and the server allows the requests, because the webhook fails open.
  await stage.until('the webhook is called', () => isRefused(stage, objects.wrongName))
  await stage.create('a template whose Rego does not compile', objects.brokenRego)
  await stage.create('a template whose name does not match its kind', objects.wrongName)
  await stage.create('a template with an unknown type in its schema', objects.unknownSchema)
}

async function requireLabels(stage: Stage): Promise<void> {
  await stage.create('a template of required labels', objects.requiredLabels)
  await untilTemplate(stage, objects.requiredLabels)
  const owned = {
    kind: 'K8sRequiredLabels',
    on: [['', 'Namespace']] satisfies [string, string][],
    match: { excludedNamespaces: ['kube-*', 'default', NAMESPACE] },
  }
  await stage.create(
    'a constraint with parameters of the wrong type',
    objects.constraint({ ...owned, name: 'wrong', parameters: { labels: 'owner' } }),
  )
  await stage.create(
    'a constraint with an unknown action',
    objects.constraint({
      ...owned,
      name: 'wrong',
      parameters: { labels: ['owner'] },
      action: 'shout',
    }),
  )
  const rule = objects.constraint({ ...owned, name: 'owned', parameters: { labels: ['owner'] } })
  await stage.create('a constraint that denies', rule)
  await untilEnforced(stage, rule)
  await stage.create('deny: a namespace without the label', objects.namespace('nobodys'))
  await stage.create('deny: dry run', objects.namespace('nobodys'), { query: 'dryRun=All' })
  await stage.apply('deny: apply', objects.namespace('nobodys'))
  await stage.create('deny: a namespace with the label', objects.namespace('play', { owner: 'me' }))
  const play = objects.namespace('play')
  await stage.patch('deny: the label is removed', play, {
    metadata: { labels: { owner: null } },
  })
  await stage.patch('deny: json-patch', play, [{ op: 'remove', path: '/metadata/labels/owner' }], {
    type: 'json-patch',
  })
  await stage.patch('deny: another label', play, { metadata: { labels: { more: 'x' } } })
  await stage.step('deny: replace', 'PUT', play, objects.namespace('play', { more: 'y' }))
  await stage.step(
    'deny: status',
    'PATCH',
    play,
    { status: { phase: 'Active' } },
    { type: 'merge', subresource: 'status' },
  )
}

async function warnAndDryRun(stage: Stage): Promise<void> {
  const labels = {
    parameters: { labels: ['title', 'author'] },
    match: { namespaces: ['play', 'found'] },
  }
  const kind = 'K8sRequiredLabels'
  const warn = objects.constraint({
    ...labels,
    kind,
    name: 'warned',
    on: [['', 'ConfigMap']],
    action: 'warn',
  })
  const dryRun = objects.constraint({
    ...labels,
    kind,
    name: 'dry',
    on: [['', 'Secret']],
    action: 'dryrun',
  })
  const scoped = objects.constraint({
    ...labels,
    kind,
    name: 'scoped',
    on: [['', 'ServiceAccount']],
    action: 'scoped',
    scoped: [
      { action: 'warn', enforcementPoints: [{ name: 'validation.gatekeeper.sh' }] },
      { action: 'deny', enforcementPoints: [{ name: 'audit.gatekeeper.sh' }] },
    ],
  })
  for (const rule of [warn, dryRun, scoped]) {
    await stage.create(`a constraint: ${rule.metadata.name}`, rule)
    await untilEnforced(stage, rule)
  }
  await stage.create('warn: two labels are missing', objects.configMap('play', 'c1'))
  await stage.create(
    'warn: no label is missing',
    objects.configMap('play', 'c2', { labels: { title: 'a', author: 'b' } }),
  )
  await stage.patch('warn: update', objects.configMap('play', 'c1'), { data: { a: 'c' } })
  await stage.apply('warn: apply', objects.configMap('play', 'c3', { labels: { title: 'c' } }))
  await stage.step('warn: no warning on delete', 'DELETE', objects.configMap('play', 'c3'))
  const secret: Manifest = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'play' },
  }
  await stage.create('dryrun: no warning', secret)
  const account: Manifest = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'a', namespace: 'play' },
  }
  await stage.create('scoped: warns', account)
}

async function exempt(stage: Stage): Promise<void> {
  const ignored = { owner: 'me', 'admission.gatekeeper.sh/ignore': 'yes' }
  await stage.create(
    'exempt: an object cannot exempt itself',
    objects.namespace('ignored', ignored),
  )
  await stage.patch(
    'exempt: an object cannot exempt itself by an update',
    objects.namespace('play'),
    {
      metadata: { labels: ignored },
    },
  )
  await stage.create('exempt: Config', objects.exemption)
  await stage.until('Config is observed', async () => {
    const pods = arrayAt(await stage.find(objects.exemption), 'status', 'byPod')
    return pods.length === PROCESSES
  })
  await stage.until(
    'the exemption is in effect',
    async () => !(await isRefused(stage, objects.namespace('exempt-a'))),
  )
  await stage.create('exempt: an exempt namespace needs no label', objects.namespace('exempt-a'))
  await stage.create('exempt: objects in it need no label', objects.configMap('exempt-a', 'c'))
  await stage.create('exempt: other namespaces still need the label', objects.namespace('unexempt'))
}

async function mutate(stage: Stage): Promise<void> {
  await stage.create(
    'a mutator of metadata that is not metadata',
    objects.mutator({
      kind: 'AssignMetadata',
      name: 'wrong',
      spec: { location: 'spec.replicas', parameters: { assign: { value: 'a' } } },
    }),
  )
  await stage.create(
    'a mutator without a value',
    objects.mutator({
      kind: 'Assign',
      name: 'wrong',
      spec: { applyTo: [{ groups: [''], kinds: ['Pod'], versions: ['v1'] }], location: 'spec.a' },
    }),
  )
  for (const one of objects.mutators) {
    await stage.create(`a mutator: ${one.kind} ${one.metadata.name}`, one)
    await untilMutates(stage, one)
  }
  await stage.create('mutate: a plain Pod', objects.pod('play', 'p1'))
  await stage.create(
    'mutate: existing values stay',
    objects.pod('play', 'p2', {
      labels: { owner: 'me' },
      container: { args: ['--debug', '--fast', '--verbose'] },
    }),
  )
  await stage.create(
    'mutate: an added container',
    objects.pod('play', 'p3', { labels: { sidecar: 'wanted' } }),
  )
  await stage.create(
    'mutate: images and a privileged container',
    objects.pod('play', 'p4', {
      labels: { mirrored: 'yes' },
      container: { securityContext: { privileged: true }, args: ['--debug'] },
      more: [{ name: 'other', image: 'busybox', args: ['--debug', 'x'] }],
    }),
  )
  await stage.create('mutate: dry run', objects.pod('play', 'p5'), { query: 'dryRun=All' })
  await stage.apply('mutate: apply', objects.pod('play', 'p6', { labels: { sidecar: 'wanted' } }))
  await stage.apply(
    'mutate: apply again',
    objects.pod('play', 'p6', { labels: { sidecar: 'wanted' } }),
  )
  await stage.patch('mutate: an update', objects.pod('play', 'p1'), {
    metadata: { labels: { owner: null, x: 'y' } },
  })
  await stage.create('mutate: not in other namespaces', objects.pod('exempt-a', 'p1'))
  const conflicting = objects.mutator({
    kind: 'Assign',
    name: 'conflict',
    spec: {
      applyTo: [{ groups: [''], kinds: ['Pod'], versions: ['v1'] }],
      location: 'spec.containers.imagePullPolicy',
      parameters: { assign: { value: 'x' } },
    },
  })
  await stage.create('a mutator with a conflicting schema', conflicting)
  await stage.until('the conflict is reported', async () => {
    const pods = arrayAt(await stage.find(conflicting), 'status', 'byPod')
    return pods.length === PROCESSES && pods.every((status) => arrayAt(status, 'errors').length > 0)
  })
  await stage.step('mutate: the conflict', 'GET', conflicting)
  await stage.write('DELETE', conflicting)
}

async function limitByPolicy(stage: Stage): Promise<void> {
  await stage.create('a template in CEL', objects.replicaLimits)
  await untilTemplate(stage, objects.replicaLimits)
  const policy: Ref = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'gatekeeper-k8sreplicalimits' },
  }
  await stage.until('its policy exists', async () => (await stage.find(policy)) !== undefined)
  const rule = objects.constraint({
    kind: 'K8sReplicaLimits',
    name: 'five',
    on: [['apps', 'Deployment']],
    match: { namespaces: ['play'] },
    parameters: { max: 5 },
  })
  await stage.create('a constraint in CEL', rule)
  await untilEnforced(stage, rule)
  await stage.until('its binding exists', async () => (await stage.list(bindings)).length > 0)
  const probe = objects.deployment('play', 'probe', 6)
  await stage.until('the server enforces the policy', async () =>
    (await refusalOf(stage, probe)).includes('ValidatingAdmissionPolicy'),
  )
  await stage.step('policy: the stored object', 'GET', policy)
  await stage.create('policy: too many replicas', objects.deployment('play', 'd1', 6))
  await stage.create('policy: enough replicas', objects.deployment('play', 'd1', 5))
  await stage.patch('policy: an update to too many', objects.deployment('play', 'd1', 0), {
    spec: { replicas: 7 },
  })
  await stage.patch('policy: an update', objects.deployment('play', 'd1', 0), {
    spec: { replicas: 2 },
  })
  await stage.create('policy: not in another namespace', objects.deployment('default', 'd1', 6))
}

async function expand(stage: Stage): Promise<void> {
  await stage.create('a template of registries', objects.allowedRegistries)
  await untilTemplate(stage, objects.allowedRegistries)
  const rule = objects.constraint({
    kind: 'K8sAllowedRegistries',
    name: 'ours',
    on: [['', 'Pod']],
    match: { namespaces: ['play'] },
    parameters: { registries: ['registry.example/', 'mirror.example/'] },
  })
  await stage.create('a constraint of registries', rule)
  await untilEnforced(stage, rule)
  await stage.create('an expansion', objects.expansion)
  await stage.until('the expansion is observed', async () => {
    const pods = arrayAt(await stage.find(objects.expansion), 'status', 'byPod')
    return pods.length === PROCESSES
  })
  await stage.create(
    'registries: a Pod',
    objects.pod('play', 'r1', { container: { image: 'docker.io/x' } }),
  )
  const elsewhere = objects.deployment('play', 'd2', 1, 'docker.io/x')
  await stage.until('the expansion is in effect', () => isRefused(stage, elsewhere))
  await stage.create('registries: the Pods of a Deployment', elsewhere)
  await stage.create(
    'registries: a Deployment with an allowed image',
    objects.deployment('play', 'd3', 1),
  )
}

async function subresources(stage: Stage): Promise<void> {
  await stage.create('a template of scales', objects.scaleLimit)
  await untilTemplate(stage, objects.scaleLimit)
  const rule = objects.constraint({
    kind: 'K8sScaleLimit',
    name: 'three',
    on: [['autoscaling', 'Scale']],
    match: { namespaces: ['play'] },
    parameters: { max: 3 },
  })
  await stage.create('a constraint of scales', rule)
  await untilEnforced(stage, rule)
  const d3 = objects.deployment('play', 'd3', 0)
  const scaled = { type: 'merge', subresource: 'scale' }
  await stage.patch('scale: too many', d3, { spec: { replicas: 4 } }, scaled)
  await stage.patch('scale: enough', d3, { spec: { replicas: 3 } }, scaled)
  const ephemeral = { spec: { ephemeralContainers: [{ name: 'look', image: 'docker.io/look' }] } }
  const allowed = {
    spec: { ephemeralContainers: [{ name: 'look', image: 'registry.example/look' }] },
  }
  const into = { type: 'strategic', subresource: 'ephemeralcontainers' }
  await stage.patch(
    'ephemeral containers: from another registry',
    objects.pod('play', 'p1'),
    ephemeral,
    into,
  )
  await stage.patch(
    'ephemeral containers: from an allowed registry',
    objects.pod('play', 'p1'),
    allowed,
    into,
  )
}

async function lookAtOthers(stage: Stage): Promise<void> {
  await stage.create('a set that is synced', objects.syncSet)
  await stage.create('a template that reads other objects', objects.uniqueTitle)
  await untilTemplate(stage, objects.uniqueTitle)
  const rule = objects.constraint({
    kind: 'K8sUniqueTitle',
    name: 'unique',
    on: [['', 'ConfigMap']],
  })
  await stage.create('a constraint that reads other objects', rule)
  await untilEnforced(stage, rule)
  const twin = objects.configMap('play', 'c4', { labels: { title: 'a', author: 'b' } })
  await stage.until('the other objects are known', () => isRefused(stage, twin))
  await stage.create('unique: a title that is in use', twin)
  await stage.create(
    'unique: another',
    objects.configMap('play', 'c4', { labels: { title: 'z', author: 'b' } }),
  )
}

/** Adds DELETE to the operations of Gatekeeper's webhook, as its documentation describes. */
async function keepFromDeletion(stage: Stage): Promise<void> {
  const configuration = await stage.find(VALIDATING)
  const operations = arrayAt(configuration, 'webhooks', 0, 'rules', 0, 'operations')
  await stage.patch(
    'DELETE is added to the webhook',
    VALIDATING,
    [{ op: 'replace', path: '/webhooks/0/rules/0/operations', value: [...operations, 'DELETE'] }],
    { type: 'json-patch' },
  )
  await stage.create('a template that prevents deletion', objects.keep)
  await untilTemplate(stage, objects.keep)
  const rule = objects.constraint({ kind: 'K8sKeep', name: 'kept', on: [['', 'ConfigMap']] })
  await stage.create('a constraint that prevents deletion', rule)
  await untilEnforced(stage, rule)
  const kept = objects.configMap('play', 'kept', {
    annotations: { keep: 'yes' },
    labels: { title: 'k', author: 'b' },
  })
  await stage.create('keep: an object', kept)
  await stage.step('keep: it is not deleted', 'DELETE', kept)
  await stage.step('keep: it is not deleted by a dry run', 'DELETE', kept, undefined, {
    query: 'dryRun=All',
  })
  await stage.step('keep: other objects are deleted', 'DELETE', objects.configMap('play', 'c4'))
  await stage.patch('keep: deletion is allowed', kept, {
    metadata: { annotations: { keep: null } },
  })
  await stage.step('keep: then it is deleted', 'DELETE', kept)
}

/**
 * Tests violations that existed before the constraint was created, or for which the constraint only
 * warns.
 */
async function audit(stage: Stage): Promise<void> {
  for (const [kind, name, total] of [
    ['K8sRequiredLabels', 'owned', 1],
    ['K8sRequiredLabels', 'warned', 4],
    ['K8sRequiredLabels', 'dry', 1],
    ['K8sRequiredLabels', 'scoped', 3],
  ] as const) {
    const ref = objects.constraint({ kind, name, on: [] })
    await stage.until(`audit: ${name}`, async () => {
      const status = (await stage.find(ref))?.['status']
      return (
        at(status, 'totalViolations') === total && arrayAt(status, 'violations').length === total
      )
    })
    await stage.step(`audit: ${name}`, 'GET', ref)
  }
}

async function takeAway(stage: Stage): Promise<void> {
  await stage.step(
    'a constraint is deleted',
    'DELETE',
    objects.constraint({ kind: 'K8sRequiredLabels', name: 'owned', on: [] }),
  )
  const free = objects.namespace('free')
  await stage.until('it is no longer enforced', async () => !(await isRefused(stage, free)))
  await stage.create('a namespace without the label', free)
  // Delete the constraint before its template. Gatekeeper deletes the constraint's kind with the
  // template. After that, the garbage collectors of both servers would not find the owner of the
  // binding.
  await stage.step(
    'a constraint in CEL is deleted',
    'DELETE',
    objects.constraint({ kind: 'K8sReplicaLimits', name: 'five', on: [] }),
  )
  await stage.until('its binding is gone', async () => (await stage.list(bindings)).length === 0)
  await stage.step('a template is deleted', 'DELETE', objects.replicaLimits)
  const definition: Ref = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'k8sreplicalimits.constraints.gatekeeper.sh' },
  }
  await stage.until(
    'its CustomResourceDefinition is gone',
    async () => (await stage.find(definition)) === undefined,
  )
  const many = objects.deployment('play', 'd9', 9)
  await stage.until('its policy is gone', async () => !(await isRefused(stage, many)))
  await stage.create('many replicas', many)
  await stage.until(
    'its binding, which the constraint owned, is gone',
    async () => (await stage.list(bindings)).length === 0,
  )
  await stage.step('a mutator is deleted', 'DELETE', objects.mutators[2] ?? many)
  await stage.step('a namespace is deleted with its contents', 'DELETE', objects.namespace('found'))
  await stage.until(
    'the namespace is gone',
    async () => (await stage.find(objects.namespace('found'))) === undefined,
  )
}

const refusalOf = (stage: Stage, object: Manifest): Promise<string> =>
  stage.write('POST', object, object, { query: 'dryRun=All' }).then(
    () => '',
    (error: unknown) => String(error),
  )

const isRefused = async (stage: Stage, object: Manifest): Promise<boolean> =>
  (await refusalOf(stage, object)) !== ''

/** Waits until both processes have loaded the template and the server serves its kind. */
async function untilTemplate(stage: Stage, template: Manifest): Promise<void> {
  const kind = textAt(template, 'spec', 'crd', 'spec', 'names', 'kind')
  await stage.until(`template ${template.metadata.name}`, async () => {
    const found = await stage.find(template)
    return at(found, 'status', 'created') === true && isObservedByAll(found)
  })
  const definition: Ref = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${template.metadata.name}.constraints.gatekeeper.sh` },
  }
  await stage.until(`${kind} is served`, async () =>
    arrayAt(await stage.find(definition), 'status', 'conditions').some(
      (condition) => at(condition, 'type') === 'Established' && at(condition, 'status') === 'True',
    ),
  )
  const any = objects.constraint({ kind, name: 'any', on: [] })
  await stage.until(`${kind} can be requested`, () => stage.isServed(any))
}

async function untilEnforced(stage: Stage, constraint: Manifest): Promise<void> {
  await stage.until(`constraint ${constraint.metadata.name}`, async () => {
    const found = await stage.find(constraint)
    return (
      isObservedByAll(found) &&
      arrayAt(found, 'status', 'byPod').every((status) => at(status, 'enforced') === true)
    )
  })
}

async function untilMutates(stage: Stage, mutator: Manifest): Promise<void> {
  await stage.until(`mutator ${mutator.metadata.name}`, async () => {
    const found = await stage.find(mutator)
    return (
      isObservedByAll(found) &&
      arrayAt(found, 'status', 'byPod').every((status) => at(status, 'enforced') === true)
    )
  })
}

function isObservedByAll(object: JsonObject | undefined): boolean {
  const generation = at(object, 'metadata', 'generation')
  const pods = arrayAt(object, 'status', 'byPod')
  return (
    pods.length === PROCESSES &&
    pods.every((status) => at(status, 'observedGeneration') === generation)
  )
}
