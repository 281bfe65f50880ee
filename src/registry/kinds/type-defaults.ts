/**
 * Defaults of all types, collected from the API groups. They are not in the files with the rules of
 * kinds, so that rules can look up types without an import cycle.
 */
import type { TypeDefaults } from '../../objects/schema/schema.ts'
import { typeDefaults as admissionregistrationTypes } from './admissionregistration/type-defaults.ts'
import { typeDefaults as apiregistrationTypes } from './apiregistration/type-defaults.ts'
import { typeDefaults as appsTypes } from './apps/type-defaults.ts'
import { typeDefaults as batchTypes } from './batch/type-defaults.ts'
import { typeDefaults as coreTypes } from './core/type-defaults.ts'
import { typeDefaults as discoveryTypes } from './discovery/type-defaults.ts'
import { typeDefaults as flowcontrolTypes } from './flowcontrol/type-defaults.ts'
import { typeDefaults as networkingTypes } from './networking/type-defaults.ts'
import { typeDefaults as nodeTypes } from './node/type-defaults.ts'
import { typeDefaults as rbacTypes } from './rbac/type-defaults.ts'
import { typeDefaults as resourceTypes } from './resource/type-defaults.ts'
import { typeDefaults as schedulingTypes } from './scheduling/type-defaults.ts'
import { typeDefaults as storageTypes } from './storage/type-defaults.ts'

/**
 * Defaults of types, keyed by package and type name. They apply to a type wherever it occurs. A
 * default is set if the field is absent, or if it is zero and Go cannot distinguish zero from an
 * absent value.
 */
export const typeDefaults: ReadonlyMap<string, TypeDefaults> = new Map([
  ...admissionregistrationTypes,
  ...apiregistrationTypes,
  ...appsTypes,
  ...batchTypes,
  ...coreTypes,
  ...discoveryTypes,
  ...flowcontrolTypes,
  ...networkingTypes,
  ...nodeTypes,
  ...rbacTypes,
  ...resourceTypes,
  ...schedulingTypes,
  ...storageTypes,
])
