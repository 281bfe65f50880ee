/**
 * Reads the `--requestheader-*` flags for front proxies, which pass the user in request headers.
 */
import type { Gates } from '../api/gates.ts'
import { parseCertificates } from '../lib/x509/trust-anchors.ts'
import { readAuthorityFile } from './authority-file.ts'
import type { FlagName } from './flags.ts'
import type { Values } from './values.ts'

export type RequestHeaderConfig = {
  /** The CA bundle that verifies the client certificates of proxies, and the path of its file. */
  readonly caPem: string
  readonly caPath: string
  /** Allowed common names of client certificates. If empty, all names are allowed. */
  readonly allowedNames: readonly string[]
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

/** Reads the flags. Returns null if no front proxy is configured. */
export function readRequestHeader(
  values: Values,
  gates: Gates,
  warn: (text: string) => void,
): RequestHeaderConfig | null {
  const lists = {
    usernameHeaders: values.slice('requestheader-username-headers'),
    groupHeaders: values.slice('requestheader-group-headers'),
    extraHeaderPrefixes: values.slice('requestheader-extra-headers-prefix'),
    allowedNames: values.slice('requestheader-allowed-names'),
    uidHeaders: values.slice('requestheader-uid-headers'),
  }
  refuseBlank(values, 'requestheader-username-headers', lists.usernameHeaders)
  refuseBlank(values, 'requestheader-group-headers', lists.groupHeaders)
  refuseBlank(values, 'requestheader-extra-headers-prefix', lists.extraHeaderPrefixes)
  refuseBlank(values, 'requestheader-allowed-names', lists.allowedNames)
  warnOfMissing(
    'requestheader-username-headers',
    lists.usernameHeaders,
    'X-Remote-User header',
    warn,
  )
  warnOfMissing('requestheader-group-headers', lists.groupHeaders, 'X-Remote-Group header', warn)
  warnOfMissing(
    'requestheader-extra-headers-prefix',
    lists.extraHeaderPrefixes,
    'X-Remote-Extra- header prefix',
    warn,
  )
  checkUidHeaders(values, gates, lists.uidHeaders)
  const caPath = values.string('requestheader-client-ca-file')
  const caPem = caPath === '' ? undefined : readAuthorityFile(values, 'request-header', caPath)
  if (caPem === undefined) return null
  if (lists.allowedNames.length === 0 && gates.release >= OVERLAP_REFUSED_SINCE)
    checkOverlap(values, caPem)
  return { caPem, caPath, ...lists }
}

/** The first release that refuses front proxies whose authority also verifies other clients. */
const OVERLAP_REFUSED_SINCE = 35

/**
 * Refuses a certificate that is in the bundles of both front proxies and clients. Otherwise, any
 * client could act as a front proxy, because all common names are allowed.
 */
function checkOverlap(values: Values, caPem: string): void {
  const path = values.string('client-ca-file')
  // A file that cannot be read or parsed is reported where the flag is read.
  const clientPem = path === '' ? undefined : readAuthorityFile(ignored, 'client-ca-bundle', path)
  if (clientPem === undefined) return
  const known = new Set(parseCertificates(clientPem).map(({ fingerprint256 }) => fingerprint256))
  if (!parseCertificates(caPem).some(({ fingerprint256 }) => known.has(fingerprint256))) return
  values.fault(
    '--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users',
  )
}

const ignored = { fault: (): void => {} }

function refuseBlank(values: Values, flag: FlagName, list: readonly string[]): void {
  if (list.some((value) => value.trim() === '')) values.fault(`empty value in "${flag}"`)
}

const has = (list: readonly string[], header: string): boolean =>
  list.some((one) => one.toLowerCase() === header.toLowerCase())

/**
 * Warns if a list does not contain the standard header. `standard` is a text that consists of the
 * name of this header and its description.
 */
function warnOfMissing(
  flag: string,
  list: readonly string[],
  standard: string,
  warn: (text: string) => void,
): void {
  const [name = ''] = standard.split(' ')
  if (list.length === 0 || has(list, name)) return
  warn(
    `--${flag} is set without specifying the standard ${standard} - API aggregation will not work`,
  )
}

/**
 * Validates the headers for the UID. Unlike for other headers, kube-apiserver reports a missing
 * standard header as an error instead of a warning.
 */
function checkUidHeaders(values: Values, gates: Gates, list: readonly string[]): void {
  if (list.length === 0) return
  if (!gates.isOn('RemoteRequestHeaderUID')) {
    return values.fault(
      '--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled',
    )
  }
  refuseBlank(values, 'requestheader-uid-headers', list)
  warnOfMissing('requestheader-uid-headers', list, 'X-Remote-Uid header', (text) =>
    values.fault(text),
  )
}
