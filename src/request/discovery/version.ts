/**
 * The document of /version. Clients use gitVersion to determine which features the server supports.
 */
import { gitVersionOf, minCompatibilityOf } from '../../api/releases.ts'

/**
 * Returns the document of a release. `emulated` is the minor version whose APIs are served.
 * `minCompatibility` is the lowest minor version that the other servers of the cluster can have.
 */
export function versionDocument(
  release: number,
  emulated = release,
  minCompatibility = minCompatibilityOf(release, emulated),
) {
  const major = '1'
  return {
    major,
    minor: `${release}`,
    emulationMajor: major,
    emulationMinor: `${emulated}`,
    minCompatibilityMajor: major,
    minCompatibilityMinor: `${minCompatibility}`,
    gitVersion: gitVersionOf(release),
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node ${process.version}`,
    compiler: 'keelson',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  } as const
}
