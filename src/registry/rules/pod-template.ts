/** Templates of Pods, and warnings about who names Pods after itself. */
import { invalidValue } from '../../api/field-fault.ts'
import { checkDnsLabel, checkQualifiedName } from '../../api/names.ts'
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import { validateLabels } from './label-selector.ts'
import type { Rule } from './rule.ts'

/** The paths of these faults leave `metadata` out, as kube-apiserver's do. */
export const podTemplateMetadata: Rule = (value, path, { faults }) => {
  const { labels, annotations } = fieldsOf(fieldsOf(value)['metadata'])
  faults.push(...validateLabels(labels, `${path}.labels`))
  for (const key of Object.keys(fieldsOf(annotations))) {
    for (const why of checkQualifiedName(key.toLowerCase())) {
      faults.push(invalidValue(`${path}.annotations`, key, why))
    }
  }
}

export const podTemplate: Rule = podTemplateMetadata

/** Pods get the name of their owner as the start of theirs, and hosts are named after Pods. */
export function nameWarnings({ metadata: { name = '' } }: KubeObject, current: KubeObject | undefined): string[] {
  const faults = current === undefined ? checkDnsLabel(name) : []
  if (faults.length === 0) return []
  const why = 'this is used in Pod names and hostnames, which can result in surprising behavior'
  return [`metadata.name: ${why}; a DNS label is recommended: [${faults.join(' ')}]`]
}
