/**
 * Rules for updates of a Pod. Only a few fields are mutable, so that kubelets can rely on the other
 * fields.
 */
import { isEqual } from '../../../../objects/schema/equal.ts'
import { quote } from '../../../../api/quote.ts'
import {
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  required,
} from '../../../../api/field-fault.ts'
import type { Gates } from '../../../../api/gates.ts'
import { goStrings, shownItems } from '../../../../api/go-value.ts'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
  omit,
  textOf,
  textsOf,
} from '../../../../api/object.ts'
import { keysOf } from '../../../../lib/scheduling/long-lists.ts'
import { everyItem, mapEach } from '../../../../lib/scheduling/parts.ts'
import { identityOf, isSame } from '../../../../objects/schema/equal.ts'
import { isEqualAs } from '../../../rules/equality.ts'
import { typeOf } from '../../../types.ts'
import { goLabels } from '../../../rules/label-selector.ts'
import { faultsOf } from '../../../rules/rule.ts'
import { between, INT32_MAX } from '../../../rules/scalars.ts'
import { appArmorPrefix, mirror, validatePodAnnotations } from './annotations.ts'
import { imagePadding } from './containers.ts'
import { tolerations } from './scheduling.ts'

const otherFields =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

/** Validates only the changes. The rules that also apply on create are in other files. */
export function validatePodChange(
  pod: KubeObject,
  current: KubeObject,
  gates: Gates,
): FieldFault[] {
  const spec = fieldsOf(pod['spec'])
  const was = fieldsOf(current['spec'])
  const annotationFaults = [
    ...validateAnnotationChange(pod, current),
    ...validatePodAnnotations(pod, 'metadata.annotations', gates),
  ]
  for (const list of ['containers', 'initContainers']) {
    if (itemsOf(spec[list]).length === itemsOf(was[list]).length) continue
    return [
      ...annotationFaults,
      forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers'),
    ]
  }
  return [
    ...annotationFaults,
    ...validateImages(spec),
    ...validateDeadline(spec['activeDeadlineSeconds'], was['activeDeadlineSeconds']),
    ...validateGates(spec['schedulingGates'], was['schedulingGates']),
    ...validateTolerations(spec['tolerations'], was['tolerations'], gates),
    ...(itemsOf(was['schedulingGates']).length > 0 ? validateGatedPlace(spec, was) : []),
    ...validateRest(spec, was, gates),
  ]
}

const annotationPath = (key: string): string => `metadata.annotations[${key}]`

function validateAnnotationChange({ metadata }: KubeObject, current: KubeObject): FieldFault[] {
  const now = new Map(entriesOf(metadata.annotations))
  const before = new Map(entriesOf(current.metadata.annotations))
  const faults = [...now.keys()]
    .filter((key) => key.startsWith(appArmorPrefix) && !before.has(key))
    .map((key) => forbiddenField(annotationPath(key), 'may not add AppArmor annotations'))
  for (const [key, value] of before) {
    if (key.startsWith(appArmorPrefix) && now.get(key) !== value) {
      faults.push(
        forbiddenField(annotationPath(key), 'may not remove or update AppArmor annotations'),
      )
    }
  }
  if (now.has(mirror) && !before.has(mirror))
    faults.push(forbiddenField(annotationPath(mirror), 'may not add mirror pod annotation'))
  if (before.has(mirror) && now.get(mirror) !== before.get(mirror)) {
    faults.push(
      forbiddenField(annotationPath(mirror), 'may not remove or update mirror pod annotation'),
    )
  }
  return faults
}

function validateImages(spec: Fields): FieldFault[] {
  return ['containers', 'initContainers'].flatMap((list) =>
    faultsOfEach(itemsOf(spec[list]), ({ image }, at) => {
      const path = `spec.${list}[${at}].image`
      return textOf(image) === '' ? [required(path)] : faultsOf(imagePadding, image, path)
    }),
  )
}

function validateDeadline(now: Json | undefined, before: Json | undefined): FieldFault[] {
  const path = 'spec.activeDeadlineSeconds'
  if (now === undefined) {
    if (before === undefined) return []
    return [invalidValue(path, null, 'must not update from a positive integer to nil value')]
  }
  const faults = faultsOf(between(0, INT32_MAX), now, path)
  if (faults.length > 0 || before === undefined || numberOf(now) <= numberOf(before)) return faults
  return [invalidValue(path, numberOf(now), 'must be less than or equal to previous value')]
}

function validateGates(now: Json | undefined, before: Json | undefined): FieldFault[] {
  const known = keysOf(itemsOf(before), ({ name }) => textOf(name))
  return faultsOfEach(itemsOf(now), ({ name }, at) => {
    const gate = textOf(name)
    if (known.has(gate)) return []
    const why = `only deletion is allowed, but found new scheduling gate '${gate}'`
    return [forbiddenField(`spec.schedulingGates[${at}].name`, why)]
  })
}

const tolerationId = (toleration: Fields): string =>
  identityOf(omit(toleration, 'tolerationSeconds'))

/**
 * Validates changes of tolerations. New tolerations can be added, and tolerationSeconds can change.
 */
function validateTolerations(
  now: Json | undefined,
  before: Json | undefined,
  gates: Gates,
): FieldFault[] {
  if (isSame(now, before)) return []
  const path = 'spec.tolerations'
  const known = keysOf(itemsOf(now), tolerationId)
  const isKept = everyItem('kept tolerations', itemsOf(before), (old) =>
    known.has(tolerationId(old)),
  )
  if (!isKept) {
    return [
      forbiddenField(path, 'existing toleration can not be modified except its tolerationSeconds'),
    ]
  }
  return faultsOf(tolerations, now, path, gates)
}

/**
 * Validates changes of the node constraints of a Pod with scheduling gates. The Pod is not
 * scheduled yet, so the constraints can become stricter.
 */
function validateGatedPlace(spec: Fields, was: Fields): FieldFault[] {
  const faults: FieldFault[] = []
  const selector = fieldsOf(spec['nodeSelector'])
  if (entriesOf(was['nodeSelector']).some(([key, value]) => selector[key] !== value)) {
    const why = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
    faults.push(invalidShown('spec.nodeSelector', goLabels(selector), why))
  }
  return [...faults, ...validateNodeTerms(requiredTerms(spec), requiredTerms(was))]
}

function requiredTerms(spec: Fields): readonly Fields[] {
  const { nodeAffinity } = fieldsOf(spec['affinity'])
  const { requiredDuringSchedulingIgnoredDuringExecution: wanted } = fieldsOf(nodeAffinity)
  return itemsOf(fieldsOf(wanted)['nodeSelectorTerms'])
}

function validateNodeTerms(now: readonly Fields[], before: readonly Fields[]): FieldFault[] {
  if (before.length === 0) return []
  const path =
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms'
  if (now.length !== before.length) {
    const shown =
      now.length === 0
        ? '[]core.NodeSelectorTerm(nil)'
        : `[]core.NodeSelectorTerm{${shownItems(now, goTerm)}}`
    return [
      invalidShown(
        path,
        shown,
        'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
      ),
    ]
  }
  return faultsOfEach(now, (term, at) => {
    const isGrown = ['matchExpressions', 'matchFields'].every((list) => {
      const known = keysOf(itemsOf(term[list]), identityOf)
      // Bounded: the loop runs only twice, for matchExpressions and matchFields.
      return everyItem('kept expressions', itemsOf(before[at]?.[list]), (old) =>
        known.has(identityOf(old)),
      )
    })
    if (isGrown) return []
    return [
      invalidShown(
        `${path}[${at}]`,
        goTerm(term),
        'only additions are allowed (no mutations or deletions)',
      ),
    ]
  })
}

function goTerm({ matchExpressions, matchFields }: Fields): string {
  return `core.NodeSelectorTerm{MatchExpressions:${goRequirements(matchExpressions)}, MatchFields:${goRequirements(matchFields)}}`
}

function goRequirements(list: Json | undefined): string {
  const type = 'core.NodeSelectorRequirement'
  if (itemsOf(list).length === 0) return `[]${type}(nil)`
  const show = ({ key, operator, values }: Fields): string => {
    const [keyShown, operatorShown] = [key, operator].map((text) => quote(textOf(text)))
    return `${type}{Key:${keyShown}, Operator:${operatorShown}, Values:${goStrings(textsOf(values))}}`
  }
  return `[]${type}{${shownItems(itemsOf(list), show)}}`
}

/** Refuses changes of all fields that the other functions do not validate. */
function validateRest(spec: Fields, was: Fields, { release }: Gates): FieldFault[] {
  const struct = typeOf('core/v1', 'PodSpec', release)
  const isGated = itemsOf(was['schedulingGates']).length > 0
  const now = comparable(spec, was, isGated)
  const before = comparable(was, was, isGated)
  const changed = Object.keys({ ...now, ...before }).filter(
    (field) => !isEqual(struct, { [field]: now[field] }, { [field]: before[field] }),
  )
  if (changed.length === 0) return []
  // kube-apiserver prints a diff of Go structs. This message lists the names of the changed fields
  // instead.
  return [
    forbiddenField(
      'spec',
      `${otherFields}\n${changed.map((field) => `  spec.${field}`).join('\n')}\n`,
    ),
  ]
}

/** Returns the spec without the fields that an update can change. */
function comparable(spec: Fields, was: Fields, isGated: boolean): Fields {
  const isGraceMended =
    numberOf(was['terminationGracePeriodSeconds']) < 0 &&
    spec['terminationGracePeriodSeconds'] === 1
  const kept: Fields = {
    ...omit(
      spec,
      'activeDeadlineSeconds',
      'tolerations',
      'schedulingGates',
      'nodeSelector',
      'affinity',
    ),
    containers: withoutImages(spec['containers']),
    initContainers: withoutImages(spec['initContainers']),
    ...(isGraceMended
      ? { terminationGracePeriodSeconds: was['terminationGracePeriodSeconds'] }
      : {}),
  }
  const { nodeSelector, affinity } = spec
  return isGated
    ? { ...kept, affinity: gatedAffinity(affinity, was['affinity']) }
    : { ...kept, nodeSelector, affinity }
}

const withoutImages = (containers: Json | undefined): Fields[] =>
  mapEach('containers without images', itemsOf(containers), (container) => omit(container, 'image'))

/**
 * Returns the affinity with the stored nodeAffinity, which is validated separately. An empty
 * affinity differs from an absent one.
 */
function gatedAffinity(now: Json | undefined, was: Json | undefined): Json | undefined {
  const { nodeAffinity } = fieldsOf(now)
  const { nodeAffinity: before } = fieldsOf(was)
  if (isEqualAs('core/v1 Affinity', { nodeAffinity }, { nodeAffinity: before })) return now
  const others = omit(fieldsOf(now), 'nodeAffinity')
  if (was === undefined && Object.keys(others).length === 0) return undefined
  return before === undefined ? others : { ...others, nodeAffinity: before }
}
