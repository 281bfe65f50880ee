/** Rules for RoleBinding and ClusterRoleBinding. */
import {
  checked,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { checkDnsSubdomain, checkPathSegment } from '../../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { VALIDATED_ONCE_SINCE } from '../../strategy.ts'
import { laterUpdateChecks } from './role.ts'

const group = 'rbac.authorization.k8s.io'

export const roleBindingRules: KindRules = bindingRules({
  roleKinds: ['Role', 'ClusterRole'],
  isNamespaced: true,
})
export const clusterRoleBindingRules: KindRules = bindingRules({
  roleKinds: ['ClusterRole'],
  isNamespaced: false,
})

type Options = { readonly roleKinds: readonly string[]; readonly isNamespaced: boolean }

function bindingRules(options: Options): KindRules {
  const validate = (binding: KubeObject): FieldFault[] => [
    ...validateRoleRef(fieldsOf(binding['roleRef']), options),
    ...faultsOfEach(itemsOf(binding['subjects']), (subject, at) =>
      validateSubject(subject, `subjects[${at}]`, options),
    ),
  ]
  return {
    strategy: {
      names: 'path',
      updateChecks: ['metadata', 'metadata', 'change', 'rules'],
      laterUpdateChecks,
      createsOnUpdate: true,
    },
    validate,
    // As in kube-apiserver, an update is validated twice in releases before 1.35.
    validateUpdate: (binding, current, { release }) => [
      ...(release < VALIDATED_ONCE_SINCE ? validate(binding) : []),
      ...validate(binding),
      ...validateSameRole(binding, current),
    ],
  }
}

function validateRoleRef({ apiGroup, kind, name }: Fields, { roleKinds }: Options): FieldFault[] {
  const faults: FieldFault[] = []
  if (apiGroup !== group) faults.push(notSupported('roleRef.apiGroup', textOf(apiGroup), [group]))
  if (!roleKinds.includes(textOf(kind)))
    faults.push(notSupported('roleRef.kind', textOf(kind), roleKinds))
  if (textOf(name) === '') faults.push(required('roleRef.name'))
  return [...faults, ...checked('roleRef.name', textOf(name), checkPathSegment)]
}

function validateSubject(subject: Fields, path: string, { isNamespaced }: Options): FieldFault[] {
  const [kind, name, apiGroup] = [
    textOf(subject['kind']),
    textOf(subject['name']),
    textOf(subject['apiGroup']),
  ]
  const faults = name === '' ? [required(`${path}.name`)] : []
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') faults.push(...checked(`${path}.name`, name, checkDnsSubdomain))
      if (apiGroup !== '') faults.push(notSupported(`${path}.apiGroup`, apiGroup, ['']))
      if (!isNamespaced && textOf(subject['namespace']) === '')
        faults.push(required(`${path}.namespace`))
      return faults
    case 'User':
    case 'Group':
      return apiGroup === group
        ? faults
        : [...faults, notSupported(`${path}.apiGroup`, apiGroup, [group])]
    default:
      return [...faults, notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group'])]
  }
}

function validateSameRole(binding: KubeObject, current: KubeObject): FieldFault[] {
  if (isSame(binding['roleRef'], current['roleRef'])) return []
  const { apiGroup, kind, name } = fieldsOf(binding['roleRef'])
  const [shownGroup, shownKind, shownName] = [apiGroup, kind, name].map((part) =>
    quote(textOf(part)),
  )
  const shown = `rbac.RoleRef{APIGroup:${shownGroup}, Kind:${shownKind}, Name:${shownName}}`
  return [invalidShown('roleRef', shown, 'cannot change roleRef')]
}
