/** Reads the order of the pages from docs/README.md, and the home page from README.md. */
import { pageOf, readText, siteLink } from './pages.ts'

export type ContentsItem = { readonly text: string; readonly link: string }
export type ContentsGroup = { readonly text: string; readonly items: readonly ContentsItem[] }

const contentsFile = 'docs/README.md'
const linkPattern = /\[([^\]]+)\]\(([^)\s]+)\)/g

/**
 * Returns a group for each section of docs/README.md, with the pages to which it links. A page
 * belongs to the first section that names it.
 */
export function readContents(): readonly ContentsGroup[] {
  const seen = new Set<string>()
  const [, ...sections] = readText(contentsFile).split(/^## /m)
  return sections.map((section) => {
    const end = section.indexOf('\n')
    const items = linksOf(contentsFile, section.slice(end)).filter(({ link }) => {
      const isNew = link.startsWith('/') && !link.includes('#') && !seen.has(link)
      seen.add(link)
      return isNew
    })
    return { text: section.slice(0, end), items }
  })
}

export type Reader = {
  /** The task of the reader. */
  readonly aim: string
  readonly details: string
  /** Chapters for the reader; the first one has the first task. */
  readonly chapters: readonly ContentsItem[]
}

/** Returns the first paragraph of README.md. */
export function readSummary(): string {
  const [, summary = ''] = readText('README.md').split('\n\n')
  return summary.replaceAll('\n', ' ')
}

/** Returns the rows of the first table of README.md: one for each kind of reader. */
export function readReaders(): readonly Reader[] {
  const [, , ...rows] = readText('README.md')
    .split('\n')
    .filter((line) => line.startsWith('|'))
  return rows.map((row) => {
    const [aim = '', details = '', chapters = ''] = row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim())
    const chapterLinks = linksOf('README.md', chapters)
    if (chapterLinks.length === 0) throw new Error(`README.md: no chapter in the row of: ${aim}`)
    return { aim: capitalized(aim), details, chapters: chapterLinks }
  })
}

const linksOf = (file: string, text: string): readonly ContentsItem[] =>
  [...text.matchAll(linkPattern)].map(([, label = '', link = '']) => ({
    text: capitalized(label.replaceAll('`', '')),
    link: siteLink(file, link),
  }))

/** Capitalizes a label, except names of packages and commands. */
const capitalized = (text: string): string =>
  text.startsWith('keelson') ? text : text.charAt(0).toUpperCase() + text.slice(1)

/** Link to the page with all chapters. */
export const chaptersLink = `/${pageOf(contentsFile) ?? ''}`
