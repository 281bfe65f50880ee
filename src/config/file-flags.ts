/** Determines which flags name files that the server reads when it starts. */
import { type FlagName, flags } from './flags.ts'

/** Returns whether a flag names files that must exist. */
export const readsFiles = (name: FlagName): boolean =>
  flags[name].type !== 'map' &&
  /(?:file|-config|-manifest|-authority|-client-certificate|-client-key|-cert-key)$/.test(name)

/**
 * Replaces the paths in the value of a flag that names files. `replace` returns the new path for an
 * old one.
 */
export function replacePaths(
  name: FlagName,
  value: string,
  replace: (path: string) => string,
): string {
  // The value has the form CERTIFICATE,KEY:NAME,NAME. The part after the colon contains host names
  // instead of paths.
  const [files = '', ...names] = name === 'tls-sni-cert-key' ? value.split(':') : [value]
  const isList = flags[name].type === 'list' || name === 'tls-sni-cert-key'
  const replaced = (isList ? files.split(',') : [files]).map((path) =>
    path === '' ? path : replace(path),
  )
  return [replaced.join(','), ...names].join(':')
}
