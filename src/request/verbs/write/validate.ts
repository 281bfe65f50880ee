/** The step that validates an object by the rules of its kind and the rules for all objects. */
import { refuseInvalid } from '../../../api/errors.ts'
import type { FieldFault } from '../../../api/field-fault.ts'
import type { KubeObject } from '../../../api/object.ts'
import {
  type NamespaceRule,
  rulesOf,
  type UpdateRules,
  type ValidateTools,
} from '../../../registry/resource.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import { validateCreate, validateUpdate } from '../../../registry/validate.ts'
import type { Current } from '../../../storage/store.ts'
import type { ValidationAccess } from '../access.ts'
import { checkWaiting } from '../storage-errors.ts'
import type { Write } from './write.ts'

/**
 * Validates an object. Fails with Invalid, and reports all errors. Warnings are added to the
 * context.
 */
export async function validate(
  { request, access }: Pick<Write, 'request' | 'access'>,
  object: KubeObject,
  current: Current<KubeObject> | undefined,
): Promise<void> {
  const { resource, context } = request
  const before = current?.object
  const rules: UpdateRules = before === undefined ? resource.rules : rulesOf(request)
  const finding = rules.validateInSlices?.(object, before, toolsOf(request, access.validation))
  const found = finding === undefined ? [] : await finding
  const rule = rules.namespaceRule?.(object, before)
  const first = rule === undefined ? [] : await namespaceFaults(rule, object, access.validation)
  const faultsOf = (): readonly FieldFault[] =>
    before === undefined
      ? validateCreate(object, resource, found)
      : validateUpdate(object, before, { resource, rules, found })
  const faults = context.isLarge ? await context.inParts(faultsOf) : faultsOf()
  const refuse = (): void => refuseInvalid(resource, object, [...first, ...faults])
  if (context.isLarge && faults.length > 0) await context.inParts(refuse)
  else refuse()
  const warningsOf = (): readonly string[] =>
    before === undefined
      ? resource.rules.warnings(object, undefined)
      : (rules.warnings?.(object, before) ?? [])
  const warnings = context.isLarge ? await context.inParts(warningsOf) : warningsOf()
  for (const warning of warnings) context.warn(warning)
}

async function namespaceFaults(
  rule: NonNullable<ReturnType<NamespaceRule>>,
  { metadata }: KubeObject,
  { namespaceLabels }: ValidationAccess,
): Promise<readonly FieldFault[]> {
  return rule(await namespaceLabels(metadata.namespace ?? ''))
}

/**
 * Returns the functions that validation can call. `refuse` ends the validation if the request is
 * canceled.
 */
const toolsOf = (
  { context }: ResourceRequest,
  { answerPattern }: ValidationAccess,
): ValidateTools => ({
  answer: answerPattern,
  warn: (text) => context.warn(text),
  refuse: () => {
    checkWaiting(context)
  },
})
