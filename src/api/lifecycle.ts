/**
 * The versions of Kubernetes in which built-in kinds were introduced, deprecated and removed. As in
 * kube-apiserver, deprecated kinds cause a warning, and a server that emulates an older version
 * does not serve kinds that were introduced later.
 */
import { lifecycleTable } from './lifecycle-table.ts'

/** The minor versions in which a kind was introduced, deprecated and removed. */
export type Lifecycle = {
  readonly introduced: number
  readonly deprecated?: number
  readonly removed?: number
  /** The kind that replaces the deprecated kind, such as `apps/v1/Deployment`. */
  readonly replacement?: string
}

type Kinds = ReadonlyMap<string, Lifecycle>

/** Results of `kindsOf`. The number of releases limits its size. */
const expanded = new Map<number, ReadonlyMap<string, Kinds>>()

/**
 * Returns the lifecycle of each kind of a group version, as stated in the source code of a
 * Kubernetes release.
 */
export function kindsOf(release: number, groupVersion: string): Kinds {
  let all = expanded.get(release)
  if (all === undefined) {
    all = expand(release)
    expanded.set(release, all)
  }
  return all.get(groupVersion) ?? new Map<string, Lifecycle>()
}

/**
 * Returns the warning about a deprecated kind, with the text of kube-apiserver. If the kind is not
 * deprecated in the release, returns undefined.
 */
export function deprecationOf(
  release: number,
  groupVersion: string,
  kind: string,
): string | undefined {
  const { deprecated, removed, replacement } = kindsOf(release, groupVersion).get(kind) ?? {}
  if (deprecated === undefined || deprecated > release) return undefined
  const until = removed === undefined ? '' : `, unavailable in v1.${removed}+`
  const instead = replacement === undefined ? '' : `; use ${replacement.replace(/\/(?=\w+$)/, ' ')}`
  return `${groupVersion} ${kind} is deprecated in v1.${deprecated}+${until}${instead}`
}

/**
 * Returns the lifecycles of all kinds of a release. A row of the table is, for example,
 * `apps/v1beta1 Deployment 31-33: 29 deprecated=32 removed=35 use=apps/v1/Deployment`. The source
 * code of the releases 1.31 to 1.33 has this kind, which was introduced in 1.29.
 */
function expand(release: number): ReadonlyMap<string, Kinds> {
  const groupVersions = new Map<string, Map<string, Lifecycle>>()
  for (const [, groupVersion = '', kind = '', first, last, text = ''] of lifecycleTable.matchAll(
    /^(\S+) (\w+) (\d+)-(\d+): (.+)$/gm,
  )) {
    if (release < Number(first) || release > Number(last)) continue
    const kinds = groupVersions.get(groupVersion) ?? new Map<string, Lifecycle>()
    groupVersions.set(groupVersion, kinds.set(kind, readLifecycle(text)))
  }
  return groupVersions
}

function readLifecycle(text: string): Lifecycle {
  const [, deprecated] = / deprecated=(\d+)/.exec(text) ?? []
  const [, removed] = / removed=(\d+)/.exec(text) ?? []
  const [, replacement] = / use=(\S+)/.exec(text) ?? []
  return {
    introduced: Number(text.split(' ', 1)[0]),
    ...(deprecated === undefined ? {} : { deprecated: Number(deprecated) }),
    ...(removed === undefined ? {} : { removed: Number(removed) }),
    ...(replacement === undefined ? {} : { replacement }),
  }
}
