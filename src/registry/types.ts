/** The types of built-in kinds. A type is parsed from the catalog when it is first used. */
import { defaultMinor } from '../api/releases.ts'
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
import { lifecycleTypes } from './catalogue/lifecycle.ts'
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
  lifecycleTypes,
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

const packages = splitPackages(...texts)

/**
 * Catalogs of types, keyed by release. All control planes of the same release in a process share
 * one catalog.
 */
const catalogues = new Map<number, TypeCatalogue>()

function catalogueOf(release: number): TypeCatalogue {
  let catalogue = catalogues.get(release)
  if (catalogue === undefined) {
    catalogue = new TypeCatalogue({ texts: packages, defaults: typeDefaults, release })
    catalogues.set(release, catalogue)
  }
  return catalogue
}

/**
 * Returns a type of a release. `packageName` is its package in the catalog, as in
 * `typeOf('core/v1', 'Pod', 33)`.
 */
export const typeOf = (packageName: string, typeName: string, release: number): Struct =>
  catalogueOf(release).struct(packageName, typeName)

export const findType = (
  packageName: string,
  typeName: string,
  release: number,
): Struct | undefined => catalogueOf(release).find(packageName, typeName)

/** Returns a type that is the same in all releases. */
export const commonType = (packageName: string, typeName: string): Struct =>
  typeOf(packageName, typeName, defaultMinor)
