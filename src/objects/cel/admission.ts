/**
 * The variables of CEL expressions in webhooks and policies, such as the object and the request.
 * The types of objects are unknown. A variable that a policy defines has the type of its
 * expression.
 */
import { type Environment, withVariables } from './environment.ts'
import { kubernetesEnvironment, type CelVersion, patchEnvironment } from './kubernetes.ts'
import { authorizerType, resourceCheckType } from './library/authorizer.ts'
import {
  bool,
  dyn,
  type FieldType,
  int,
  list,
  map,
  mapParts,
  string,
  struct,
  type StructType,
  timestamp,
  type Type,
} from './types.ts'

export type AdmissionNames = {
  readonly hasParams: boolean
  readonly hasAuthorizer: boolean
  /** Whether expressions can construct objects and JSON patch operations. */
  readonly hasPatchTypes?: boolean
  /** Type of the object that contains the policy's own variables. Undefined if there are none. */
  readonly variables: StructType | undefined
}

export function admissionEnvironment(version: CelVersion, names: AdmissionNames): Environment {
  const { hasParams, hasAuthorizer, hasPatchTypes = false, variables } = names
  return withVariables(hasPatchTypes ? patchEnvironment(version) : kubernetesEnvironment(version), {
    object: dyn,
    oldObject: dyn,
    namespaceObject: namespaceType,
    request: requestType,
    ...(hasParams ? { params: dyn } : {}),
    ...(hasAuthorizer
      ? { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType }
      : {}),
    ...(variables === undefined ? {} : { variables }),
  })
}

export type TypedNames = {
  /** Type of `object` and `oldObject`. */
  readonly object: Type
  /** Type of `params`. If undefined, expressions cannot use `params`. */
  readonly params: Type | undefined
  readonly variables: StructType
}

/**
 * Returns the environment for type-checking stored expressions, where the types of objects are
 * known. As in kube-apiserver, `authorizer.requestResource` is not declared.
 */
export const typedEnvironment = (
  version: CelVersion,
  { object, params, variables }: TypedNames,
): Environment =>
  withVariables(kubernetesEnvironment(version), {
    object,
    oldObject: object,
    namespaceObject: namespaceType,
    request: requestType,
    ...(params === undefined ? {} : { params }),
    authorizer: authorizerType,
    variables,
  })

/** The variables that a policy defines. Their expressions can use the variables before them. */
export class PolicyVariables {
  readonly #fields = new Map<string, FieldType>()
  readonly type: StructType = {
    kind: 'struct',
    name: 'kubernetes.variables',
    field: (name) => this.#fields.get(name),
  }

  /**
   * Declares a variable. `type` is undefined if its expression did not compile; the type is then
   * unknown.
   */
  declare(name: string, type: Type | undefined): void {
    this.#fields.set(name, { key: name, type: type === undefined ? dyn : declared(type) })
  }
}

/**
 * Returns the type with which a variable is declared. Structs and library types are declared as
 * dyn.
 */
function declared(type: Type): Type {
  if (type.kind === 'list' || type.kind === 'map') return mapParts(type, declared)
  return type.kind === 'struct' || type.kind === 'opaque' || type.kind === 'type' ? dyn : type
}

const kind = struct('kubernetes.GroupVersionKind', { group: string, version: string, kind: string })
const resource = struct('kubernetes.GroupVersionResource', {
  group: string,
  version: string,
  resource: string,
})

export const requestType: StructType = struct('kubernetes.AdmissionRequest', {
  kind,
  resource,
  subResource: string,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: struct('kubernetes.UserInfo', {
    username: string,
    uid: string,
    groups: list(string),
    extra: map(string, list(string)),
  }),
  dryRun: bool,
  options: dyn,
})

const namespaceType = struct('kubernetes.Namespace', {
  metadata: struct('kubernetes.NamespaceMetadata', {
    name: string,
    generateName: string,
    namespace: string,
    labels: map(string, string),
    annotations: map(string, string),
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: list(string),
  }),
  spec: struct('kubernetes.NamespaceSpec', { finalizers: list(string) }),
  status: struct('kubernetes.NamespaceStatus', {
    conditions: list(
      struct('kubernetes.NamespaceCondition', {
        status: string,
        type: string,
        lastTransitionTime: timestamp,
        message: string,
        reason: string,
      }),
    ),
    phase: string,
  }),
})
