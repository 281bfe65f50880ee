import { duplicateShown, type FieldFault, invalidValue } from '../../../api/field-fault.ts'
import { checkDnsLabel } from '../../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, textOf } from '../../../api/object.ts'
import type { Gates } from '../../../api/gates.ts'
import { quote } from '../../../api/quote.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { mapEach } from '../../../lib/scheduling/parts.ts'
import type { KindRules } from '../../kind-rules.ts'
import { labelMap } from '../../rules/label-selector.ts'
import { identityOf } from '../../../objects/schema/equal.ts'
import { resourceRequirements } from '../../rules/resources.ts'
import { faultsOf, fields, ifPresent, type Rule } from '../../rules/rule.ts'
import { named } from '../../rules/scalars.ts'
import { classTolerations } from '../core/pod/scheduling.ts'

export const runtimeClassRules: KindRules = {
  strategy: {
    finalizersNeedNoDomain: true,
    updateChecks: ['metadata', 'change', 'rules'],
    needsResourceVersion: true,
    createsOnUpdate: true,
  },
  validate,
  validateUpdate: (object, current, gates) => [
    ...validateHandler(object, current),
    ...validate(object, gates),
  ],
}

/** Rule for overhead: the resources that a Pod needs in addition to those of its containers. */
const overhead: Rule = (value, path, check) =>
  resourceRequirements({ limits: fieldsOf(value)['podFixed'] }, path, check)

/** The first release in which paths of errors inside a toleration name `tolerations` only once. */
const NAMED_ONCE_SINCE = 35

/**
 * Rule for tolerations, which must be unique. As in kube-apiserver, the paths of errors inside a
 * toleration repeat `tolerations` in releases before 1.35.
 */
const uniqueTolerations: Rule = (value, path, check) => {
  const { release } = check.gates
  classTolerations(value, release < NAMED_ONCE_SINCE ? `${path}.tolerations` : path, check)
  const list = itemsOf(value)
  for (const at of repeatsIn(mapEach('tolerations of a class', list, identityOf))) {
    const json = list[at] ?? {}
    const inner = { type: 'core.Toleration', json }
    check.faults.push(duplicateShown(`${path}[${at}]`, goToleration(json), '', inner))
  }
}

const scheduling = fields({
  nodeSelector: labelMap,
  tolerations: uniqueTolerations,
})

function validate(object: KubeObject, gates: Gates): FieldFault[] {
  return [
    ...faultsOf(named(checkDnsLabel), object['handler'], 'handler'),
    ...faultsOf(ifPresent(overhead), object['overhead'], 'overhead'),
    ...faultsOf(ifPresent(scheduling), object['scheduling'], 'scheduling', gates),
  ]
}

function validateHandler(object: KubeObject, current: KubeObject): FieldFault[] {
  const handler = textOf(object['handler'])
  return handler === current['handler']
    ? []
    : [invalidValue('handler', handler, 'field is immutable')]
}

/**
 * Formats a toleration as Go does. It is shortened if it has tolerationSeconds, for which Go prints
 * a memory address.
 */
function goToleration(toleration: Fields): string {
  if (toleration['tolerationSeconds'] !== undefined) return 'core.Toleration{...}'
  const parts = ['Key', 'Operator', 'Value', 'Effect'].map(
    (name) => `${name}:${quote(textOf(toleration[name.toLowerCase()]))}`,
  )
  return `core.Toleration{${parts.join(', ')}, TolerationSeconds:(*int64)(nil)}`
}
