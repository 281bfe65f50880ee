/** Creates field sets from paths, and defines the fields that managers never own. */
import { type FieldSet, nodeOf } from './field-set.ts'
import { fieldElement } from './path-element.ts'

/**
 * Returns a field set that contains the fields at these paths, such as `metadata.labels` and
 * `status`.
 */
export function fieldSetOf(paths: readonly string[]): FieldSet {
  const byFirst = Map.groupBy(paths, (path) => path.split('.', 1)[0] ?? '')
  const children = [...byFirst].map(([first, own]): [string, FieldSet] => {
    const rest = own.filter((path) => path !== first).map((path) => path.slice(first.length + 1))
    return [fieldElement(first), nodeOf(own.includes(first), fieldSetOf(rest).children)]
  })
  return nodeOf(false, new Map(children))
}

const metadata =
  'name namespace creationTimestamp selfLink uid clusterName generation managedFields resourceVersion'

export const neverOwned: FieldSet = fieldSetOf([
  'apiVersion',
  'kind',
  'metadata',
  ...metadata.split(' ').map((name) => `metadata.${name}`),
])
