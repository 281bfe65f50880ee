/**
 * Formats the fragments as a section of CHANGELOG.md, and inserts the section above the earlier
 * releases.
 */
import { components, type Fragment, sections } from './fragments.ts'

const COLUMNS_MAX = 100

/** Formats the fragments by section and component, under the heading of a release. */
export function printRelease(heading: string, fragments: readonly Fragment[]): string {
  const blocks = sections.flatMap((section) => {
    const chosen = fragments.filter((one) => one.section === section)
    if (chosen.length === 0) return []
    const lists = components.flatMap((component) => {
      const entries = chosen.filter((one) => one.component === component)
      if (entries.length === 0) return []
      return [`${component}:`, entries.map(({ text }) => wrap(text)).join('\n')]
    })
    return [`### ${section}`, ...lists]
  })
  return `${[`## ${heading}`, ...blocks].join('\n\n')}\n`
}

/** Returns the changelog with a new release above the earlier ones. */
export function addRelease(changelog: string, release: string): string {
  const at = changelog.search(/^## /m)
  return at === -1
    ? `${changelog.trimEnd()}\n\n${release}`
    : `${changelog.slice(0, at)}${release}\n${changelog.slice(at)}`
}

/** Wraps a list entry into lines. */
function wrap(text: string): string {
  const lines: string[] = []
  let line = '-'
  for (const word of text.split(' ')) {
    if (`${line} ${word}`.length > COLUMNS_MAX) {
      lines.push(line)
      line = ' '
    }
    line += ` ${word}`
  }
  return [...lines, line].join('\n')
}
