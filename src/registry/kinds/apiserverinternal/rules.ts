/** The kinds of this group that have rules of their own, by the name that errors give them (and version, where it matters). */
import type { KindRules } from '../../kind-rules.ts'
import { storageVersionRules } from './storage-version.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['StorageVersion.internal.apiserver.k8s.io', storageVersionRules],
]
