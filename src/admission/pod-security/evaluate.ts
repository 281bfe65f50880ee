/** The controls of each level in each version, and how they are evaluated for a pod. */
import type { LevelVersion } from '../../api/pod-security-level.ts'
import { eachItem } from '../../lib/scheduling/parts.ts'
import * as baseline from './baseline.ts'
import type { Control, PodView, Violation } from './pod-view.ts'
import * as profiles from './profiles.ts'
import * as restricted from './restricted.ts'

/**
 * A row in a table of controls: the name of a control, the minor version of Kubernetes from which
 * the row applies, and the function that checks a pod. If several rows with the same name apply,
 * the last one is used.
 */
type Row = readonly [name: string, fromMinor: number, control: Control]

/** Controls of baseline, in the order in which violations are reported. */
const baselineRows: readonly Row[] = [
  ['appArmorProfile', 0, profiles.appArmorProfile],
  ['capabilities', 0, baseline.capabilities],
  ['hostNamespaces', 0, baseline.hostNamespaces],
  ['hostPathVolumes', 0, baseline.hostPathVolumes],
  ['hostPorts', 0, baseline.hostPorts],
  ['hostProbesAndHostLifecycle', 34, baseline.hostsOfHandlers],
  ['privileged', 0, baseline.privileged],
  ['procMount', 0, baseline.procMount],
  ['procMount', 35, restricted.unlessUserNamespace(baseline.procMount)],
  ['seLinuxOptions', 0, profiles.seLinuxOptions],
  ['seLinuxOptions', 31, profiles.seLinuxOptionsWithEngine],
  ['seccompProfile', 0, profiles.seccompByAnnotation],
  ['seccompProfile', 19, profiles.seccompProfile],
  ['sysctls', 0, baseline.sysctls],
  ['sysctls', 27, baseline.sysctlsFrom27],
  ['sysctls', 29, baseline.sysctlsFrom29],
  ['sysctls', 32, baseline.sysctlsFrom32],
  ['windowsHostProcess', 0, baseline.windowsHostProcess],
]

/** Controls of the restricted level. They replace baseline controls with the same name. */
const restrictedRows: readonly Row[] = [
  ['allowPrivilegeEscalation', 8, restricted.allowPrivilegeEscalation],
  ['allowPrivilegeEscalation', 25, restricted.unlessWindows(restricted.allowPrivilegeEscalation)],
  ['capabilities', 22, restricted.restrictedCapabilities],
  ['capabilities', 25, restricted.unlessWindows(restricted.restrictedCapabilities)],
  ['procMount', 35, baseline.procMount],
  ['hostPathVolumes', 0, restricted.restrictedVolumes],
  ['runAsNonRoot', 0, restricted.runAsNonRoot],
  ['runAsNonRoot', 35, restricted.unlessUserNamespace(restricted.runAsNonRoot)],
  ['runAsUser', 23, restricted.runAsUser],
  ['runAsUser', 35, restricted.unlessUserNamespace(restricted.runAsUser)],
  ['seccompProfile', 19, restricted.requiredSeccompProfile],
  ['seccompProfile', 25, restricted.unlessWindows(restricted.requiredSeccompProfile)],
]

/**
 * Returns the violations at a level. The controls are evaluated in parts, because a pod can have a
 * hundred thousand containers.
 */
export function violations(pod: PodView, { level, version }: LevelVersion): readonly Violation[] {
  if (level === 'privileged') return []
  const minor = version === 'latest' ? pod.release : Math.min(version, pod.release)
  const strict =
    level === 'restricted' ? controlsAt(restrictedRows, minor) : new Map<string, Control>()
  const usual = [...controlsAt(baselineRows, minor)].filter(([name]) => !strict.has(name))
  return eachItem(
    'controls of a level',
    [...usual, ...strict],
    (): Violation[] => [],
    (found, [, control]) => {
      const violation = control(pod)
      if (violation !== undefined) found.push(violation)
      return true
    },
  )
}

function controlsAt(rows: readonly Row[], minor: number): ReadonlyMap<string, Control> {
  const controls = new Map<string, Control>()
  for (const [name, fromMinor, control] of rows) {
    if (fromMinor <= minor) controls.set(name, control)
  }
  return controls
}

/** Prints violations as `reason (detail), …`. */
export const printViolations = (list: readonly Violation[]): string =>
  list.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')
