/** The types of built-in kinds. A type is parsed from the catalogue when it is first used. */
import type { Struct } from '../objects/schema/schema.ts'
import { typeDefaults } from './kinds/type-defaults.ts'
import { splitPackages, TypeCatalogue } from '../objects/schema/read-types.ts'
import { admissionregistrationTypes } from './catalogue/admissionregistration.ts'
import { apidiscoveryTypes } from './catalogue/apidiscovery.ts'
import { apiextensionsTypes } from './catalogue/apiextensions.ts'
import { apiregistrationTypes } from './catalogue/apiregistration.ts'
import { apiserverinternalTypes } from './catalogue/apiserverinternal.ts'
import { appsTypes } from './catalogue/apps.ts'
import { authenticationTypes } from './catalogue/authentication.ts'
import { authorizationTypes } from './catalogue/authorization.ts'
import { autoscalingTypes } from './catalogue/autoscaling.ts'
import { batchTypes } from './catalogue/batch.ts'
import { certificatesTypes } from './catalogue/certificates.ts'
import { coordinationTypes } from './catalogue/coordination.ts'
import { coreTypes } from './catalogue/core.ts'
import { discoveryTypes } from './catalogue/discovery.ts'
import { eventsTypes } from './catalogue/events.ts'
import { flowcontrolTypes } from './catalogue/flowcontrol.ts'
import { metaTypes } from './catalogue/meta.ts'
import { networkingTypes } from './catalogue/networking.ts'
import { nodeTypes } from './catalogue/node.ts'
import { unservedTypes } from './catalogue/unserved.ts'
import { policyTypes } from './catalogue/policy.ts'
import { rbacTypes } from './catalogue/rbac.ts'
import { resourceTypes } from './catalogue/resource.ts'
import { schedulingTypes } from './catalogue/scheduling.ts'
import { storageTypes } from './catalogue/storage.ts'
import { storagemigrationTypes } from './catalogue/storagemigration.ts'

const texts = [
  admissionregistrationTypes,
  apidiscoveryTypes,
  apiextensionsTypes,
  apiregistrationTypes,
  apiserverinternalTypes,
  appsTypes,
  authenticationTypes,
  authorizationTypes,
  autoscalingTypes,
  batchTypes,
  certificatesTypes,
  coordinationTypes,
  coreTypes,
  discoveryTypes,
  eventsTypes,
  flowcontrolTypes,
  metaTypes,
  networkingTypes,
  nodeTypes,
  unservedTypes,
  policyTypes,
  rbacTypes,
  resourceTypes,
  schedulingTypes,
  storageTypes,
  storagemigrationTypes,
]

/** Built-in types never change, so all control planes in a process share them. */
const builtInTypes = new TypeCatalogue(
  texts.flatMap((text) => [...splitPackages(text)]),
  typeDefaults,
)

/**
 * Returns a type. `packageName` is its package in the catalogue, as in `typeOf('core/v1', 'Pod')`.
 */
export const typeOf = (packageName: string, typeName: string): Struct =>
  builtInTypes.struct(packageName, typeName)

export const findType = (packageName: string, typeName: string): Struct | undefined =>
  builtInTypes.find(packageName, typeName)
