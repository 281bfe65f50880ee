import type { FieldFault } from '../../../api/field-fault.ts'
import { defaultGates } from '../../../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject } from '../../../api/object.ts'
import { celVersionOf } from '../../../objects/cel/kubernetes.ts'
import { inPartsOf, inTurns, type Turns } from '../../../objects/cel/turns.ts'
import type { KindRules } from '../../kind-rules.ts'
import { isEqual } from '../../../objects/schema/equal.ts'
import { VALIDATED_ONCE_SINCE } from '../../strategy.ts'
import { typeOf } from '../../types.ts'
import { hub } from './versions.ts'
import { CONFIG_MAX, validateConfiguration } from './claim-spec.ts'
import { validateList } from './names.ts'
import { DeviceSelectors, type SelectorOptions } from './selectors.ts'

/** Rules for DeviceClass. A claim can request devices of a class. */
export const deviceClassRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'change', 'rules'],
    hasTaggedNames: true,
    returnsDeleted: true,
    generation: { fields: ['spec'] },
  },
  validate: () => [],
  // Validation runs in time slices, so that compiling the CEL expressions of selectors does not
  // block other requests.
  validateInSlices: (object, current, tools, gates = defaultGates) =>
    inTurns((slice) => validateClass(object, current, { gates, slice }), tools),
}

/**
 * Validates a class. As in kube-apiserver, releases before 1.35 first validate an update like a new
 * object.
 */
function* validateClass(
  object: KubeObject,
  current: KubeObject | undefined,
  { gates, slice }: SelectorOptions,
): Turns<FieldFault[]> {
  const isTwice = gates.release < VALIDATED_ONCE_SINCE
  const faults =
    current === undefined || isTwice
      ? yield* validate(specOf(object), undefined, { gates, slice })
      : []
  if (current === undefined) return faults
  return [...faults, ...(yield* validate(specOf(object), specOf(current), { gates, slice }))]
}

const specOf = (object: KubeObject): Fields => fieldsOf(object['spec'])

/**
 * Validates a spec. Fields that are equal in the stored spec `before` are validated less strictly,
 * because they are already stored.
 */
function* validate(
  spec: Fields,
  before: Fields | undefined,
  { gates, slice }: SelectorOptions,
): Turns<FieldFault[]> {
  const isStored = (field: string): boolean =>
    before !== undefined &&
    isEqual(
      typeOf(hub, 'DeviceClassSpec', gates.release),
      { [field]: spec[field] },
      { [field]: before[field] },
    )
  const configStored = isStored('config')
  const { release } = gates
  const selectors = yield* DeviceSelectors.compile(
    () => [spec],
    celVersionOf(gates, isStored('selectors')),
    slice,
  )
  return yield* inPartsOf(
    () => [
      ...selectors.validate(spec['selectors'], 'spec.selectors', release),
      ...validateList(itemsOf(spec['config']), 'spec.config', {
        validate: (one, path) =>
          validateConfiguration(one, path, { isStored: configStored, release }),
        max: CONFIG_MAX,
        release,
      }),
    ],
    slice,
  )
}
