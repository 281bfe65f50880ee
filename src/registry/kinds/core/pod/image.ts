/** When an image is pulled, where nobody said it. */
import { type Fields, textOf } from '../../../../api/object.ts'

/** An image that may be another one tomorrow is pulled every time. */
export function withPullPolicy(given: Fields): Fields {
  if (given['imagePullPolicy'] !== undefined) return given
  return { ...given, imagePullPolicy: isLatest(textOf(given['image'])) ? 'Always' : 'IfNotPresent' }
}

/** The same of an image that is mounted. */
export function withVolumePullPolicy(given: Fields): Fields {
  if (given['pullPolicy'] !== undefined) return given
  return { ...given, pullPolicy: isLatest(textOf(given['reference'])) ? 'Always' : 'IfNotPresent' }
}

/** Longer names are no references. */
const NAME_CHARACTERS_MAX = 255
const reference = /^([^@]*?)(?::([\w][\w.-]{0,127}))?(@[A-Za-z][\w+.:-]*)?$/
/** The end of a digest, at least. */
const digestEnd = /^[0-9a-fA-F]{32}$/
const pathPart = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
/** An image's id, which is no name. */
const identifier = /^[a-f0-9]{64}$/
const domainPart = /^[A-Za-z0-9.-]+(:[0-9]+)?$/

/** What cannot be understood is not the latest of anything. */
function isLatest(image: string): boolean {
  const [, name = '', tag, digest] = reference.exec(image) ?? []
  // Apart from the pattern, which would look for the end again and again.
  if (digest !== undefined && !digestEnd.test(digest.slice(2).slice(-32))) return false
  if (name.length > NAME_CHARACTERS_MAX || !isName(name) || identifier.test(image)) return false
  return tag === undefined ? digest === undefined : tag === 'latest'
}

/** `domain/path`: the domain is known by a dot, a port or its name. */
function isName(name: string): boolean {
  const [first = '', ...rest] = name.split('/')
  const isDomain = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost' || /[A-Z]/.test(first))
  const parts = isDomain ? rest : [first, ...rest]
  return (!isDomain || domainPart.test(first)) && parts.every((part) => pathPart.test(part))
}
