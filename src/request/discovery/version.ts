/**
 * The document of /version. Clients use gitVersion to determine which features the server supports.
 */
import { oldestMinor } from '../../api/releases.ts'

/** The Kubernetes release that Keelson implements. */
export const kubernetesVersion = { major: '1', minor: '33', gitVersion: 'v1.33.5' } as const

/** Returns the document. `emulated` is the minor version whose APIs are served. */
export function versionDocument(emulated = Number(kubernetesVersion.minor)) {
  const { major, minor, gitVersion } = kubernetesVersion
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: `${emulated}`,
    minCompatibilityMajor: major,
    minCompatibilityMinor: `${Math.max(oldestMinor, emulated - 1)}`,
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node ${process.version}`,
    compiler: 'keelson',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  } as const
}
