import { isEqual } from '../../../objects/schema/equal.ts'
import {
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { type Labels, matchesLabels } from '../../../api/label-selector.ts'
import { checkDnsLabel } from '../../../api/names.ts'
import type { Gates } from '../../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  type KubeObject,
  itemsOf,
  numberOf,
  textOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'
import type { DeletionOptions } from '../../deletion.ts'
import type { KindRules } from '../../kind-rules.ts'
import { typeOf } from '../../types.ts'
import {
  goLabels,
  goLabelSelector,
  requirementsOf,
  validateLabelSelector,
} from '../../rules/label-selector.ts'
import { all, faultsOf, type Rule } from '../../rules/rule.ts'
import { fixedSelector, labelsOf, matchingLabels } from '../apps/selector-and-template.ts'
import { isSpecChanged, nameWarnings } from '../core/pod/warnings.ts'
import { jobFields } from '../selectable.ts'
import {
  failurePolicyType,
  goFailurePolicy,
  goSuccessPolicy,
  successPolicyType,
  withStatuses,
} from './job-policies.ts'
import { jobSpec, jobSpecWarnings } from './job-spec.ts'
import { validateJobStatus } from './job-status.ts'

const BACKOFF_LIMIT = 6
const INT32_MAX = 2 ** 31 - 1
const uidLabel = 'batch.kubernetes.io/controller-uid'

const selector: Rule = (value, path, check) => {
  const { selector: given } = fieldsOf(value)
  if (given === undefined) check.faults.push(required(`${path}.selector`))
  else addAll(check.faults, validateLabelSelector(fieldsOf(given), `${path}.selector`))
  if (given === undefined || requirementsOf(fieldsOf(given)) !== undefined)
    matchingLabels(value, path, check)
}

const spec = all(jobSpec, selector)

export const jobRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'change', 'rules'],
    orphansDependents: true,
    generation: { fields: ['spec'] },
  },
  selectableFields: jobFields,
  setDefaults: (object, gates) => withLabels(setDefaults(object, gates)),
  isDefaultedAgain: true,
  prepareCreate: withSelector,
  validate,
  validateUpdate: (object, current, gates) => [
    ...validate(object, gates),
    ...validateChange(object, current, gates),
  ],
  warnings: (object, current, gates) => [
    ...(current === undefined ? nameWarnings(object, 'Pod names and hostnames') : []),
    ...(isSpecChanged(object, current) ? jobSpecWarnings(object['spec'], 'spec', gates) : []),
  ],
  deletionWarning,
  status: { validateUpdate: validateJobStatus },
}

/** Sets the defaults of a Job that do not apply to the job template of a CronJob. */
function setDefaults(object: KubeObject, gates: Gates): KubeObject {
  const given = fieldsOf(object['spec'])
  const { parallelism, completions, backoffLimitPerIndex, podFailurePolicy } = given
  const isOne = parallelism === undefined && completions === undefined
  return {
    ...object,
    spec: {
      parallelism: 1,
      ...(isOne ? { completions: 1 } : {}),
      backoffLimit: backoffLimitPerIndex === undefined ? BACKOFF_LIMIT : INT32_MAX,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      ...(gates.isOn('JobPodReplacementPolicy')
        ? {
            podReplacementPolicy: podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
          }
        : {}),
      ...given,
      ...(podFailurePolicy === undefined
        ? {}
        : { podFailurePolicy: withStatuses(podFailurePolicy) }),
    },
  }
}

/**
 * Copies the labels of the template to a Job without labels. Both then share one labels object, so
 * that generated labels are added to both.
 */
function withLabels(object: KubeObject): KubeObject {
  const { labels } = templateMetadata(object)
  if (Object.keys(object.metadata.labels ?? {}).length > 0 || !isLabels(labels)) return object
  return { ...object, metadata: { ...object.metadata, labels } }
}

const isLabels = (value: Json | undefined): value is Labels =>
  isFields(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every((label) => typeof label === 'string')

const templateMetadata = (object: KubeObject): Fields =>
  fieldsOf(fieldsOf(fieldsOf(object['spec'])['template'])['metadata'])

/**
 * Generates the selector. It matches the uid of the Job, so that it selects only Pods of this Job.
 */
function withSelector(object: KubeObject): KubeObject {
  const given = fieldsOf(object['spec'])
  if (given['manualSelector'] === true) return object
  const { name = '', uid = '' } = object.metadata
  const template = fieldsOf(given['template'])
  const { labels: before } = templateMetadata(object)
  const labels = { ...ownLabels(name, uid), ...labelsOf(before) }
  const isShared = object.metadata.labels !== undefined && object.metadata.labels === before
  const { matchLabels, ...rest } = fieldsOf(given['selector'])
  return {
    ...object,
    metadata: isShared ? { ...object.metadata, labels } : object.metadata,
    spec: {
      ...given,
      selector: { ...rest, matchLabels: { [uidLabel]: uid, ...fieldsOf(matchLabels) } },
      template: { ...template, metadata: { ...fieldsOf(template['metadata']), labels } },
    },
  }
}

const ownLabels = (name: string, uid: string): { readonly [label: string]: string } => ({
  'controller-uid': uid,
  'job-name': name,
  [uidLabel]: uid,
  'batch.kubernetes.io/job-name': name,
})

function validate(object: KubeObject, gates: Gates): FieldFault[] {
  return [
    ...validateGenerated(object),
    ...faultsOf(spec, object['spec'], 'spec', gates),
    ...validateHostNames(object),
  ]
}

/** Validates that the generated labels and selector were not changed. */
function validateGenerated(object: KubeObject): FieldFault[] {
  const { manualSelector, selector: given } = fieldsOf(object['spec'])
  if (manualSelector === true || given === undefined) return []
  const { name = '', uid = '' } = object.metadata
  const { labels } = templateMetadata(object)
  const found = fieldsOf(labels)
  const path = 'spec.template.metadata.labels'
  const faults = faultsOfEach(Object.entries(ownLabels(name, uid)), ([label, wanted]) => {
    if (found[label] === wanted) return []
    const why = `must be '${wanted}'`
    if (found[label] === undefined) return [required(`${path}[${label}]`, why)]
    return [invalidShown(`${path}[${label}]`, goLabels(labels), why)]
  })
  const requirements = requirementsOf(fieldsOf(given))
  if (requirements === undefined || matchesLabels(requirements, ownLabels(name, uid))) return faults
  return [
    ...faults,
    invalidShown(
      'spec.selector',
      goLabelSelector(fieldsOf(given)),
      '`selector` not auto-generated',
    ),
  ]
}

/**
 * Validates the host names of Pods. In an indexed Job, the host name of a Pod contains its index.
 */
function validateHostNames({ metadata: { name = '' }, spec: given }: KubeObject): FieldFault[] {
  const { completionMode, completions } = fieldsOf(given)
  if (completionMode !== 'Indexed' || numberOf(completions) <= 0) return []
  const last = `${name}-${numberOf(completions) - 1}`
  if (checkDnsLabel(last).length === 0) return []
  return [
    invalidValue(
      'metadata.name',
      name,
      `will not able to create pod with invalid DNS label: ${last}`,
    ),
  ]
}

const quoted = (value: Json): string => quote(textOf(value))
const number = (value: Json): string => `${numberOf(value)}`

/**
 * Warns about a delete without a propagation policy. Such a delete orphans the Pods of the Job,
 * which is rarely intended.
 */
function deletionWarning({ orphanDependents, propagation }: DeletionOptions): string | undefined {
  if (orphanDependents !== undefined || propagation !== undefined) return undefined
  return 'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning'
}

function validateChange(object: KubeObject, current: KubeObject, gates: Gates): FieldFault[] {
  const now = fieldsOf(object['spec'])
  const before = fieldsOf(current['spec'])
  const struct = typeOf('batch/v1', 'JobSpec', gates.release)
  const fixed = (name: string, show: (value: Json) => string, type?: string): FieldFault[] => {
    const value = now[name]
    if (isEqual(struct, { [name]: value }, { [name]: before[name] })) return []
    const shown = value === undefined ? '"null"' : show(value)
    const inner = type === undefined || value === undefined ? undefined : { type, json: value }
    return [invalidShown(`spec.${name}`, shown, 'field is immutable', inner)]
  }
  return [
    ...faultsOf(spec, now, 'spec', gates),
    ...(now['completionMode'] === 'Indexed'
      ? validateElastic(now, before)
      : fixed('completions', number)),
    ...faultsOf(fixedSelector(before['selector']), now['selector'], 'spec.selector'),
    ...validateTemplate(now, current, gates),
    ...fixed('completionMode', quoted),
    ...fixed('podFailurePolicy', goFailurePolicy, failurePolicyType),
    ...fixed('backoffLimitPerIndex', number),
    ...fixed('managedBy', quoted),
    ...fixed('successPolicy', goSuccessPolicy, successPolicyType),
  ]
}

/**
 * Validates a change of completions. Completions of an indexed Job can change only together with
 * its parallelism.
 */
function validateElastic({ completions, parallelism }: Fields, before: Fields): FieldFault[] {
  if (
    completions === undefined ||
    completions === before['completions'] ||
    completions === parallelism
  )
    return []
  const why = 'can only be modified in tandem with spec.parallelism'
  return [invalidValue('spec.completions', numberOf(completions), why)]
}

/** Scheduling directives that can change while a Job is suspended and has not been started. */
const placing = ['nodeSelector', 'tolerations', 'schedulingGates'] as const

function validateTemplate({ template }: Fields, current: KubeObject, gates: Gates): FieldFault[] {
  const { release } = gates
  const before = fieldsOf(current['spec'])
  const expected = isPlaceable(current, gates)
    ? placedLike(fieldsOf(before['template']), fieldsOf(template))
    : before['template']
  if (before['suspend'] === true && gates.isOn(resourcesGate) && isStopped(current))
    return validateResourcesOnly(fieldsOf(template), fieldsOf(expected), release)
  if (isEqual(typeOf('core/v1', 'PodTemplateSpec', release), template, expected)) return []
  const type = 'core.PodTemplateSpec'
  const value = { type, json: template ?? {} }
  return [invalidShown('spec.template', `${type}{...}`, 'field is immutable', value)]
}

/** The gate with which a stopped Job can change the resources of its containers. */
const resourcesGate = 'MutablePodResourcesForSuspendedJobs'

/** Whether the status of a Job shows that it is suspended and has no Pods. */
function isStopped(job: KubeObject): boolean {
  const { conditions, active } = fieldsOf(job['status'])
  const isSuspended = itemsOf(conditions).some(
    ({ type, status }) => type === 'Suspended' && status === 'True',
  )
  return isSuspended && numberOf(active) === 0
}

/** Whether the scheduling directives of a Job can change. */
function isPlaceable(job: KubeObject, gates: Gates): boolean {
  if (fieldsOf(job['spec'])['suspend'] !== true) return false
  if (gates.isOn('MutableSchedulingDirectivesForSuspendedJobs')) return isStopped(job)
  return fieldsOf(job['status'])['startTime'] === undefined
}

/** Requires that nothing but the resources of containers differs from the expected template. */
function validateResourcesOnly(template: Fields, expected: Fields, release: number): FieldFault[] {
  const [now, was] = [fieldsOf(template['spec']), fieldsOf(expected['spec'])]
  const adapted = {
    ...was,
    ...Object.fromEntries(
      ['containers', 'initContainers'].flatMap((list) =>
        was[list] === undefined
          ? []
          : [[list, withResources(itemsOf(was[list]), itemsOf(now[list]))]],
      ),
    ),
  }
  if (isEqual(typeOf('core/v1', 'PodSpec', release), now, adapted)) return []
  const type = 'core.PodSpec'
  const value = { type, json: now }
  return [invalidShown('spec.template.spec', `${type}{...}`, 'field is immutable', value)]
}

/** Returns containers with the resources of other containers of the same names. */
const withResources = (containers: readonly Fields[], others: readonly Fields[]): Fields[] =>
  containers.map((one, at) => {
    const { name, resources } = others[at] ?? {}
    const isSame = others.length === containers.length && one['name'] === name
    return isSame ? { ...one, resources } : one
  })

function placedLike(template: Fields, other: Fields): Fields {
  const [own, pod] = [fieldsOf(template['spec']), fieldsOf(other['spec'])]
  const { labels, annotations } = fieldsOf(other['metadata'])
  const { affinity } = own
  const hasAffinity = affinity !== undefined || pod['affinity'] !== undefined
  const { nodeAffinity } = fieldsOf(pod['affinity'])
  return {
    ...template,
    metadata: { ...fieldsOf(template['metadata']), labels, annotations },
    spec: {
      ...own,
      ...Object.fromEntries(placing.map((name) => [name, pod[name]])),
      ...(hasAffinity ? { affinity: { ...fieldsOf(affinity), nodeAffinity } } : {}),
    },
  }
}
