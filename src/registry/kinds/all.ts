/** What all kinds and types have of their own, gathered from the groups. A group's folder has one file per kind or small family. */
import type { TypeDefaults } from '../../schema/schema.ts'
import type { KindRules } from '../kind-rules.ts'
import { typeDefaults as admissionregistrationTypes } from './admissionregistration/type-defaults.ts'
import { rules as admissionregistrationRules } from './admissionregistration/rules.ts'
import { rules as apiextensionsRules } from './apiextensions/rules.ts'
import { typeDefaults as apiregistrationTypes } from './apiregistration/type-defaults.ts'
import { rules as apiregistrationRules } from './apiregistration/rules.ts'
import { typeDefaults as appsTypes } from './apps/type-defaults.ts'
import { rules as appsRules } from './apps/rules.ts'
import { rules as autoscalingRules } from './autoscaling/rules.ts'
import { typeDefaults as batchTypes } from './batch/type-defaults.ts'
import { rules as batchRules } from './batch/rules.ts'
import { rules as certificatesRules } from './certificates/rules.ts'
import { rules as coordinationRules } from './coordination/rules.ts'
import { typeDefaults as coreTypes } from './core/type-defaults.ts'
import { rules as coreRules } from './core/rules.ts'
import { typeDefaults as discoveryTypes } from './discovery/type-defaults.ts'
import { rules as discoveryRules } from './discovery/rules.ts'
import { rules as eventsRules } from './events/rules.ts'
import { typeDefaults as flowcontrolTypes } from './flowcontrol/type-defaults.ts'
import { rules as flowcontrolRules } from './flowcontrol/rules.ts'
import { typeDefaults as networkingTypes } from './networking/type-defaults.ts'
import { rules as networkingRules } from './networking/rules.ts'
import { rules as nodeRules } from './node/rules.ts'
import { rules as policyRules } from './policy/rules.ts'
import { typeDefaults as rbacTypes } from './rbac/type-defaults.ts'
import { rules as rbacRules } from './rbac/rules.ts'
import { typeDefaults as schedulingTypes } from './scheduling/type-defaults.ts'
import { rules as schedulingRules } from './scheduling/rules.ts'
import { typeDefaults as storageTypes } from './storage/type-defaults.ts'
import { rules as storageRules } from './storage/rules.ts'

export const rulesByKind: ReadonlyMap<string, KindRules> = new Map([
  ...admissionregistrationRules,
  ...apiextensionsRules,
  ...apiregistrationRules,
  ...appsRules,
  ...autoscalingRules,
  ...batchRules,
  ...certificatesRules,
  ...coordinationRules,
  ...coreRules,
  ...discoveryRules,
  ...eventsRules,
  ...flowcontrolRules,
  ...networkingRules,
  ...nodeRules,
  ...policyRules,
  ...rbacRules,
  ...schedulingRules,
  ...storageRules,
])

/** What the server sets in a type wherever that type occurs, by package and name. A value is set where the field is absent (or zero, where
 * that is the same). */
export const typeDefaults: ReadonlyMap<string, TypeDefaults> = new Map([
  ...admissionregistrationTypes,
  ...apiregistrationTypes,
  ...appsTypes,
  ...batchTypes,
  ...coreTypes,
  ...discoveryTypes,
  ...flowcontrolTypes,
  ...networkingTypes,
  ...rbacTypes,
  ...schedulingTypes,
  ...storageTypes,
])
