/** Sets the default pull policy of images. */
import { type Fields, textOf } from '../../../../api/object.ts'

/**
 * Sets the default pull policy of a container. An image with the tag `latest` is always pulled,
 * because it can change.
 */
export function withPullPolicy(given: Fields): Fields {
  if (given['imagePullPolicy'] !== undefined) return given
  return { ...given, imagePullPolicy: isLatest(textOf(given['image'])) ? 'Always' : 'IfNotPresent' }
}

/** Like `withPullPolicy`, but sets the pull policy of an image volume. */
export function withVolumePullPolicy(given: Fields): Fields {
  if (given['pullPolicy'] !== undefined) return given
  return { ...given, pullPolicy: isLatest(textOf(given['reference'])) ? 'Always' : 'IfNotPresent' }
}

/** Maximum length of the name in a valid image reference. */
const NAME_CHARACTERS_MAX = 255
const reference = /^([^@]*?)(?::([\w][\w.-]{0,127}))?(@[A-Za-z][\w+.:-]*)?$/
/** The last 32 characters of a digest. A digest has at least 32 characters. */
const digestEnd = /^[0-9a-fA-F]{32}$/
const pathPart = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
/** Format of an image ID. An image ID is not a valid name. */
const identifier = /^[a-f0-9]{64}$/
const domainPart = /^[A-Za-z0-9.-]+(:[0-9]+)?$/

/** Whether an image has the tag `latest`. Returns false if the reference cannot be parsed. */
function isLatest(image: string): boolean {
  const [, name = '', tag, digest] = reference.exec(image) ?? []
  // The end of the digest is validated separately, because a regular expression for the whole
  // reference would backtrack.
  if (digest !== undefined && !digestEnd.test(digest.slice(2).slice(-32))) return false
  if (name.length > NAME_CHARACTERS_MAX || !isName(name) || identifier.test(image)) return false
  return tag === undefined ? digest === undefined : tag === 'latest'
}

/**
 * Whether a name is valid. It can begin with a domain, as in `domain/path`. A domain contains a
 * dot, a port or an uppercase letter, or is `localhost`.
 */
function isName(name: string): boolean {
  const [first = '', ...rest] = name.split('/')
  const isDomain =
    rest.length > 0 && (/[.:]/.test(first) || first === 'localhost' || /[A-Z]/.test(first))
  const parts = isDomain ? rest : [first, ...rest]
  return (!isDomain || domainPart.test(first)) && parts.every((part) => pathPart.test(part))
}
