/**
 * The page /flagz (feature gate ComponentFlagz), which lists every flag with its value. Flags do
 * not contain secrets, because secrets are read from files.
 */
import { plainPage, type PageRequest, type TextPage } from './plain-page.ts'

export const flagsPath = '/flagz'

/** The first release in which the title is the name of the page, and the flags follow it. */
const NAMED_SINCE = 35

export function flagsPage(
  request: PageRequest,
  flags: ReadonlyMap<string, string>,
  release: number,
): TextPage {
  const isNamed = release >= NAMED_SINCE
  const sorted = [...flags].toSorted(([one], [other]) => (one < other ? -1 : 1))
  const text = sorted.map(([name, value]) => `${name}=${value}`).join('\n')
  return plainPage(request, {
    component: 'kube-apiserver',
    title: isNamed ? 'flagz' : 'flags',
    text: isNamed ? text : `\n${text}`,
    kind: 'Flagz',
    fields: { flags: Object.fromEntries(sorted) },
    release,
  })
}
