/** The default pull policy of images. */
import { type Fields, textOf } from '../../../../api/object.ts'

/** An image with the tag `latest` may change, so it is always pulled. */
export function withPullPolicy(given: Fields): Fields {
  if (given['imagePullPolicy'] !== undefined) return given
  return { ...given, imagePullPolicy: isLatest(textOf(given['image'])) ? 'Always' : 'IfNotPresent' }
}

/** The same for an image volume. */
export function withVolumePullPolicy(given: Fields): Fields {
  if (given['pullPolicy'] !== undefined) return given
  return { ...given, pullPolicy: isLatest(textOf(given['reference'])) ? 'Always' : 'IfNotPresent' }
}

/** Longer names are not valid references. */
const NAME_CHARACTERS_MAX = 255
const reference = /^([^@]*?)(?::([\w][\w.-]{0,127}))?(@[A-Za-z][\w+.:-]*)?$/
/** The minimum at the end of a digest. */
const digestEnd = /^[0-9a-fA-F]{32}$/
const pathPart = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
/** An image id, which is not a name. */
const identifier = /^[a-f0-9]{64}$/
const domainPart = /^[A-Za-z0-9.-]+(:[0-9]+)?$/

/** A reference that cannot be parsed does not count as `latest`. */
function isLatest(image: string): boolean {
  const [, name = '', tag, digest] = reference.exec(image) ?? []
  // Checked separately, since the expression would backtrack.
  if (digest !== undefined && !digestEnd.test(digest.slice(2).slice(-32))) return false
  if (name.length > NAME_CHARACTERS_MAX || !isName(name) || identifier.test(image)) return false
  return tag === undefined ? digest === undefined : tag === 'latest'
}

/** `domain/path`: a domain contains a dot, a port or an upper-case letter, or is `localhost`. */
function isName(name: string): boolean {
  const [first = '', ...rest] = name.split('/')
  const isDomain =
    rest.length > 0 && (/[.:]/.test(first) || first === 'localhost' || /[A-Z]/.test(first))
  const parts = isDomain ? rest : [first, ...rest]
  return (!isDomain || domainPart.test(first)) && parts.every((part) => pathPart.test(part))
}
