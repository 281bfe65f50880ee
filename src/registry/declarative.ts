/**
 * Declarative validation (KEP-5073). Fields whose types have validation tags in k8s.io/api are
 * validated twice: by handwritten rules and by their tags. Differences between the results are
 * logged and counted. The handwritten rules decide, unless DeclarativeValidationTakeover is on.
 */
import { type FieldFault, internalFault, invalidValue, required } from '../api/field-fault.ts'
import { fieldsOf, type Json, type KubeObject } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Count, Metrics } from '../lib/telemetry/metrics.ts'
import { isPause, once } from '../lib/scheduling/parts.ts'
import type { KindRules } from './kind-rules.ts'

/** The validation tags of a field in `spec`. */
export type SpecTags = {
  /**
   * Whether the field is `+k8s:optional` and has a default. The default is set before the object is
   * validated, so an absent field is an error.
   */
  readonly isDefaulted?: true
  /** Value of `+k8s:minimum`. */
  readonly minimum: number
}

/** Returns a function that validates fields of `spec` by their tags. */
export function validateByTags(tags: {
  readonly [field: string]: SpecTags
}): (object: KubeObject) => FieldFault[] {
  const rows = Object.entries(tags)
  return (object) => {
    const spec = fieldsOf(object['spec'])
    return rows.flatMap(([field, own]) => tagFaults(spec[field], `spec.${field}`, own))
  }
}
function tagFaults(
  value: Json | undefined,
  path: string,
  { isDefaulted, minimum }: SpecTags,
): FieldFault[] {
  if (typeof value !== 'number')
    return isDefaulted === true ? [{ ...required(path), tag: 'required' }] : []
  if (value >= minimum) return []
  return [
    { ...invalidValue(path, value, `must be greater than or equal to ${minimum}`), tag: 'minimum' },
  ]
}

/** Receives mismatches and internal errors of declarative validation. */
export type DeclarativeReport = {
  readonly mismatch: (detail: string) => void
  /**
   * Called after an internal error. `detail` is undefined if the client already receives the error.
   */
  readonly panic: (detail: string | undefined) => void
}

/** Logs and counts mismatches and internal errors of declarative validation. */
export class DeclarativeReporter implements DeclarativeReport {
  readonly #mismatches: Count
  readonly #panics: Count
  readonly #log: Log

  constructor(metrics: Metrics, log: Log) {
    const counter = (what: string, help: string): Count =>
      metrics
        .counter({
          name: `apiserver_validation_declarative_validation_${what}_total`,
          help,
          stability: 'BETA',
        })
        .with()
    this.#mismatches = counter(
      'mismatch',
      'Number of differences between declarative and handwritten validation.',
    )
    this.#panics = counter(
      'panic',
      'Number of times declarative validation failed with an internal error.',
    )
    this.#log = log
  }

  mismatch(detail: string): void {
    this.#log('error', detail)
    this.#mismatches.add()
  }

  panic(detail: string | undefined): void {
    if (detail !== undefined) this.#log('error', detail)
    this.#panics.add()
  }
}

type DeclarativeOptions = { readonly isTakenOver: boolean; readonly reporter: DeclarativeReport }

/**
 * Returns rules that run both `rules` and their declarative validation, and compare the results.
 */
export function withDeclarative(
  rules: KindRules,
  { isTakenOver, reporter }: DeclarativeOptions,
): KindRules {
  const { validate, validateUpdate, declarative } = rules
  if (declarative === undefined) return rules
  const runDeclarative = (object: KubeObject): FieldFault[] => {
    try {
      return declarative(object)
    } catch (error) {
      if (isPause(error)) throw error
      const detail = `panic during declarative validation: ${messageOf(error)}`
      reporter.panic(isTakenOver ? undefined : detail)
      return isTakenOver ? [internalFault('<nil>', detail)] : []
    }
  }
  const compare = (faults: FieldFault[], object: KubeObject): FieldFault[] => {
    const declared = runDeclarative(object)
    if (faults.length === 0 && declared.length === 0) return faults
    for (const detail of mismatches(faults, declared)) {
      reporter.mismatch(
        `${detail}. This indicates an issue with declarative validation. ${adviceFor(isTakenOver)}`,
      )
    }
    return isTakenOver ? [...faults.filter(({ tag }) => tag === undefined), ...declared] : faults
  }
  return {
    ...rules,
    validate: (object, gates) =>
      once('declarative create', () => compare(validate?.(object, gates) ?? [], object)),
    validateUpdate: (object, current, gates) =>
      once('declarative update', () =>
        compare(
          validateUpdate?.(object, current, gates) ?? validate?.(object, gates) ?? [],
          object,
        ),
      ),
  }
}

const adviceFor = (isTakenOver: boolean): string =>
  isTakenOver
    ? 'Consider disabling the DeclarativeValidationTakeover feature gate to keep data persisted in etcd consistent with prior versions of Kubernetes.'
    : 'This difference should not affect system operation since hand written validation is authoritative.'

/**
 * Returns the differences between the two validations. Errors match if their reason, path and tag
 * are equal; values are not compared. Equal errors count once, because an update can report a
 * handwritten error twice.
 */
function mismatches(handwritten: readonly FieldFault[], declared: readonly FieldFault[]): string[] {
  const covered = new Set(handwritten.filter(({ tag }) => tag !== undefined).map(identify))
  const found = new Set(declared.map(identify))
  const difference =
    'Unexpected difference between hand written validation and declarative validation error results'
  return [
    ...[...covered]
      .filter((id) => !found.has(id))
      .map((id) => `${difference}, unmatched error(s) found ${id}`),
    ...declared
      .map(identify)
      .filter((id) => !covered.has(id))
      .map((id) => `${difference}, extra error(s) found ${id}`),
  ]
}

/** Returns the reason, path and tag by which errors are compared, in the format of the log. */
const identify = ({ path, reason, tag }: FieldFault): string =>
  `{Type=${quote(reason)}, Field=${quote(path)}, Origin=${quote(tag === 'minimum' ? tag : '')}}`
