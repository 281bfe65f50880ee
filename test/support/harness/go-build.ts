/**
 * Variables that test/support/tools/install also sets. With the same values, Go reuses the packages
 * that this script has built. Otherwise Go would compile them again, which takes minutes.
 */
export const goBuildVariables = {
  CGO_ENABLED: '0',
  GOFLAGS: "-trimpath '-gcflags=all=-dwarf=false -l' -gcflags=std=-dwarf=false",
}
