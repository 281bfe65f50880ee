/**
 * For each release, a version whose modules are in the Go module proxy. Release 1.33 uses the
 * version that test/support/tools pins.
 */
export const versions: readonly (readonly [minor: number, version: string | undefined])[] = [
  [31, '1.31.14'],
  [32, '1.32.13'],
  [33, undefined],
  [34, '1.34.4'],
  [35, '1.35.4'],
  [36, '1.36.3'],
  [37, '1.37.1'],
]
