/** Reads the parameters that a binding refers to. */
import type { KubeObject } from '../../api/object.ts'
import { type MaybePromise, thenMaybe } from '../../lib/concurrency/maybe-promise.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import type { Struct } from '../../objects/schema/schema.ts'
import type { Objects } from '../../api/object-access.ts'
import type { ParamKind, ParamRef } from './policy.ts'

/**
 * Thrown for an error in a policy or binding. The failurePolicy decides whether the request is
 * rejected.
 */
export class ConfigurationFault extends Error {}

/**
 * Returns the resource that serves the kind of the parameters. If several resources serve the kind,
 * returns the one whose objects are stored. Fails with a ConfigurationFault if no resource serves
 * the kind.
 */
export function paramResource(
  { apiVersion, kind }: ParamKind,
  resourcesOf: (apiVersion: string, kind: string) => readonly Resource[],
): Resource {
  const resource = resourcesOf(apiVersion, kind).find(({ isStored }) => isStored)
  if (resource !== undefined) return resource
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  const shown = `'${group}/${version}, Kind=${kind}'`
  throw new ConfigurationFault(`failed to find resource referenced by paramKind: ${shown}`)
}

/** A parameter, and the schema of its kind. */
export type Param = { readonly object: KubeObject; readonly struct: Struct }

/**
 * Returns the parameter objects to which a binding refers. If there are none, the caller must not
 * evaluate the policy for this binding. There can be thousands, so each object is converted only
 * when the caller iterates to it. Fails with a ConfigurationFault if the reference is invalid, or
 * if the binding requires parameters and no object matches.
 */
export function readParams(
  resource: Resource,
  ref: ParamRef,
  {
    namespace,
    objects,
  }: { readonly namespace: string; readonly objects: Pick<Objects, 'get' | 'select'> },
): MaybePromise<Iterable<Param>> {
  const found = findParams(resource, ref, { place: placeOf(resource, ref, namespace), objects })
  const listedOf = (all: ParamLoaders): Iterable<Param> => {
    if (all.length > 0 || !ref.deniesIfNone) return paramsIn(all, resource)
    throw new ConfigurationFault(
      'no params found for policy binding with `Deny` parameterNotFoundAction',
    )
  }
  return thenMaybe(found, listedOf)
}

type ParamLoaders = readonly (() => KubeObject)[]

function* paramsIn(found: ParamLoaders, resource: Resource): Generator<Param> {
  const { kind, shape } = resource
  const apiVersion = apiVersionOf(resource)
  for (const decoded of found)
    yield { object: { ...decoded(), apiVersion, kind }, struct: shape.struct }
}

/** Returns the namespace of the parameters, or an empty string if they are cluster-scoped. */
function placeOf({ isNamespaced }: Resource, ref: ParamRef, namespace: string): string {
  if (!isNamespaced) {
    if (ref.namespace === '') return ''
    throw new ConfigurationFault(
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    )
  }
  const place = ref.namespace || namespace
  if (place !== '') return place
  throw new ConfigurationFault(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  )
}

function findParams(
  resource: Resource,
  { name, selector }: ParamRef,
  { place, objects }: { readonly place: string; readonly objects: Pick<Objects, 'get' | 'select'> },
): MaybePromise<ParamLoaders> {
  if (name !== '') {
    const found = objects.get(resource, { namespace: place, name }, 'any')
    return thenMaybe(found, listed)
  }
  if (selector === undefined)
    throw new ConfigurationFault('one of name or selector must be provided')
  return objects.select(resource, place, selector)
}

const listed = (found: KubeObject | undefined): ParamLoaders =>
  found === undefined ? [] : [() => found]
