/** Rules for the spec of a Job. They also apply to the job template of a CronJob. */
import type { Gates } from '../../../api/gates.ts'
import {
  invalidShown,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../api/field-fault.ts'
import { checkDnsSubdomain } from '../../../api/names.ts'
import { fieldsOf, type Json, numberOf, textOf } from '../../../api/object.ts'
import { all, fields, ifPresent, type Rule } from '../../rules/rule.ts'
import { named, nonNegative, oneOf } from '../../rules/scalars.ts'
import { podTemplate } from '../apps/selector-and-template.ts'
import { podTemplateWarnings } from '../core/pod/warnings.ts'
import {
  goSuccessPolicy,
  podFailurePolicy,
  successPolicy,
  successPolicyType,
} from './job-policies.ts'

/**
 * Maximum parallelism of an indexed Job. The states of all its indexes must fit into the status of
 * one object.
 */
const INDEXED_PARALLELISM_MAX = 100_000
const FAILED_INDEXES_MAX = 100_000
/**
 * Number of completions above which lower limits apply to the parallelism and the failed indexes.
 */
const COMPLETIONS_SOFT_MAX = 100_000
const PARALLELISM_OF_MANY_MAX = 10_000
const FAILED_INDEXES_OF_MANY_MAX = 10_000
const MANAGED_BY_BYTES_MAX = 63

const pathRule = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"

/** Rule for a path that begins with a domain: `example.com/path`. */
const domainPrefixedPath: Rule = (value, path, check) => {
  const text = textOf(value)
  const [, host = '', rest = ''] = /^([^/]*)\/(.*)$/s.exec(text) ?? []
  if (text === '') check.faults.push(required(path))
  else if (host === '' || rest === '') {
    check.faults.push(
      invalidValue(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")'),
    )
  } else {
    named(checkDnsSubdomain)(host, path, check)
    if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest))
      check.faults.push(invalidValue(path, rest, pathRule))
  }
}

const shortEnough: Rule = (value, path, { faults }) => {
  if (Buffer.byteLength(textOf(value)) > MANAGED_BY_BYTES_MAX)
    faults.push(tooLong(path, MANAGED_BY_BYTES_MAX))
}

const indexedNumbers: Rule = (value, path, { faults }) => {
  const { completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = fieldsOf(value)
  const [wanted, running, failed] = [
    numberOf(completions),
    numberOf(parallelism),
    numberOf(maxFailedIndexes),
  ]
  const tooGreat = (field: string, number: number, why: string): number =>
    faults.push(invalidValue(`${path}.${field}`, number, `must be less than or equal to ${why}`))
  if (completions === undefined)
    faults.push(required(`${path}.completions`, 'when completion mode is Indexed'))
  if (running > INDEXED_PARALLELISM_MAX) {
    tooGreat('parallelism', running, `${INDEXED_PARALLELISM_MAX} when completion mode is Indexed`)
  }
  if (completions !== undefined && failed > wanted)
    tooGreat('maxFailedIndexes', failed, 'completions')
  if (failed > FAILED_INDEXES_MAX) tooGreat('maxFailedIndexes', failed, `${FAILED_INDEXES_MAX}`)
  if (wanted <= COMPLETIONS_SOFT_MAX || backoffLimitPerIndex === undefined) return
  const when = `when completions are above ${COMPLETIONS_SOFT_MAX} and used with backoff limit per index`
  if (maxFailedIndexes === undefined) {
    faults.push(
      required(
        `${path}.maxFailedIndexes`,
        `must be specified when completions is above ${COMPLETIONS_SOFT_MAX}`,
      ),
    )
  }
  if (running > PARALLELISM_OF_MANY_MAX)
    tooGreat('parallelism', running, `${PARALLELISM_OF_MANY_MAX} ${when}`)
  if (failed > FAILED_INDEXES_OF_MANY_MAX)
    tooGreat('maxFailedIndexes', failed, `${FAILED_INDEXES_OF_MANY_MAX} ${when}`)
}

/** Rule for completionMode, and for fields that can be used only if each Pod has an index. */
const completionMode: Rule = (value, path, check) => {
  const { completionMode: mode, backoffLimitPerIndex, maxFailedIndexes } = fieldsOf(value)
  if (mode !== undefined) oneOf('NonIndexed', 'Indexed')(mode, `${path}.completionMode`, check)
  if (mode === 'Indexed') return indexedNumbers(value, path, check)
  if (mode !== undefined && mode !== 'NonIndexed') return
  for (const [name, number] of Object.entries({ backoffLimitPerIndex, maxFailedIndexes })) {
    if (number === undefined) continue
    check.faults.push(
      invalidValue(`${path}.${name}`, numberOf(number), 'requires indexed completion mode'),
    )
  }
}

const neededPerIndex: Rule = (value, path, { faults }) => {
  const { maxFailedIndexes, backoffLimitPerIndex } = fieldsOf(value)
  if (maxFailedIndexes === undefined || backoffLimitPerIndex !== undefined) return
  faults.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'))
}

const indexedSuccess: Rule = (value, path, check) => {
  const { completionMode: mode, successPolicy: policy, completions } = fieldsOf(value)
  const at = `${path}.successPolicy`
  if (policy === undefined) return
  if (mode === 'Indexed') successPolicy(numberOf(completions))(policy, at, check)
  else {
    const inner = { type: successPolicyType, json: policy }
    const why = 'requires indexed completion mode'
    check.faults.push(invalidShown(at, goSuccessPolicy(policy), why, inner))
  }
}

const podReplacementPolicy: Rule = (value, path, check) => {
  const { podReplacementPolicy: policy, podFailurePolicy: failure } = fieldsOf(value)
  if (policy === undefined) return
  const known = oneOf(...(failure === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed']))
  known(policy, `${path}.podReplacementPolicy`, check)
}

/** Rule for restartPolicy. It must not be Always, because the Pods of a Job must terminate. */
const restartPolicy: Rule = (value, path, { faults }) => {
  const { template, podFailurePolicy: failure } = fieldsOf(value)
  const policy = textOf(fieldsOf(fieldsOf(template)['spec'])['restartPolicy'])
  const at = `${path}.template.spec.restartPolicy`
  if (policy === '' || policy === 'Always')
    faults.push(required(at, 'valid values: "OnFailure", "Never"'))
  else if (policy !== 'OnFailure' && policy !== 'Never')
    faults.push(notSupported(at, policy, ['OnFailure', 'Never']))
  else if (failure !== undefined && policy !== 'Never') {
    faults.push(
      invalidValue(at, policy, 'only "Never" is supported when podFailurePolicy is specified'),
    )
  }
}

/** Rules for all fields of a Job's spec except the selector. */
export const jobSpec: Rule = all(
  fields({
    parallelism: nonNegative,
    completions: nonNegative,
    activeDeadlineSeconds: nonNegative,
    backoffLimit: nonNegative,
    ttlSecondsAfterFinished: nonNegative,
    backoffLimitPerIndex: nonNegative,
    maxFailedIndexes: nonNegative,
  }),
  neededPerIndex,
  fields({ managedBy: ifPresent(all(domainPrefixedPath, shortEnough)) }),
  completionMode,
  podFailurePolicy,
  indexedSuccess,
  podReplacementPolicy,
  fields({ template: podTemplate() }),
  restartPolicy,
)

export function jobSpecWarnings(spec: Json | undefined, path: string, gates: Gates): string[] {
  const { completionMode: mode, completions, parallelism, template } = fieldsOf(spec)
  const isMany =
    numberOf(completions) > COMPLETIONS_SOFT_MAX && numberOf(parallelism) > PARALLELISM_OF_MANY_MAX
  const ofPods = podTemplateWarnings(template, `${path}.template`, gates)
  if (mode !== 'Indexed' || !isMany) return ofPods
  const what =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4'
  const why =
    'Kubernetes might not be able to track completedIndexes when a big number of indexes fail'
  return [`${path}: ${what}, ${why}`, ...ofPods]
}
