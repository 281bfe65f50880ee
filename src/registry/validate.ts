/**
 * Applies all validation rules to an object, in kube-apiserver's order: first the rules of its
 * kind, then the rules for all objects.
 */
import type { FieldFault } from '../api/field-fault.ts'
import { checkPathSegment, checkPathSegmentPrefix } from '../api/names.ts'
import type { KubeObject } from '../api/object.ts'
import {
  type NameRules,
  validateFinalizerDomains,
  validateLists,
  validateMetadata,
  validateMetadataUpdate,
} from './metadata.ts'
import { faultsOfRelease } from './release-faults.ts'
import type { Resource, UpdateCheck, UpdateRules } from './resource.ts'

/**
 * Validates a new object. The rules for all objects are applied only if the rules of the kind find
 * no errors. `found` contains the errors that the rules in time slices have found.
 */
export function validateCreate(
  object: KubeObject,
  resource: Resource,
  found: readonly FieldFault[] = [],
): FieldFault[] {
  const lists = validateLists(object.metadata)
  const faults = [
    ...validateKindMetadata(object, resource, lists),
    ...resource.rules.validate(object),
    ...found,
  ]
  return faultsOfRelease(
    faults.length > 0 ? faults : validateMetadata(object.metadata, anyName(resource), lists),
    resource.release,
  )
}

export type UpdateContext = {
  readonly resource: Resource
  readonly rules: UpdateRules
  readonly found?: readonly FieldFault[]
}

/**
 * Validates an update. `rules` are the rules for updates through the path of the request, for
 * example through /status.
 */
export function validateUpdate(
  object: KubeObject,
  current: KubeObject,
  { resource, rules, found = [] }: UpdateContext,
): FieldFault[] {
  const { metadata } = object
  const { needsDomains, updateChecks } = resource.rules.metadata
  const lists = validateLists(metadata)
  const checks: Record<UpdateCheck, () => readonly FieldFault[]> = {
    metadata: () => validateKindMetadata(object, resource, lists),
    change: () => [
      ...validateMetadataUpdate(metadata, current.metadata, lists),
      ...(needsDomains ? validateFinalizerDomains(metadata) : []),
    ],
    rules: () => [...rules.validateUpdate(object, current), ...found],
  }
  const faults = [
    ...validateMetadata(metadata, anyName(resource), lists),
    ...validateMetadataUpdate(metadata, current.metadata, lists),
    ...(rules.updateChecks ?? updateChecks).flatMap((check) => checks[check]()),
  ]
  return faultsOfRelease(faults, resource.release)
}

function validateKindMetadata(
  { metadata }: KubeObject,
  resource: Resource,
  lists: readonly FieldFault[],
): FieldFault[] {
  const { isNamespaced } = resource
  const { isChecked, needsDomains, checkName, checkPrefix = checkName } = resource.rules.metadata
  if (!isChecked) return []
  return [
    ...validateMetadata(metadata, { isNamespaced, checkName, checkPrefix }, lists),
    ...(needsDomains ? validateFinalizerDomains(metadata) : []),
  ]
}

const segment = { checkName: checkPathSegment, checkPrefix: checkPathSegmentPrefix }
const segmentInNamespace = { ...segment, isNamespaced: true }
const segmentInCluster = { ...segment, isNamespaced: false }

/** Returns the naming rules for all objects. Every name must be usable as a path segment. */
const anyName = ({ isNamespaced }: Resource): NameRules =>
  isNamespaced ? segmentInNamespace : segmentInCluster
