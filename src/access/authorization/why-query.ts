/**
 * Parses the query of /debug/authorization, for example
 * `?user=alice&group=dev&verb=get&resource=pods&namespace=x`.
 */
import type { AccessAttributes } from '../../api/access.ts'
import { accessSelectors } from '../../api/access-selectors.ts'
import { badRequest } from '../../api/errors.ts'
import type { User } from '../../api/user.ts'
import { closest } from '../../lib/text/closest.ts'
import type { WhyQuestion } from './why.ts'

/** The resources that the server knows. */
export type KnownResources = {
  /**
   * Finds a resource by its plural, singular or short name, in any group if the group is undefined.
   */
  readonly find: (name: string, group: string | undefined) => KnownResource | undefined
  /** Returns the plural names of all resources, for suggestions. */
  readonly names: () => Iterable<string>
}

type KnownResource = { readonly plural: string; readonly group: string }

/**
 * Parses the query, or throws BadRequest. The resource can be a plural, singular or short name.
 * Without `apiGroup`, the group of the resource is looked up.
 */
export function readWhyQuery(query: URLSearchParams, known: KnownResources): WhyQuestion {
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
  const group = query.get('apiGroup') ?? undefined
  const found = resource === '' ? undefined : known.find(resource, group)
  const attributes: AccessAttributes =
    path !== ''
      ? { kind: 'path', verb, path }
      : {
          kind: 'resource',
          verb,
          group: group ?? found?.group ?? '',
          version: text('version') || '*',
          plural: found?.plural ?? resource,
          subresource: text('subresource'),
          namespace: text('namespace'),
          name: text('name'),
          selectors: accessSelectors(text('fieldSelector'), text('labelSelector')),
        }
  const warnings = [
    ...verbWarnings(verb, path === '' ? resourceVerbs : pathVerbs),
    ...(resource === '' || found !== undefined || resource === '*'
      ? []
      : [unknownResource(resource, group, known)]),
  ]
  return { user: userOf(query, name), attributes, warnings }
}

const requestVerbs = 'get list watch create update patch delete deletecollection'
const resourceVerbs = new Set(
  `${requestVerbs} use bind escalate impersonate approve sign attest *`.split(' '),
)
const pathVerbs = new Set('get put post head options delete patch *'.split(' '))

function verbWarnings(verb: string, verbs: ReadonlySet<string>): readonly string[] {
  return verbs.has(verb) ? [] : [`${verb} is not a standard verb${suggestion(verb, verbs)}`]
}

function unknownResource(name: string, group: string | undefined, known: KnownResources): string {
  const where = group === undefined || group === '' ? '' : ` in the API group ${group}`
  return `the server has no resource ${name}${where}${suggestion(name, known.names())}`
}

function suggestion(word: string, words: Iterable<string>): string {
  const meant = closest(word, words)
  return meant === undefined || meant === word ? '' : `; did you mean ${meant}?`
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
  // The `timeout` parameter is allowed because all requests to the server accept it.
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
