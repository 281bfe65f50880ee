/** The flags of each recorded run. */
export const runs: { readonly [name: string]: readonly string[] } = {
  '1.33': [],
  '1.32': ['--emulated-version=1.32'],
  '1.31': ['--emulated-version=1.31'],
  '1.32 all': ['--emulated-version=1.32', '--runtime-config=api/all=true'],
  '1.31 all': ['--emulated-version=1.31', '--runtime-config=api/all=true'],
  '1.31 beta': ['--emulated-version=1.31', '--runtime-config=api/beta=true'],
  '1.31 forward': ['--emulated-version=1.31', '--emulation-forward-compatible'],
  '1.31 forward all': [
    '--emulated-version=1.31',
    '--runtime-config-emulation-forward-compatible',
    '--runtime-config=api/all=true',
  ],
}
