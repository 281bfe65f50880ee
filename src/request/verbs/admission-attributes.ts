/** Creates the attributes of a request that admission plugins receive. */
import type { Attributes } from '../../admission/admission.ts'
import {
  deleteOptions,
  type OperationOptions,
  writeOptions,
} from '../../admission/operation-options.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { ObjectSchema } from '../../objects/schema/object-schema.ts'
import type { ResourceRequest } from '../resource-request.ts'

type AttributesOptions = {
  readonly operation: Attributes['operation']
  readonly options: OperationOptions
  readonly object?: KubeObject | undefined
  readonly oldObject?: KubeObject | undefined
  /**
   * Schema of the object, if it differs from the schemas of the resource and of the subresource.
   */
  readonly shape?: ObjectSchema | undefined
}

/**
 * Creates the attributes of a request for admission. If the path contains no name, as for a create,
 * the name is that of the object. The attributes of a deletecollection have no name.
 */
export function attributesOf(request: ResourceRequest, given: AttributesOptions): Attributes {
  const { operation, options, object, oldObject, shape } = given
  const { resource, subresource, namespace, context } = request
  return {
    operation,
    resource,
    subresource,
    namespace,
    name: request.verb === 'deletecollection' ? '' : request.name || (object?.metadata.name ?? ''),
    object,
    oldObject,
    isDryRun: options.isDryRun,
    options: () => optionsOf(request, given),
    shape: () => shape ?? request.view?.shape ?? resource.shape,
    context,
    known: {},
  }
}

function optionsOf(
  { http }: ResourceRequest,
  { operation, options }: AttributesOptions,
): Fields | undefined {
  switch (operation) {
    case 'CREATE':
      return writeOptions('CreateOptions', http.query)
    case 'UPDATE':
      return writeOptions('UpdateOptions', http.query)
    case 'DELETE':
      return deleteOptions(options)
    case 'CONNECT':
      return undefined
  }
}
