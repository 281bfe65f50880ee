/** What a Pod asks for as a whole, and what it is limited to (gate PodLevelResources). */
import { type FieldFault, forbiddenField, invalidValue, notSupportedShown } from '../../../../api/field-fault.ts'
import { entriesOf, type Fields, fieldsOf, isFields, itemsOf, type Json, textOf } from '../../../../api/object.ts'
import { nanosOf } from '../../../../api/quantity.ts'
import { printResourceList } from '../../../../api/resource-list.ts'
import { isHugePages, requirements } from '../../../rules/resources.ts'
import { given } from '../../../rules/rule.ts'
import { containerAmounts } from './amounts.ts'
import type { PodRule } from './check.ts'
import { usedClaims } from './resource-claims.ts'

/** By the containers, together. */
const askedBelow = (spec: Fields): { readonly [name: string]: string } =>
  printResourceList(containerAmounts(spec, 'requests'))

const isForPods = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name)

/** What nobody asked for: as much as the containers ask for together, or as much as the limit is. */
export function withPodRequests(spec: Fields): Fields {
  const { resources } = spec
  const limits = fieldsOf(fieldsOf(resources)['limits'])
  if (!isFields(resources) || Object.keys(limits).length === 0) return spec
  const asked = Object.entries(askedBelow(spec)).filter(([name]) => isForPods(name) && !isHugePages(name))
  const limited = Object.entries(limits).filter(([name]) => isForPods(name))
  const requests = { ...Object.fromEntries([...limited, ...asked]), ...fieldsOf(resources['requests']) }
  return Object.keys(requests).length === 0 ? spec : { ...spec, resources: { ...resources, requests } }
}

const podRequirements = requirements((name, path) =>
  isForPods(name) ? [] : [notSupportedShown(path, name, ['cpu', 'hugepages-', 'memory'])],
)

export const podResources: PodRule = given((value, path, check) => {
  const { claims } = fieldsOf(value)
  if (claims !== undefined) {
    check.faults.push(forbiddenField(`${path}.claims`, 'claims cannot be set for Resources at pod-level'))
  }
  podRequirements(value, path, check)
  usedClaims(claims, `${path}.claims`, check)
  check.faults.push(...validateSum(fieldsOf(value), path, check.spec), ...validateLimits(value, path, check.spec))
})

function validateSum({ requests }: Fields, path: string, spec: Fields): FieldFault[] {
  return Object.entries(askedBelow(spec)).flatMap(([name, sum]) => {
    const whole = textOf(fieldsOf(requests)[name]) || '0'
    if (nanosOf(sum) <= nanosOf(whole)) return []
    const why = `must be greater than or equal to aggregate container requests of ${sum}`
    return [invalidValue(`${path}.requests[${name}]`, whole, why)]
  })
}

/** The path, with containers below resources, is upstream's. */
function validateLimits(value: Json | undefined, path: string, spec: Fields): FieldFault[] {
  const limits = fieldsOf(fieldsOf(value)['limits'])
  return itemsOf(spec['containers']).flatMap(({ resources }, at) =>
    entriesOf(fieldsOf(resources)['limits']).flatMap(([name, limit]) => {
      const whole = textOf(limits[name])
      if (whole === '' || nanosOf(limit) <= nanosOf(whole)) return []
      const why = `must be less than or equal to pod limits of ${whole}`
      return [invalidValue(`${path}.containers[${at}][${name}].limits`, limit, why)]
    }),
  )
}
