/** Deprecated node labels, and warnings for selectors that still use them. */
const newerNames: ReadonlyMap<string, { readonly since: string; readonly newer: string }> = new Map(
  [
    ['beta.kubernetes.io/arch', { since: 'v1.14', newer: 'kubernetes.io/arch' }],
    ['beta.kubernetes.io/os', { since: 'v1.14', newer: 'kubernetes.io/os' }],
    [
      'failure-domain.beta.kubernetes.io/region',
      { since: 'v1.17', newer: 'topology.kubernetes.io/region' },
    ],
    [
      'failure-domain.beta.kubernetes.io/zone',
      { since: 'v1.17', newer: 'topology.kubernetes.io/zone' },
    ],
    [
      'beta.kubernetes.io/instance-type',
      { since: 'v1.17', newer: 'node.kubernetes.io/instance-type' },
    ],
  ],
)

export const newerLabel = (label: string): string | undefined => newerNames.get(label)?.newer

/** Returns a warning for a field if it contains the key of a deprecated label. */
export function deprecatedKeyWarnings(path: string, label: string): string[] {
  const known = newerNames.get(label)
  return known === undefined
    ? []
    : [`${path}: ${label} is deprecated since ${known.since}; use "${known.newer}" instead`]
}

export function deprecatedLabelWarnings(path: string, label: string): string[] {
  const known = newerNames.get(label)
  return known === undefined
    ? []
    : [`${path}: deprecated since ${known.since}; use "${known.newer}" instead`]
}
