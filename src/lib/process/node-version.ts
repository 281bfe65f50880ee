/**
 * The versions of Node that Keelson runs on. Older ones have faults that a remote client can use to
 * crash or exhaust the process. docs/node.md has the advisories;
 * test/integration/docs/node-versions.test.ts compares them with everything that names a version.
 */

/**
 * The first safe release of each major version, in order. Major versions between them have no safe
 * release.
 */
export const SAFE_NODES: readonly string[] = ['24.18.1', '26.5.1']

/** Returns why this version cannot be used, or undefined if it can. */
export function nodeFault(version: string = process.versions.node): string | undefined {
  if (isSafeNode(version)) return undefined
  const wanted = SAFE_NODES.join(' or newer, or ')
  const why = 'with this version, a remote client can crash the server (docs/node.md)'
  return `needs Node ${wanted} or newer, and this is v${version}: ${why}`
}

/** Whether a version is safe. Major versions after the last one in the list are. */
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
