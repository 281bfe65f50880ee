/**
 * The versions of Node.js that can run Keelson. Older versions have vulnerabilities that allow a
 * remote client to crash the process or exhaust its resources. docs/node.md lists the advisories;
 * test/integration/docs/node-versions.test.ts compares this list with all files that name a
 * version.
 */

/**
 * The first safe release of each major version, in order. Major versions that are missing in
 * between have no safe release.
 */
export const SAFE_NODES: readonly string[] = ['24.18.1', '26.5.1']

/** Returns why this version cannot be used, or undefined if it can be used. */
export function nodeFault(version: string = process.versions.node): string | undefined {
  if (isSafeNode(version)) return undefined
  const wanted = SAFE_NODES.join(' or newer, or ')
  const why = 'with this version, a remote client can crash the server (docs/node.md)'
  return `needs Node ${wanted} or newer, and this is v${version}: ${why}`
}

/** Whether a version is safe. Major versions after the last one in the list count as safe. */
function isSafeNode(version: string): boolean {
  const own = numbersOf(version)
  const [lastMajor = 0] = numbersOf(SAFE_NODES.at(-1) ?? '')
  if ((own[0] ?? 0) > lastMajor) return true
  return SAFE_NODES.some((safe) => {
    const first = numbersOf(safe)
    return first[0] === own[0] && !isBefore(own, first)
  })
}

const numbersOf = (version: string): readonly number[] =>
  version.split('.').map((part) => Number.parseInt(part, 10))

function isBefore(
  [, minor = 0, patch = 0]: readonly number[],
  [, minorMin = 0, patchMin = 0]: readonly number[],
) {
  return minor < minorMin || (minor === minorMin && patch < patchMin)
}
