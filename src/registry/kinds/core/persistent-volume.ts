import { fieldsOf, type KubeObject } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'

/** Volumes and claims wait for each other until somebody says otherwise. */
const withPhase = (object: KubeObject): KubeObject => {
  const status = fieldsOf(object['status'])
  return status['phase'] === undefined ? { ...object, status: { ...status, phase: 'Pending' } } : object
}

export const persistentVolumeRules: KindRules = { setDefaults: withPhase, prepareCreate: withPhase }
export const persistentVolumeClaimRules: KindRules = { setDefaults: withPhase, prepareCreate: withPhase }
