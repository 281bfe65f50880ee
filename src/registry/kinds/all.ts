/**
 * The rules of all kinds, collected from the API groups. The directory of a group has one file for
 * each kind, or for several closely related kinds.
 */
import type { KindRules } from '../kind-rules.ts'
import { rules as admissionregistrationRules } from './admissionregistration/rules.ts'
import { rules as apiextensionsRules } from './apiextensions/rules.ts'
import { rules as apiregistrationRules } from './apiregistration/rules.ts'
import { rules as apiserverinternalRules } from './apiserverinternal/rules.ts'
import { rules as appsRules } from './apps/rules.ts'
import { rules as autoscalingRules } from './autoscaling/rules.ts'
import { rules as batchRules } from './batch/rules.ts'
import { rules as certificatesRules } from './certificates/rules.ts'
import { rules as coordinationRules } from './coordination/rules.ts'
import { rules as coreRules } from './core/rules.ts'
import { rules as discoveryRules } from './discovery/rules.ts'
import { rules as eventsRules } from './events/rules.ts'
import { rules as flowcontrolRules } from './flowcontrol/rules.ts'
import { rules as networkingRules } from './networking/rules.ts'
import { rules as nodeRules } from './node/rules.ts'
import { rules as policyRules } from './policy/rules.ts'
import { rules as rbacRules } from './rbac/rules.ts'
import { rules as resourceRules } from './resource/rules.ts'
import { rules as schedulingRules } from './scheduling/rules.ts'
import { rules as storageRules } from './storage/rules.ts'
import { rules as storagemigrationRules } from './storagemigration/rules.ts'

export const rulesByKind: ReadonlyMap<string, KindRules> = new Map([
  ...admissionregistrationRules,
  ...apiextensionsRules,
  ...apiregistrationRules,
  ...apiserverinternalRules,
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
  ...resourceRules,
  ...schedulingRules,
  ...storageRules,
  ...storagemigrationRules,
])
