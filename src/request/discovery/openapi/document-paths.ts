/** The OpenAPI paths of discovery and other documents about the server. */
import { jsonType, protobufType, yamlType } from '../../../objects/codec/negotiate.ts'
import type { OpenApiDefinitions } from './definitions.ts'
import { definition } from './fixed-schemas.ts'
import { tagOf, titleOf } from './names.ts'
import { anyText, type PathItem, pathItem } from './operations.ts'

type OperationInfo = {
  readonly path: string
  readonly id: string
  readonly tag: string
  readonly description: string
  readonly name: string
  readonly produces: readonly string[]
  readonly consumes: readonly string[]
}

function documentPath({
  path,
  ...operation
}: Omit<OperationInfo, 'name'> & { readonly name: string }): PathItem {
  const { name, ...rest } = operation
  return pathItem(path, [{ ...rest, method: 'get', parameters: [], answers: [[200, name]] }])
}

const types = [jsonType, yamlType, protobufType]
const negotiated = { produces: types, consumes: types }

export const coreVersionsPath = (definitions: OpenApiDefinitions): PathItem =>
  documentPath({
    path: '/api/',
    id: 'getCoreAPIVersions',
    tag: tagOf(''),
    description: 'The versions of the core group.',
    name: definitions.ofMeta('APIVersions'),
    ...negotiated,
  })

export const groupListPath = (definitions: OpenApiDefinitions): PathItem =>
  documentPath({
    path: '/apis/',
    id: 'getAPIVersions',
    tag: 'apis',
    description: 'All groups except the core group.',
    name: definitions.ofMeta('APIGroupList'),
    ...negotiated,
  })

export const groupPath = (group: string, definitions: OpenApiDefinitions): PathItem =>
  documentPath({
    path: `/apis/${group}/`,
    id: `get${titleOf(group)}APIGroup`,
    tag: tagOf(group),
    description: 'The versions of a group.',
    name: definitions.ofMeta('APIGroup'),
    ...negotiated,
  })

export const resourceListPath = (
  group: string,
  version: string,
  definitions: OpenApiDefinitions,
): PathItem =>
  documentPath({
    path: group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`,
    id: `get${titleOf(group, version)}APIResources`,
    tag: tagOf(group, version),
    description: 'The resources of a group and version.',
    name: definitions.ofMeta('APIResourceList'),
    ...negotiated,
  })

export const versionPath = (): PathItem =>
  documentPath({
    path: '/version/',
    id: 'getCodeVersion',
    tag: 'version',
    description: 'The version of the server.',
    name: definition.version,
    produces: [jsonType],
    consumes: [jsonType],
  })

export const issuerPath = (): PathItem =>
  documentPath({
    path: '/.well-known/openid-configuration/',
    id: 'getServiceAccountIssuerOpenIDConfiguration',
    tag: 'WellKnown',
    description: 'The issuer of service account tokens, and the location of its keys.',
    name: anyText,
    produces: [jsonType],
    consumes: [],
  })

export const keysPath = (): PathItem =>
  documentPath({
    path: '/openid/v1/jwks/',
    id: 'getServiceAccountIssuerOpenIDKeyset',
    tag: 'openid',
    description: 'The keys that verify service account tokens.',
    name: anyText,
    produces: ['application/jwk-set+json'],
    consumes: [],
  })
