/**
 * Rules for the metadata of all objects. For most kinds, kube-apiserver validates metadata a second
 * time, with the kind's own rule for names. Errors that both validations find are reported twice,
 * as in kube-apiserver.
 */
import {
  FAULTS_MAX,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  required,
  tooLong,
} from '../api/field-fault.ts'
import { goStrings, goTime, shownItems } from '../api/go-value.ts'
import {
  checkDnsLabel,
  checkLabelValue,
  checkQualifiedName,
  isStandardFinalizer,
} from '../api/names.ts'
import {
  type Fields,
  fieldsOf,
  isNumber,
  itemsOf,
  type Json,
  type ObjectMeta,
} from '../api/object.ts'
import { managerFaults } from '../api/manager-name.ts'
import { quote } from '../api/quote.ts'
import { addAll } from '../lib/scheduling/long-lists.ts'
import { eachItem, eachKey } from '../lib/scheduling/parts.ts'

/** Maximum total size of the keys and values of all annotations of an object. */
const ANNOTATIONS_BYTES_MAX = 256 * 1024
/** Maximum size of `subresource` in an entry of managedFields. */
const SUBRESOURCE_BYTES_MAX = 256

export type NameRules = {
  readonly isNamespaced: boolean
  readonly checkName: (name: string) => string[]
  /** Rule for generateName, if it differs from the rule for names. */
  readonly checkPrefix?: (prefix: string) => string[]
}

/**
 * Validates metadata. This function runs several times for each write, so it allocates no memory
 * for absent fields. `lists` contains the errors in labels, annotations and ownerReferences, if
 * these were already validated.
 */
export function validateMetadata(
  metadata: ObjectMeta,
  rules: NameRules,
  lists: readonly FieldFault[] = validateLists(metadata),
): FieldFault[] {
  const faults = validateNames(metadata, rules)
  const { finalizers = none } = metadata
  addAll(faults, validateGeneration(metadata))
  addAll(faults, lists)
  if (finalizers.length > 0) addAll(faults, validateFinalizers(finalizers))
  addAll(faults, validateManagedFields(metadata['managedFields']))
  return faults
}

const none: readonly never[] = []

/** Validates the changes from the stored metadata to `metadata`. */
export function validateMetadataUpdate(
  metadata: ObjectMeta,
  current: ObjectMeta,
  lists: readonly FieldFault[] = validateLists(metadata),
): FieldFault[] {
  return [
    ...validateNewFinalizers(metadata, current),
    ...validateFixed(metadata, current),
    ...lists,
    ...validateManagedFields(metadata['managedFields']),
  ]
}

/**
 * Requires that the names of finalizers begin with a domain, except for standard finalizers. Most
 * kinds have this rule.
 */
export function validateFinalizerDomains({ finalizers = [] }: ObjectMeta): FieldFault[] {
  return faultsOfEach(finalizers, (finalizer, at) => {
    if (finalizer.includes('/') || isStandardFinalizer(finalizer)) return []
    const why = 'name is neither a standard finalizer name nor is it fully qualified'
    return [invalidValue(`metadata.finalizers[${at}]`, finalizer, why)]
  })
}

/**
 * Returns the prefix in the form that is validated. A prefix can end with a dash, because random
 * characters follow it in the generated name. The dash and the preceding ASCII character are
 * replaced by an `a`. As in kube-apiserver, the preceding character is therefore not validated.
 */
export const withoutDash = (prefix: string): string => prefix.replace(/\p{ASCII}-$/u, 'a')

function validateNames(
  metadata: ObjectMeta,
  { isNamespaced, checkName, checkPrefix = checkName }: NameRules,
): FieldFault[] {
  const { name = '', generateName = '', namespace = '' } = metadata
  const faults: FieldFault[] = []
  if (generateName !== '') {
    for (const fault of checkPrefix(withoutDash(generateName))) {
      faults.push(invalidValue('metadata.generateName', generateName, fault))
    }
  }
  if (name === '') faults.push(required('metadata.name', 'name or generateName is required'))
  else for (const fault of checkName(name)) faults.push(invalidValue('metadata.name', name, fault))
  if (!isNamespaced) return faults
  if (namespace === '') faults.push(required('metadata.namespace'))
  else
    for (const fault of checkDnsLabel(namespace))
      faults.push(invalidValue('metadata.namespace', namespace, fault))
  return faults
}

function validateGeneration({ generation = 0 }: ObjectMeta): readonly FieldFault[] {
  if (generation >= 0) return none
  return [invalidValue('metadata.generation', generation, 'must be greater than or equal to 0')]
}

/** Validates labels, annotations and ownerReferences. There can be many of them. */
export function validateLists(metadata: ObjectMeta): readonly FieldFault[] {
  const { labels, annotations, ownerReferences } = metadata
  if (labels === undefined && annotations === undefined && ownerReferences === undefined)
    return none
  return [
    ...validateLabels(labels),
    ...validateAnnotations(annotations),
    ...validateOwners(ownerReferences),
  ]
}

function validateLabels(labels: ObjectMeta['labels']): FieldFault[] {
  if (labels === undefined) return []
  return eachKey('labels of metadata', labels, newFaults, (faults, key) => {
    const value = labels[key] ?? ''
    for (const fault of checkQualifiedName(key))
      faults.push(invalidValue('metadata.labels', key, fault))
    for (const fault of checkLabelValue(value))
      faults.push(invalidValue('metadata.labels', value, fault))
    return faults.length < FAULTS_MAX
  })
}

const newFaults = (): FieldFault[] => []

export function validateAnnotations(
  annotations: Json | undefined,
  path = 'metadata.annotations',
): FieldFault[] {
  if (annotations === undefined) return []
  const fields = fieldsOf(annotations)
  const { faults, bytes } = eachKey(
    'annotations of metadata',
    fields,
    newAnnotations,
    (found, key) => {
      if (found.faults.length < FAULTS_MAX)
        for (const fault of checkQualifiedName(key.toLowerCase()))
          found.faults.push(invalidValue(path, key, fault))
      found.bytes += Buffer.byteLength(key) + Buffer.byteLength(textOf(fields[key]))
      return true
    },
  )
  return bytes > ANNOTATIONS_BYTES_MAX ? [...faults, tooLong(path, ANNOTATIONS_BYTES_MAX)] : faults
}

const newAnnotations = (): { readonly faults: FieldFault[]; bytes: number } => ({
  faults: [],
  bytes: 0,
})

function validateOwners(owners: Json | undefined): FieldFault[] {
  const references = itemsOf(owners)
  const faults = faultsOfEach(references, validateOwner)
  const controllers = eachItem(
    'controllers of metadata',
    references,
    noFields,
    (found, reference) => {
      if (reference['controller'] === true) found.push(reference)
      return true
    },
  )
  return controllers.length < 2 ? faults : [...faults, ...controllerFaults(references, controllers)]
}

const noFields = (): Fields[] => []

function controllerFaults(
  references: readonly Fields[],
  [first, ...others]: readonly Fields[],
): FieldFault[] {
  const shown = `[]v1.OwnerReference{${shownItems(references, goOwner)}}`
  const value = { type: '[]meta.OwnerReference', json: references }
  return faultsOfEach(others, (other) => {
    const found = `Found "true" in references for ${shortOwner(first ?? {})} and ${shortOwner(other)}`
    return [
      invalidShown(
        ownersPath,
        shown,
        `Only one reference can have Controller set to true. ${found}`,
        value,
      ),
    ]
  })
}

const ownersPath = 'metadata.ownerReferences'

/** Validates an owner reference. As in kube-apiserver, the paths do not contain an index. */
function validateOwner(owner: Fields): FieldFault[] {
  const apiVersion = textOf(owner['apiVersion'])
  const parts = apiVersion.split('/')
  const version = parts.length > 2 ? '' : (parts.at(-1) ?? '')
  const faults: FieldFault[] = []
  if (version === '')
    faults.push(invalidValue(`${ownersPath}.apiVersion`, apiVersion, 'version must not be empty'))
  for (const name of ['kind', 'name', 'uid'] as const) {
    if (textOf(owner[name]) === '')
      faults.push(invalidValue(`${ownersPath}.${name}`, '', `${name} must not be empty`))
  }
  if (apiVersion === 'v1' && owner['kind'] === 'Event') {
    faults.push(
      invalidShown(
        ownersPath,
        goOwner(owner),
        '/v1, Kind=Event is disallowed from being an owner',
        { type: 'meta.OwnerReference', json: owner },
      ),
    )
  }
  return faults
}

const shortOwner = (owner: Fields): string => `${textOf(owner['kind'])}/${textOf(owner['name'])}`

/**
 * Formats an owner reference as Go does with %#v. In place of the memory addresses of pointers, it
 * shows a constant.
 */
function goOwner(owner: Fields): string {
  const text = (goName: string, name: string): string => `${goName}:${quote(textOf(owner[name]))}`
  const pointer = (goName: string, name: string): string =>
    `${goName}:(*bool)(${owner[name] === undefined ? 'nil' : '0xc000000000'})`
  const fields = [
    text('APIVersion', 'apiVersion'),
    text('Kind', 'kind'),
    text('Name', 'name'),
    text('UID', 'uid'),
  ]
  return `v1.OwnerReference{${[...fields, pointer('Controller', 'controller'), pointer('BlockOwnerDeletion', 'blockOwnerDeletion')].join(', ')}}`
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

function validateFinalizers(finalizers: readonly string[]): FieldFault[] {
  const path = 'metadata.finalizers'
  const faults = [
    ...faultsOfEach(finalizers, (finalizer) =>
      checkQualifiedName(finalizer).map((fault) => invalidValue(path, finalizer, fault)),
    ),
  ]
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const why = 'finalizer orphan and foregroundDeletion cannot be both set'
    faults.push(invalidShown(path, goStrings(finalizers), why))
  }
  return faults
}

function validateManagedFields(entries: Json | undefined): readonly FieldFault[] {
  if (!Array.isArray(entries)) return none
  return faultsOfEach<Json>(entries, (entry, at) => {
    const faults: FieldFault[] = []
    const { operation, fieldsType, manager, subresource } = fieldsOf(entry)
    const path = `metadata.managedFields[${at}]`
    if (operation !== 'Apply' && operation !== 'Update') {
      const shown = typeof operation === 'string' ? operation : ''
      faults.push(invalidValue(`${path}.operation`, shown, 'must be `Apply` or `Update`'))
    }
    if (typeof fieldsType === 'string' && fieldsType !== '' && fieldsType !== 'FieldsV1') {
      faults.push(invalidValue(`${path}.fieldsType`, fieldsType, 'must be `FieldsV1`'))
    }
    if (typeof manager === 'string') faults.push(...managerFaults(`${path}.manager`, manager))
    if (typeof subresource === 'string' && Buffer.byteLength(subresource) > SUBRESOURCE_BYTES_MAX) {
      faults.push(tooLong(`${path}.subresource`, SUBRESOURCE_BYTES_MAX))
    }
    return faults
  })
}

/** Refuses new finalizers on an object that is being deleted. */
function validateNewFinalizers(metadata: ObjectMeta, current: ObjectMeta): FieldFault[] {
  if (current.deletionTimestamp === undefined) return []
  const known = new Set(current.finalizers)
  const added = [...new Set(metadata.finalizers)]
    .filter((finalizer) => !known.has(finalizer))
    .toSorted()
  if (added.length === 0) return []
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${goStrings(added)}`
  return [forbiddenField('metadata.finalizers', why)]
}

function validateFixed(metadata: ObjectMeta, current: ObjectMeta): FieldFault[] {
  const faults: FieldFault[] = []
  for (const name of ['name', 'namespace', 'uid'] as const) {
    const value = metadata[name] ?? ''
    if (value !== (current[name] ?? ''))
      faults.push(invalidValue(`metadata.${name}`, value, immutable))
  }
  for (const name of ['creationTimestamp', 'deletionTimestamp'] as const) {
    const value = metadata[name] ?? null
    if (value !== (current[name] ?? null)) {
      faults.push(
        invalidShown(`metadata.${name}`, value === null ? '"null"' : goTime(value), immutable),
      )
    }
  }
  const grace = metadata['deletionGracePeriodSeconds']
  if (grace !== current['deletionGracePeriodSeconds']) {
    const shown = isNumber(grace) ? grace : null
    faults.push(invalidValue('metadata.deletionGracePeriodSeconds', shown, immutable))
  }
  return faults
}

const immutable = 'field is immutable'
