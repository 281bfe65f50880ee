/**
 * Rules for the client configuration of a webhook, which is either a URL or a reference to a
 * Service.
 */
import { type FieldFault, invalidShown, invalidValue, required } from '../../api/field-fault.ts'
import { checkDnsSubdomain } from '../../api/names.ts'
import { type Fields, fieldsOf, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { addAll, TOLD_MAX } from '../../lib/scheduling/long-lists.ts'

const PORT_MAX = 65_535
const form = '; desired format: https://host[/path]'

export function validateClientConfig({ url, service }: Fields, path: string): FieldFault[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')]
  }
  return service === undefined
    ? validateUrl(textOf(url), `${path}.url`)
    : validateService(fieldsOf(service), `${path}.service`)
}

function validateUrl(url: string, path: string): FieldFault[] {
  const unreadable = urlFault(url)
  if (unreadable !== undefined) {
    return [required(path, `url must be a valid URL: parse ${quote(url)}: ${unreadable}${form}`)]
  }
  const [, scheme = '', authority = '', query = '', fragment = ''] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(
      url,
    ) ?? []
  const userEnd = authority.lastIndexOf('@')
  const faults: FieldFault[] = []
  if (scheme.toLowerCase() !== 'https') {
    faults.push(
      invalidValue(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`),
    )
  }
  if (authority.slice(userEnd + 1) === '')
    faults.push(invalidValue(path, '', `host must be specified${form}`))
  if (userEnd >= 0) {
    faults.push(
      invalidValue(
        path,
        authority.slice(0, userEnd),
        'user information is not permitted in the URL',
      ),
    )
  }
  if (fragment !== '')
    faults.push(invalidValue(path, fragment, 'fragments are not permitted in the URL'))
  if (query !== '')
    faults.push(invalidValue(path, query, 'query parameters are not permitted in the URL'))
  return faults
}

/** Returns the reason why Go's net/url cannot parse a URL, or undefined if it can. */
function urlFault(url: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\x00-\x1f\x7f]/.test(url)) return 'net/url: invalid control character in URL'
  if (url.startsWith(':')) return 'missing protocol scheme'
  const escape = /%(?![0-9A-Fa-f]{2})/.exec(url)
  if (escape !== null)
    return `invalid URL escape ${quote(url.slice(escape.index, escape.index + 3))}`
  if (/^(?![A-Za-z][A-Za-z0-9+.-]*:)[^/?#]*:/.test(url))
    return 'first path segment in URL cannot contain colon'
  const port = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#:[]*(:[^/?#]*)/.exec(url)?.[1]
  return port === undefined || /^:[0-9]*$|@/.test(port)
    ? undefined
    : `invalid port ${quote(port)} after host`
}

/**
 * Validates a reference to a Service. As in kube-apiserver, the error for a missing namespace has
 * the path of the name. The error for a missing name has the path of the namespace.
 */
function validateService(
  { name, namespace, path: urlPath, port }: Fields,
  path: string,
): FieldFault[] {
  const faults: FieldFault[] = []
  if (textOf(namespace) === '') faults.push(required(`${path}.name`, 'service name is required'))
  if (textOf(name) === '')
    faults.push(required(`${path}.namespace`, 'service namespace is required'))
  if (typeof port === 'number' && (port < 1 || port > PORT_MAX)) {
    faults.push(
      invalidValue(
        `${path}.port`,
        port,
        `port is not valid: must be between 1 and ${PORT_MAX}, inclusive`,
      ),
    )
  }
  return [...faults, ...validatePath(textOf(urlPath), `${path}.path`)]
}

function validatePath(urlPath: string, path: string): FieldFault[] {
  if (urlPath === '' || urlPath === '/') return []
  const shown = quote(urlPath)
  const refuse = (why: string): FieldFault => invalidShown(path, shown, why)
  const faults = urlPath.startsWith('/') ? [] : [refuse("must start with a '/'")]
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/')
  for (const [at, segment] of segments.entries()) {
    if (faults.length >= TOLD_MAX) break
    if (segment === '') faults.push(refuse(`segment[${at}] may not be empty`))
    else
      addAll(
        faults,
        checkDnsSubdomain(segment).map((why) => refuse(`segment[${at}]: ${why}`)),
      )
  }
  return faults
}
