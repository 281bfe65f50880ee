/** Why a flag of kube-apiserver has no effect here, for its error message and docs/reference/flags.md. */
const reasons: ReadonlyMap<string, string> = new Map([
  ['aggregator-reject-forwarding-redirect', 'redirects of aggregated API servers are never passed on (CVE-2022-3172)'],
])

export const unsupportedReason = (name: string): string => reasons.get(name) ?? 'it is not written yet'
