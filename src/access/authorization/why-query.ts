/**
 * Parses the query of /debug/authorization, for example
 * `?user=alice&group=dev&verb=get&resource=pods&namespace=x`.
 */
import type { AccessAttributes } from '../../api/access.ts'
import { accessSelectors } from '../../api/access-selectors.ts'
import { badRequest } from '../../api/errors.ts'
import type { User } from '../../api/user.ts'
import type { WhyQuestion } from './why.ts'

/** Returns the API group of a served resource, or undefined if there is no such resource. */
export type GroupOf = (plural: string) => string | undefined

/**
 * Parses the query, or throws BadRequest. Without `apiGroup`, the group of the resource is looked
 * up.
 */
export function readWhyQuery(query: URLSearchParams, groupOf: GroupOf): WhyQuestion {
  const text = (name: string): string => query.get(name) ?? ''
  const unknown = [...query.keys()].find((name) => !parameters.has(name))
  if (unknown !== undefined)
    throw badRequest(
      `unknown parameter ${unknown}: valid parameters are ${[...parameters].join(', ')}`,
    )
  const [name, verb, path, resource] = [text('user'), text('verb'), text('path'), text('resource')]
  if (name === '' || verb === '')
    throw badRequest('user and verb are required: ?user=alice&verb=get&resource=pods')
  if ((path === '') === (resource === ''))
    throw badRequest('either path or resource is required: &resource=pods')
  const attributes: AccessAttributes =
    path !== ''
      ? { kind: 'path', verb, path }
      : {
          kind: 'resource',
          verb,
          group: query.get('apiGroup') ?? groupOf(resource) ?? '',
          version: text('version') || '*',
          plural: resource,
          subresource: text('subresource'),
          namespace: text('namespace'),
          name: text('name'),
          selectors: accessSelectors(text('fieldSelector'), text('labelSelector')),
        }
  return { user: userOf(query, name), attributes }
}

const parameters: ReadonlySet<string> = new Set([
  'user',
  'uid',
  'group',
  'extra',
  'verb',
  'path',
  'resource',
  'apiGroup',
  'version',
  'subresource',
  'namespace',
  'name',
  'fieldSelector',
  'labelSelector',
  // A parameter that every request accepts.
  'timeout',
])

function userOf(query: URLSearchParams, name: string): User {
  const extra = Map.groupBy(query.getAll('extra'), (pair) => pair.split('=')[0] ?? '')
  const values = Array.from(
    extra,
    ([key, pairs]) => [key, pairs.map((pair) => pair.slice(key.length + 1))] as const,
  )
  return {
    name,
    uid: query.get('uid') ?? '',
    groups: query.getAll('group'),
    ...(values.length === 0 ? {} : { extra: Object.fromEntries(values) }),
  }
}
