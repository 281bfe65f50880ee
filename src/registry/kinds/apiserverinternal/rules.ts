/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
 */
import type { KindRules } from '../../kind-rules.ts'
import { storageVersionRules } from './storage-version.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['StorageVersion.internal.apiserver.k8s.io', storageVersionRules],
]
